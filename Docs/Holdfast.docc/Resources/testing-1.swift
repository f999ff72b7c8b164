import Holdfast
import HoldfastTesting

func makeApp() throws -> (vault: TestVault, app: HoldfastApp) {
    let vault = try TestVault()
    return (vault, try vault.app(isLockEnabled: true))
}
