import Foundation
import TestSupport
import Testing
@testable import VaultCore
import VaultFormat
@testable import VaultStorage
@testable import VaultWipe
import SystemCalls

/// What somebody may put in the place of a file or folder of a home.
enum Plant: String, CaseIterable, CustomTestStringConvertible {
    case link
    /// The home's own file has another name outside.
    case secondName = "a second name"
    /// A file of somebody's, under the home's name too.
    case foreignFile = "a foreign file's second name"
    case pipe, socket, device
    case folder
    case fullFolder = "a folder with something in it"

    var testDescription: String { rawValue }

    var number: Int { Plant.allCases.firstIndex(of: self) ?? 0 }

    /// Whether this test's user may make one.
    var isPossible: Bool { self != .device || Planting.isRoot }

    /// - Returns: False where there is nothing that could have a second name.
    func put(_ name: String, in home: String, outside: String) throws -> Bool {
        let path = "\(home)/\(name)"
        let files = FileManager.default
        if self == .secondName {
            guard Plant.isFile(path) else { return false }
            try files.linkItem(atPath: path, toPath: outside + "/second")
            return true
        }
        if !Planting.unlinks(path) { try? files.removeItem(atPath: path) }
        switch self {
        case .link: try files.createSymbolicLink(atPath: path, withDestinationPath: outside + "/file")
        case .foreignFile: try files.linkItem(atPath: outside + "/file", toPath: path)
        case .pipe: try #require(Planting.makesPipe(path))
        case .socket: try #require(Planting.bindsSocket(path))
        case .device: try #require(Planting.makesDevice(path))
        case .folder, .fullFolder:
            try files.createDirectory(atPath: path, withIntermediateDirectories: false)
            if self == .fullFolder { try Data("theirs".utf8).write(to: URL(fileURLWithPath: path + "/inner")) }
        case .secondName: break
        }
        return true
    }

    static func isFile(_ path: String) -> Bool {
        let type = try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
        return type == .typeRegular
    }
}

/// Anything in the place of anything, for everything that is done with a home: nothing outside is touched, nothing
/// waits for ever, what is refused is refused with an error of ours, and a wipe ends.
@Suite(.patient, .seeded) struct PlantedTests {
    enum Deed: String, CaseIterable {
        case status, unlock, backup, wipe
        case resumedWipe = "the end of a wipe"
    }

    static let files = [
        "header", "ledger", "vault.mdb", "vault.mdb-lock", "open.mdb", "open.mdb-lock", "open.key", "open.pub", "log",
        "log.old", "log.new", "log.state", "receipt.key", "wipe.journal", "wipe-receipt", "identity-mark",
        ".identity-lock", "hardware.pending", "hardware.pending.part", "backup.manifest", "open.mdb.damaged",
        "open.key.damaged", ".header.part", ".open.mdb.part", ".open.pub.part", ".receipt.key.part", ".wipe.key.part",
        ".wipe.journal.part", ".wipe-receipt.part", "files/0123456789abcdef0123456789abcdef",
        "shares/owner.share", "wipe.key", "hardware.pending.refused",
    ]

    /// A home with one of every file, and the places around it.
    private final class Scene {
        let home: TestHome
        let phrase: RecoveryPhraseBox
        let outside = NSTemporaryDirectory() + "holdfast-outside-\(UUID().uuidString.prefix(8))"
        let template: String

