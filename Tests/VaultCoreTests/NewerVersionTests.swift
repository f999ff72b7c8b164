import Foundation
import TestSupport
import Testing
import VaultFormat
import VaultHeader
import VaultStorage

@testable import VaultCore

/// A vault, or a backup, of a later version: it is named, and not one byte of it changes.
@Suite struct NewerVersionTests {
    /// What a home has, without LMDB's tables of readers.
    private func contents(_ path: String) throws -> [String: Data?] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: path).filter { !$0.hasSuffix(".mdb-lock") }
        return Dictionary(
            uniqueKeysWithValues: names.map { ($0, FileManager.default.contents(atPath: path + "/" + $0)) })
    }

    private func copy(_ header: [UInt8], version: UInt32) -> [UInt8] {
        var copy = Array(header[..<(Header.copySize - 32)])
        for index in 0..<4 { copy[8 + index] = UInt8(truncatingIfNeeded: version >> (8 * UInt32(index))) }
        return copy + copy.withRawSpan { HeaderFile.checksum($0) }
    }

    private func rise(_ home: TestHome) throws {
        let copy = try copy(home.bytes("header"), version: 2)
        try home.write(copy + copy, to: "header")
    }

    @Test func `one copy of a later version is enough, and nothing is mended from the other`() throws {
        let home = try TestHome()
        _ = try home.create()
        let header = try home.bytes("header")
        let old = Array(header[..<Header.copySize])
        for version: UInt32 in [2, 0xFFFF_FFFF] {
            let new = copy(header, version: version)
            for both in [old + new, new + old, new + new, new, [UInt8](repeating: 0, count: Header.copySize) + new] {
                try home.write(both, to: "header")
                let before = try contents(home.path)
                let error = thrown(VaultError.self) { _ = try home.open() }
                #expect(error?.code == .newerVersion && error?.reason.contains("version \(version))") == true)
                #expect(try contents(home.path) == before)
                if Decryptor.python != nil, both.count == Header.fileSize {
                    let read = try Decryptor.describe(home.path)
                    #expect(read.status == 1 && read.errors.contains("the vault has format version \(version)"))
                }
            }
            // A write of the first copy that was cut short has changed nothing.
            try home.write(new.flipped(at: 4000) + old, to: "header")
            try home.open().unlock("right")
            #expect(try home.bytes("header") == header)
        }
        let none = copy(header, version: 0)
        try home.write(none + none, to: "header")
        #expect(errorCode { _ = try home.open() } == .damaged)
    }

    @Test func `who has the vault open writes nothing when it rises, and at the end not even that`() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.put([1], "name")
        try rise(home)
        let before = try contents(home.path)
        #expect(errorCode { _ = try vault.followHeader() } == .newerVersion)
        #expect(errorCode { _ = try vault.status() } == .newerVersion)
        #expect(errorCode { try vault.changePasscode("right", "new") } == .newerVersion)
        let one = try secret("1")
        #expect(errorCode { try vault.open.put(one, for: "open") } == .newerVersion)
        vault.lock()
        #expect(try contents(home.path) == before)
    }

    @Test func `a wipe that a later version began is left to it`() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        let header = try home.bytes("header")
        let key = try WipeKeyFile.loadOrMake(in: vault.home, vault: vault.id)
        let mark = copy(try key.mark(.owner).encoded(checksum: HeaderFile.checksum), version: 2)
        vault.lock()
        for both in [mark + header[Header.copySize...], header[..<Header.copySize] + mark, mark + mark] {
            try home.write(Array(both), to: "header")
            let before = try contents(home.path)
            #expect(errorCode { _ = try home.open() } == .newerVersion)
            #expect(try contents(home.path) == before)
        }
    }

    @Test func `a mark of a creation stays`() throws {
        let home = try TestHome()
        _ = try home.create()
        try rise(home)
        #expect(FileManager.default.createFile(atPath: home.file(HeaderFile.creationMark), contents: Data()))
        let before = try contents(home.path)
        #expect(errorCode { _ = try home.open() } == .newerVersion)
        #expect(try contents(home.path) == before)
    }

    @Test func `no backup and no home is written inside of it`() throws {
        let (newer, home, backup) = (try TestHome(), try TestHome(), try TestHome())
        _ = try newer.create()
        let vault = try home.unlocked()
        _ = try vault.backup(to: backup.path)
        try rise(newer)
        let before = try contents(newer.path)
        #expect(errorCode { _ = try vault.backup(to: newer.file("inside")) } == .exists)
        #expect(errorCode { _ = try Vault.restore(from: backup.path, to: newer.file("inside")) } == .exists)
        #expect(try contents(newer.path) == before)
    }

    /// Its header, with a manifest that says so, is all that has to be of a later version.
    private func rise(backup: TestHome) throws {
        let manifest = try BackupManifest(parsing: backup.bytes(BackupManifest.fileName), checksum: HeaderFile.checksum)
        try rise(backup)
        let digest = try backup.bytes("header").withRawSpan { HeaderFile.checksum($0) }
        let entries = manifest.entries.map { entry in
            entry.path == "header" ? .init(path: entry.path, size: entry.size, digest: digest) : entry
        }
        let changed = BackupManifest(vault: manifest.vault, entries: entries)
        try backup.write(changed.encoded(checksum: HeaderFile.checksum), to: BackupManifest.fileName)
    }

    @Test func `a backup of a later version is neither replaced nor restored`() throws {
        let (home, backup, restored) = (try TestHome(), try TestHome(), try TestHome())
        let vault = try home.unlocked()
        _ = try vault.backup(to: backup.path)
        try rise(backup: backup)
        for firstLine in ["holdfast backup 1", "holdfast backup 2"] {
            let text = String(decoding: try backup.bytes(BackupManifest.fileName), as: UTF8.self)
            let lines =
                [Substring(firstLine)] + text.split(separator: "\n", omittingEmptySubsequences: false).dropFirst()
            try backup.write(Array(lines.joined(separator: "\n").utf8), to: BackupManifest.fileName)
            let before = try contents(backup.path)
            let update = thrown(VaultError.self) { _ = try vault.backup(to: backup.path, updating: true) }
            #expect(update?.code == .newerVersion && update?.reason.contains("the backup at \(backup.path)") == true)
            let restore = thrown(VaultError.self) { _ = try Vault.restore(from: backup.path, to: restored.path) }
            #expect(restore?.code == .newerVersion && restore?.reason.contains("the backup at \(backup.path)") == true)
            #expect(try contents(backup.path) == before)
            #expect(!FileManager.default.fileExists(atPath: restored.path))
        }
    }

    @Test func `one of a later version among kept backups stays`() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        let folder = try ScratchFolder("generations")
        let first = try vault.backup(generationsIn: folder["kept"], keeping: 1, time: 1_000_000_000).path
        let backup = try TestHome()
        try FileManager.default.moveItem(atPath: first, toPath: backup.path)
        try rise(backup: backup)
        try FileManager.default.moveItem(atPath: backup.path, toPath: first)
        let before = try contents(first)
        let report = try vault.backup(generationsIn: folder["kept"], keeping: 1, time: 1_000_000_100)
        #expect(report.removed == 0 && report.left == [String(first.split(separator: "/").last ?? "")])
        #expect(try contents(first) == before)
    }
}
