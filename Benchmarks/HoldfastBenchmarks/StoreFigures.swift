import CRawLoops
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
            let chip = try TPMProxy(SoftwareTPM())
            let store = TPMShares(at: TPMLocation(chip.location))
            let reading = try read(from: store, bench, before: { chip.arm(at: nil) {} })
            let working = chip.working / .milliseconds(1) / Double(reading.times[0].count)
            figures.append(
                Figure(
                    name: "share-tpm", value: reading.median(0) / 1e6 / working, unit: "x",
                    absolute: .init(reading.median(0) / 1e6, "ms"), bound: .atMost(12),
                    detail: "\(what); swtpm itself works \(number(working)) ms"))
        } else {
            bench.skip("share-tpm", "swtpm is not installed")
        }
        if SessionKeyring.isInstalled {
            let keyring = try SessionKeyring()
            // No keyring was asked before: a process keeps the bus that it connected to first.
            unsafe setenv("DBUS_SESSION_BUS_ADDRESS", keyring.bus.address, 1)
            let reading = try read(from: SecretServiceShares(), bench)
            figures.append(
                Figure(
                    name: "share-keyring", absolute: .init(reading.median(0) / 1e6, "ms"),
                    detail: "\(what), from gnome-keyring"))
        } else {
            bench.skip("share-keyring", "gnome-keyring or dbus-daemon is not installed")
        }
        let files = FileShares(in: bench.scratch.file("shares"))
        let bare = bench.scratch.file("bare")
        try RawFile(bare).write([UInt8](repeating: 7, count: 32))
        var sum: UInt64 = 0
        let reading = try read(from: files, bench, beside: { time { _ = unsafe raw_read_through(bare, &sum) } })
        keep(sum)
        figures.append(
            Figure(
                name: "share-file", value: reading.ratio(0, to: 1), unit: "x",
                absolute: .init(reading.median(0) / 1000, "us"), bound: .atMost(6),
                detail:
                    "\(what), from a file; opening, reading and closing one takes \(number(reading.median(1) / 1000)) us"
            ))
        return figures
    }

    private static let what = "the share of a vault that asks nobody, read"

    /// - Parameter beside: What the reading is compared with.
    private static func read(
        from store: some ShareStore, _ bench: Bench, before: () -> Void = {},
        beside: @escaping () throws -> Double = { 1 }
    ) throws -> Rounds {
        guard let vault = VaultID(bytes: try SecureRandom.bytes(16)) else { throw BenchmarkError("no vault's id") }
        let share = try SecureRandom.secret(32)
        let owner = HardwareOwner(vault: vault, home: try SecureRandom.bytes(32))
        let item = try store.make(share, as: .fresh(for: owner), under: .nobodyAsked(.whileUnlocked)) { _ in }
        before()
        let rounds = try Rounds(
            bench.options.count(101, quick: 21),
            [
                { _ in
                    try time {
                        guard try store.read(item, of: vault).isEqual(to: share) else {
                            throw BenchmarkError("another share came back")
                        }
                    }
                },
                { _ in try beside() },
            ])
        guard try store.revoke(item, of: vault) == .gone else { throw BenchmarkError("the share was not revoked") }
        return rounds
    }
}
