import Cryptography
import Foundation
import KeyStores
import RealParts
import SecretMemory
import VaultFormat

/// Reading a share that can be revoked: what the key store takes of an unlock at the level `device`, and nothing else.
struct StoreFigures: Suite {
    static let figures = ["share-tpm", "share-keyring", "share-file"]

    static func measure(_ bench: Bench) throws -> [Figure] {
        var figures: [Figure] = []
        if SoftwareTPM.isInstalled {
            let chip = try SoftwareTPM()
            let store = TPMShares(at: TPMLocation(chip.location))
            figures.append(try read("share-tpm", from: store, bench, atMost: 20, "swtpm"))
        } else {
            bench.skip("share-tpm", "swtpm is not installed")
        }
        if SessionKeyring.isInstalled {
            let keyring = try SessionKeyring()
            // No keyring was asked before: a process keeps the bus that it connected to first.
            unsafe setenv("DBUS_SESSION_BUS_ADDRESS", keyring.bus.address, 1)
            figures.append(try read("share-keyring", from: SecretServiceShares(), bench, atMost: 40, "gnome-keyring"))
        } else {
            bench.skip("share-keyring", "gnome-keyring or dbus-daemon is not installed")
        }
        let files = FileShares(in: bench.scratch.file("shares"))
        figures.append(try read("share-file", from: files, bench, atMost: 1, "a file"))
        return figures
    }

    private static func read(
        _ name: String, from store: some ShareStore, _ bench: Bench, atMost limit: Double, _ what: String
    ) throws -> Figure {
        guard let vault = VaultID(bytes: try SecureRandom.bytes(16)) else { throw BenchmarkError("no vault's id") }
        let share = try SecureRandom.secret(32)
        let item = try store.make(share, as: .fresh(for: vault), under: .nobodyAsked(.whileUnlocked)) { _ in }
        let rounds = try Rounds(
            bench.options.count(101, quick: 21),
            [
                { _ in
                    try time {
                        guard try store.read(item, of: vault).isEqual(to: share) else {
                            throw BenchmarkError("another share came back")
                        }
                    }
                }
            ])
        guard try store.revoke(item, of: vault) == .gone else { throw BenchmarkError("the share was not revoked") }
        return Figure(
            name: name, value: rounds.median(0) / 1e6, unit: "ms", bound: .atMost(limit),
            detail: "\(what); the share of a vault that asks nobody, read")
    }
}
