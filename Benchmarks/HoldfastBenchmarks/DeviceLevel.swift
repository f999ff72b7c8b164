import Cryptography
import Foundation
import KeyStores
import RealParts
import SecretMemory
import VaultCore
import VaultFormat
import VaultHeader

/// Creating a vault, by making its files and flushing each; opening one at the level `device`, by the reading of its
/// share alone.
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
        let model = bench.scratch.file("model")
        _ = try Vault.create(at: model, passcode: passcode, settings: .costsForTests())
        let files = try FileManager.default.subpathsOfDirectory(atPath: model).compactMap { name in
            let found = try FileManager.default.attributesOfItem(atPath: "\(model)/\(name)")
            return found[.type] as? FileAttributeType == .typeRegular
                ? [UInt8](repeating: 7, count: (found[.size] as? Int) ?? 0) : nil
        }
        let rounds = try Rounds(
            bench.options.count(51, quick: 11),
            [
                { _ in try made { try makeFiles(files, in: $0) } },
                { _ in try made { _ = try Vault.create(at: $0, passcode: passcode, settings: .costsForTests()) } },
                { _ in try made { try Vault.createAtDevice(at: $0, settings: withShares) } },
            ])
        let raw = number(rounds.median(0) / 1e6)
        return [("create", 1, "with a cheap key derivation"), ("create-device", 2, "its share in a file")].map {
            name, index, how in
            Figure(
                name: name, value: rounds.ratio(index, to: 0), unit: "x",
                absolute: .init(rounds.median(index) / 1e6, "ms"), bound: .atMost(6),
                detail: "\(how); files of the same sizes, each flushed and its name, take \(raw) ms")
        }
    }

    private static func makeFiles(_ files: [[UInt8]], in home: String) throws {
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: false)
        let folder = try RawFile(folder: home)
        for (index, bytes) in files.enumerated() {
            let file = try RawFile("\(home)/\(index)")
            try file.write(bytes)
            try file.flush()
            try folder.flush()
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
