import Holdfast
import HoldfastTesting

func makeApp() throws -> (vault: TestVault, app: HoldfastApp) {
    let vault = try TestVault()
    return (vault, try vault.app(isLockEnabled: true))
}

func locksInTheBackground() async throws -> Bool {
    let (vault, app) = try makeApp()
    try await app.lock.unlock(.passcode, vault.passcode)
    await app.lock.handle(.didEnterBackground)
    vault.clock.advance(by: .seconds(3600))
    return !app.vault.isUnlocked
}