        init() throws {
            home = try TestHome()
            template = home.path + "-template"
            phrase = try home.create()
            let vault = try home.open()
            try vault.unlock("right")
            for number in 0..<10 { try vault.put(pattern(300, seed: UInt8(number)), "record \(number)") }
            try vault.stream(pattern(Vault.largestInlineValue + 5_000), "file")
            try vault.setSelfDestruct(true)
            vault.lock()
            try vault.open.put([1], "note")
            vault.open.close()
            let files = FileManager.default
            try files.createDirectory(atPath: home.file("shares"), withIntermediateDirectories: false)
            try files.createDirectory(atPath: home.file("agent"), withIntermediateDirectories: false)
            for (name, size) in [
                ("shares/owner.share", 32), ("identity-mark", 32), (".identity-lock", 0), ("log.old", 4096),
                ("files/0123456789abcdef0123456789abcdef", 100),
            ] {
                try Data(pattern(size)).write(to: URL(fileURLWithPath: home.file(name)))
            }
            try files.moveItem(atPath: home.path, toPath: template)
        }

        func reset() throws {
            let files = FileManager.default
            for path in [home.path, outside, home.path + "-backup"] { try? files.removeItem(atPath: path) }
            try files.copyItem(atPath: template, toPath: home.path)
            try files.createDirectory(atPath: outside + "/folder", withIntermediateDirectories: true)
            for name in ["file", "folder/owner.share"] {
                try Data(Scene.precious).write(to: URL(fileURLWithPath: "\(outside)/\(name)"))
            }
        }

        deinit {
            for path in [template, outside, home.path + "-backup"] { try? FileManager.default.removeItem(atPath: path) }
        }

        static let precious = pattern(32, seed: 99)

        /// - Returns: The code of what was refused.
        func perform(_ deed: Deed) throws -> VaultError.Code? {
            do {
                switch deed {
                case .status: _ = try home.open().status()
                case .unlock:
                    let vault = try home.open()
                    defer { vault.lock() }
                    try vault.unlock("right")
                    _ = try vault.verify()
                case .backup: _ = try home.open().backup(to: home.path + "-backup")
                case .wipe:
                    let report = try home.open().wipe(phrase: phrase.phrase) { _ in }
                    guard report.isFinished else { throw VaultError(.inputOutput, report.summary) }
                case .resumedWipe: _ = try home.open()
                }
                return nil
            } catch let error as VaultError {
                if error.code == .inputOutput { Issue.record("\(deed.rawValue): \(error.reason)") }
                return error.code
            }
        }
    }

