import Cryptography
import Foundation
import KeyStores
import RealParts
import SecretMemory
import VaultCore
import VaultFormat
import VaultHeader

/// Creating a vault, by one flush, and opening one at the level `device`, by the reading of its share alone.
struct DeviceLevel: Suite {
    static let figures = ["create", "create-device", "open-device"]

    static func measure(_ bench: Bench) throws -> [Figure] {
        var figures: [Figure] = []
        if ["create", "create-device"].contains(where: bench.options.wants) { figures += try creations(bench) }
        guard bench.options.wants("open-device") else { return figures }
        guard SoftwareTPM.isInstalled else {
            bench.skip("open-device", "swtpm is not installed")
            return figures
        }
        return figures + [try opening(bench)]
    }

    private static func creations(_ bench: Bench) throws -> [Figure] {
        let flushed = try RawFile(bench.scratch.file("flushed"))
        let passcode = try BenchmarkVault.passcode()
        var settings = VaultSettings.costsForTests()
        let shares = FileShares(in: bench.scratch.file("shares"))
        settings.shareStores = { _ in ShareStores([shares], floors: []) }
        let withShares = settings
        func made(_ body: (String) throws -> Void) throws -> Double {
            let home = bench.scratch.file("created")
            let taken = try time { try body(home) }
            try FileManager.default.removeItem(atPath: home)
            return taken
        }
        let rounds = try Rounds(
            bench.options.count(51, quick: 11),
            [
                { _ in
                    try time {
                        try flushed.write([UInt8](repeating: 7, count: 4096))
                        try flushed.flush()
                    }
                },
                { _ in try made { _ = try Vault.create(at: $0, passcode: passcode, settings: .costsForTests()) } },
                { _ in try made { try Vault.createAtDevice(at: $0, settings: withShares) } },
            ])
        let flush = number(rounds.median(0) / 1e6)
        return [("create", 1, "with a cheap key derivation"), ("create-device", 2, "its share in a file")].map {
            name, index, how in
            Figure(
                name: name, value: rounds.ratio(index, to: 0), unit: "x",
                absolute: .init(rounds.median(index) / 1e6, "ms"), bound: .atMost(35),
                detail: "a vault of its own folder and files, \(how); one flush takes \(flush) ms")
        }
    }

    private static func opening(_ bench: Bench) throws -> Figure {
        let chip = try SoftwareTPM()
        let store = TPMShares(at: TPMLocation(chip.location))
        var settings = VaultSettings.costsForTests()
        settings.shareStores = { _ in ShareStores([store], floors: []) }
        let opened = settings
        let home = bench.scratch.file("device")
        try Vault.createAtDevice(at: home, settings: opened)
        guard let vault = VaultID(bytes: try SecureRandom.bytes(16)) else { throw BenchmarkError("no vault's id") }
        let owner = HardwareOwner(vault: vault, home: try SecureRandom.bytes(32))
        let item = try store.make(
            SecureRandom.secret(32), as: .fresh(for: owner), under: .nobodyAsked(.whileUnlocked)
        ) { _ in }
        let rounds = try Rounds(
            bench.options.count(51, quick: 11),
            [
                { _ in try time { _ = try store.read(item, of: vault) } },
                { _ in try time { try Vault(at: home, settings: opened).openByDevice() } },
            ])
        return Figure(
            name: "open-device", value: rounds.ratio(1, to: 0), unit: "x",
            absolute: .init(rounds.median(1) / 1e6, "ms"), bound: .atMost(1.8),
            detail: "a vault that asks nobody, opened; reading a share from the software chip "
                + "takes \(number(rounds.median(0) / 1e6)) ms")
    }
}
