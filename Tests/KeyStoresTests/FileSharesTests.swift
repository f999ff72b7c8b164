import Foundation
import KeyStores
import TestSupport
import Testing
import VaultFormat

/// Shares in files, and the ones in memory, which promise the same.
@Suite struct FileSharesTests {
    let scratch: ScratchFolder
    let folder: String
    let vault: VaultID

    init() throws {
        scratch = try ScratchFolder("file-shares")
        folder = scratch.path + "/shares"
        vault = try vaultID(1)
    }

    private var store: FileShares { FileShares(in: folder) }

    private func path(_ item: ShareItem) -> String { "\(folder)/\(Hexadecimal.encode(item.name.bytes)).share" }

    @Test func `a share in a file and one in memory keep every promise of a store`() throws {
        try store.checkContract()
        #expect(!FileManager.default.fileExists(atPath: folder), "the folder goes with its last share")
        try MemoryShares().checkContract()
        try MemoryShares(standingFor: .keychain).checkContract()
    }

    @Test func `only its user may open the file`() throws {
        let item = try store.made(as: .fresh(for: HardwareOwner(vault: vault, home: shareBytes)))
        let mode = try FileManager.default.attributesOfItem(atPath: path(item))[.posixPermissions] as? Int
        #expect(mode == 0o600)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path(item))
        guard case .failure(.failed(let error)) = store.reading(item, of: vault) else {
            Issue.record("a share that others may read was read")
            return
        }
        #expect(error.code == .damaged)
        #expect(store.revoking(item, of: vault) == .revoked(.gone))
    }

    @Test(arguments: 0..<32)
    func `half a file is a making that did not end`(_ size: Int) throws {
        let item = try store.made(as: .fresh(for: HardwareOwner(vault: vault, home: shareBytes)))
        #expect(unsafe truncate(path(item), size) == 0)
        #expect(store.reading(item, of: vault) == .failure(.lost(.unfinished)))
        #expect(store.revoking(item, of: vault) == .revoked(.gone))
        #expect(!FileManager.default.fileExists(atPath: folder))
    }

    @Test func `a file that was put back has what was revoked`() throws {
        let item = try store.made(as: .fresh(for: HardwareOwner(vault: vault, home: shareBytes)))
        let copy = scratch.path + "/copy"
        try FileManager.default.copyItem(atPath: folder, toPath: copy)
        #expect(store.revoking(item, of: vault) == .revoked(.gone))
        try FileManager.default.moveItem(atPath: copy, toPath: folder)
        #expect(store.reading(item, of: vault) == .share(shareBytes), "this is what a file is worth")
    }

    @Test func `an overwritten file is a share that was removed`() throws {
        let item = try store.made(as: .fresh(for: HardwareOwner(vault: vault, home: shareBytes)))
        try Data(count: 32).write(to: URL(fileURLWithPath: path(item)))
        #expect(unsafe chmod(path(item), 0o600) == 0)
        #expect(store.reading(item, of: vault) == .failure(.lost(.emptied)))
        try Data(count: 33).write(to: URL(fileURLWithPath: path(item)))
        #expect(unsafe chmod(path(item), 0o600) == 0)
        #expect(store.reading(item, of: vault) == .failure(.lost(.replaced)))
    }

    /// What somebody puts in the place of a share is neither read, nor written, nor waited for.
    @Test(arguments: ["link", "hard link", "pipe", "folder link"])
    func `what is planted in a share's place harms nobody else`(_ plant: String) throws {
        let outside = scratch.path + "/outside"
        try FileManager.default.createDirectory(atPath: outside, withIntermediateDirectories: false)
        let item = try store.made(as: .fresh(for: HardwareOwner(vault: vault, home: shareBytes)))
        let (mine, theirs) = (path(item), outside + "/" + URL(fileURLWithPath: path(item)).lastPathComponent)
        switch plant {
        case "hard link": try FileManager.default.linkItem(atPath: mine, toPath: theirs)
        case "folder link":
            try FileManager.default.moveItem(atPath: mine, toPath: theirs)
            try FileManager.default.removeItem(atPath: folder)
            try FileManager.default.createSymbolicLink(atPath: folder, withDestinationPath: outside)
        default:
            try FileManager.default.moveItem(atPath: mine, toPath: theirs)
            if plant == "link" {
                try FileManager.default.createSymbolicLink(atPath: mine, withDestinationPath: theirs)
            } else {
                #expect(unsafe mkfifo(mine, 0o600) == 0)
            }
        }
        let read = store.reading(item, of: vault)
        let revoked = store.revoking(item, of: vault)
        switch plant {
        case "hard link", "folder link":
            guard case .failure(.failed) = read else {
                Issue.record("\(plant): \(read)")
                return
            }
        default: #expect(read == .failure(.lost(.replaced)))
        }
        if plant == "folder link" {
            guard case .failure(.failed) = revoked else {
                Issue.record("\(plant): \(revoked)")
                return
            }
        } else {
            #expect(revoked == .revoked(.gone))
        }
        #expect(FileManager.default.contents(atPath: theirs) == Data(shareBytes))
    }

    @Test(.enabled(if: geteuid() != 0, "root may write everywhere: a folder that refuses is not tested"))
    func `a folder that refuses the removal leaves an emptied share`() throws {
        let item = try store.made(as: .fresh(for: HardwareOwner(vault: vault, home: shareBytes)))
        #expect(unsafe chmod(folder, 0o500) == 0)
        defer { unsafe chmod(folder, 0o700) }
        #expect(store.revoking(item, of: vault) == .revoked(.emptied))
        #expect(store.reading(item, of: vault) == .failure(.lost(.emptied)))
    }

    @Test func `a share of another size is refused`() throws {
        for store: any ShareStore in [store, MemoryShares()] {
            let outcome = ShareOutcome { () throws(ShareFailure) in
                guard let short = try? secret([1, 2, 3]) else { return .done }
                _ = try store.make(
                    short, as: .fresh(for: HardwareOwner(vault: vault, home: shareBytes)),
                    under: .nobodyAsked(.whileUnlocked)
                ) { _ in }
                return .done
            }
            guard case .failure(.failed) = outcome else {
                Issue.record("\(outcome)")
                continue
            }
        }
    }
}