    private func attack(_ name: String, _ plant: Plant, _ deed: Deed, _ scene: Scene) throws {
        try scene.reset()
        let (home, outside) = (scene.home, scene.outside)
        if deed == .resumedWipe { try home.open().eraseKeysOnly() }
        let own = FileManager.default.contents(atPath: home.file(name))
        guard try plant.put(name, in: home.path, outside: outside) else { return }
        let code = try scene.perform(deed)
        let context: Comment = "\(plant.rawValue) in the place of \(name): \(deed.rawValue): \(code as Any)"
        func content(_ name: String) -> [UInt8]? {
            FileManager.default.contents(atPath: "\(outside)/\(name)").map { Array($0) }
        }
        #expect(content("file") == Scene.precious && content("folder/owner.share") == Scene.precious, context)
        if plant == .secondName { #expect(content("second") == own.map { Array($0) }, context) }
        let hasVault = name != "header" || plant == .secondName
        switch deed {
        case .status, .unlock, .backup:
            let refusals: [VaultError.Code?] = [nil, .damaged, .hardLinked]
            #expect(refusals.contains(code), context)
            if plant == .secondName, name == "header" || (deed != .status && name == "vault.mdb") {
                #expect(code == .hardLinked, context)
            }
            if plant == .secondName, deed == .unlock, name == "ledger" { #expect(code == .hardLinked, context) }
        case .wipe where name == "header", .resumedWipe where !hasVault:
            let isLinked = plant == .secondName || plant == .foreignFile
            #expect(code == (isLinked ? .hardLinked : .damaged), context)
        case .resumedWipe where name == "wipe.key" && plant != .secondName:
            // Its keys are gone; that it was this home that began it cannot be seen any more (constructions.md 9.3).
            #expect(code == .damaged, context)
            #expect(FileManager.default.fileExists(atPath: home.file("vault.mdb")), context)
        case .wipe, .resumedWipe:
            #expect(code == (deed == .wipe ? nil : .wiped), context)
            let left = try home.names()
            // Somebody's folder stays, under its name or another one.
            let isFolder = plant == .folder || plant == .fullFolder
            let top = String(name.prefix { $0 != "/" })
            #expect(left.contains("wipe-receipt") && left.count <= (isFolder ? 2 : 1), "\(left); \(context)")
            if !isFolder || left.count == 1 { #expect(left == ["wipe-receipt"], context) }
            let receipt = try home.receipt()
            let target = name == "header" ? "keys" : HomeTarget.all.first { $0.names.contains(top) }?.id.description
            let item = receipt.items.first { $0.target.description == target }
            if plant == .secondName, PlantedTests.overwritten.contains(top) {
                #expect(item?.result == .removed, context)
            }
        }
    }

    private static let overwritten = ["header", "ledger", "open.key", "log.state", "identity-mark", "shares"]

    @Test(arguments: Plant.allCases)
    func nothingInThePlaceOfAFileIsFollowedWrittenOrWaitedFor(plant: Plant) throws {
        guard plant.isPossible else { return }
        let scene = try Scene()
        let looks: [Deed] = [.status, .unlock, .backup]
        var generator = TestRun.generator("plants \(plant.rawValue)")
        let files = Array(PlantedTests.files.enumerated())
        for (number, name) in TestRun.sample(files, files.count, using: &generator) {
            // Of looking one each, in turn, where nobody has the time: each of them flushes the disk many times.
            let deeds = TestRun.isSoak ? looks : [looks[(number + plant.number) % looks.count]]
            for deed in deeds + [.wipe, .resumedWipe] { try attack(name, plant, deed, scene) }
        }
    }

    @Test(arguments: ["files", "shares", "agent"])
    func aLinkInThePlaceOfAFolderIsNotFollowed(name: String) throws {
        let scene = try Scene()
        for deed in Deed.allCases {
            try scene.reset()
            if deed == .resumedWipe { try scene.home.open().eraseKeysOnly() }
            try FileManager.default.removeItem(atPath: scene.home.file(name))
            try FileManager.default.createSymbolicLink(
                atPath: scene.home.file(name), withDestinationPath: scene.outside + "/folder")
            let code = try scene.perform(deed)
            #expect(
                FileManager.default.contents(atPath: scene.outside + "/folder/owner.share") == Data(Scene.precious),
                "\(name), \(deed)")
            switch deed {
            case .wipe, .resumedWipe:
                #expect(code == (deed == .wipe ? nil : .wiped), "\(name)")
                #expect(try scene.home.names() == ["wipe-receipt"])
            case .status, .unlock, .backup: #expect([nil, .damaged].contains(code), "\(name), \(deed): \(code as Any)")
            }
        }
    }

    /// A backup program may give equal files of many backups one place on the disk.
    @Test func aBackupWhoseFilesHaveSecondNamesIsRestored() throws {
        let scene = try Scene()
        try scene.reset()
        let backup = scene.home.path + "-backup"
        _ = try scene.home.open().backup(to: backup)
        for (number, name) in try FileManager.default.subpathsOfDirectory(atPath: backup).enumerated() {
            guard Plant.isFile("\(backup)/\(name)") else { continue }
            try FileManager.default.linkItem(atPath: "\(backup)/\(name)", toPath: "\(scene.outside)/\(number)")
        }
        #expect(errorCode { _ = try Vault(at: backup, settings: scene.home.settings) } == .hardLinked)
        try FileManager.default.removeItem(atPath: scene.home.path)
        _ = try Vault.restore(from: backup, to: scene.home.path)
        let vault = try scene.home.open()
        try vault.unlock("right")
        #expect(try vault.get("record 3") == pattern(300, seed: 3))
        #expect(try vault.verify().isIntact)
    }
}
