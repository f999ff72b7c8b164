import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultFormat
import VaultLog
import VaultStorage

@Suite struct BackupTests {
    @Test func aBackupIsAHomeAndRestoresExactly() throws {
        let home = try TestHome()
        let phrase = try home.create()
        let vault = try home.open()
        try vault.unlock("right")
        try vault.put(pattern(3000), "inline")
        try vault.stream(pattern(Vault.largestInlineValue + 5), "file")
        vault.lock()
        let backup = try TestHome()
        let report = try vault.backup(to: backup.path)
        #expect(report.files == 4)
        try vault.unlock("right")
        try vault.put([1], "after the backup")

        let itself = try backup.open()
        try itself.unlock("right")
        #expect(try itself.get("inline") == pattern(3000))
        itself.lock()

        let restored = try TestHome()
        #expect(try Vault.restore(from: backup.path, to: restored.path) == report)
        let again = try restored.open()
        try again.unlock("right")
        #expect(try again.get("inline") == pattern(3000))
        #expect(try again.readAll("file") == pattern(Vault.largestInlineValue + 5))
        #expect(errorCode { _ = try again.get("after the backup") } == .recordNotFound)
        #expect(try again.verify().isIntact)
        again.lock()
        try again.unlock(phrase: phrase.phrase)
    }

    @Test func `a backup that is stopped at any place leaves nothing, and an earlier one stays as it was`() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        for number in 0..<2 { try vault.stream(pattern(Vault.largestInlineValue + number), "file \(number)") }
        let folder = try ScratchFolder("backup")
        let path = folder["copy"]
        func stop(after calls: Int) throws {
            var count = 0
            _ = try vault.backup(to: path, updating: true) { _, _ throws(VaultError) in
                count += 1
                if count > calls { throw VaultError(.diskFull, "stopped") }
            }
        }
        func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder.path) }
        for calls in 0..<4 {
            #expect(errorCode { try stop(after: calls) } == .diskFull)
            #expect(try names().isEmpty)
        }
        #expect(try vault.lastBackup() == nil)
        try stop(after: .max)
        let made = try #require(try vault.lastBackup())
        try vault.stream(pattern(Vault.largestInlineValue + 2), "file 2")
        for calls in 0..<4 {
            #expect(errorCode { try stop(after: calls) } == .diskFull)
            #expect(try names() == ["copy"])
        }
        #expect(try vault.lastBackup() == made)
        let restored = try TestHome()
        _ = try Vault.restore(from: path, to: restored.path)
        let copy = try restored.open()
        try copy.unlock("right")
        #expect(errorCode { _ = try copy.readAll("file 2") } == .recordNotFound)
        #expect(try copy.readAll("file 1") == pattern(Vault.largestInlineValue + 1))
    }

    @Test func nothingIsOverwritten() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        let backup = try TestHome()
        _ = try vault.backup(to: backup.path)
        #expect(errorCode { _ = try vault.backup(to: backup.path) } == .exists)
        #expect(errorCode { _ = try vault.backup(to: home.path) } == .exists)
        #expect(errorCode { _ = try Vault.restore(from: backup.path, to: home.path) } == .exists)
        try vault.put([1], "still works")
        #expect(errorCode { _ = try Vault.restore(from: home.path, to: backup.path + "2") } == .noBackup)
        #expect(!FileManager.default.fileExists(atPath: backup.path + "2"))
    }

    @Test func `a backup is brought up to date: what is the same is kept, what is new comes, what is gone goes`() throws
    {
        let home = try TestHome()
        let vault = try home.unlocked()
        for number in 0..<3 { try vault.stream(pattern(Vault.largestInlineValue + number), "file \(number)") }
        let backup = try TestHome()
        _ = try vault.backup(to: backup.path)
        let folder = FileManager.default
        func files() throws -> [String: UInt64] {
            var files: [String: UInt64] = [:]
            for name in try folder.contentsOfDirectory(atPath: backup.file("files")) {
                var status = stat()
                try #require(unsafe stat(backup.file("files/" + name), &status) == 0)
                files[name] = UInt64(status.st_ino)
            }
            return files
        }
        let before = try files()
        try vault.delete("file 0")
        try vault.stream(pattern(Vault.largestInlineValue + 9), "file 9")
        try vault.put([1], "inline")
        let report = try vault.backup(to: backup.path + "/", updating: true)
        let after = try files()
        // Two are the same files as before, not copies of them.
        #expect(after.count == 3 && after.filter { before[$0.key] == $0.value }.count == 2)
        #expect(report.files == 6)
        for left in [".holdfast-new", ".holdfast-old"] { #expect(!folder.fileExists(atPath: backup.path + left)) }
        let restored = try TestHome()
        #expect(try Vault.restore(from: backup.path, to: restored.path) == report)
        let again = try restored.reopened()
        #expect(try again.readAll("file 9") == pattern(Vault.largestInlineValue + 9))
        #expect(try again.readAll("file 1") == pattern(Vault.largestInlineValue + 1))
        #expect(errorCode { _ = try again.readAll("file 0") } == .recordNotFound)
        #expect(try again.verify().isIntact)
    }

    @Test func `a file of an earlier backup that has rotted is copied anew`() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.stream(pattern(Vault.largestInlineValue + 5), "file")
        let backup = try TestHome()
        _ = try vault.backup(to: backup.path)
        let name = "files/" + (try FileManager.default.contentsOfDirectory(atPath: backup.file("files"))[0])
        let whole = try backup.bytes(name)
        var bytes = whole
        bytes[bytes.count / 2] ^= 1
        try backup.write(bytes, to: name)
        _ = try vault.backup(to: backup.path, updating: true)
        let restored = try TestHome()
        _ = try Vault.restore(from: backup.path, to: restored.path)
        #expect(try backup.bytes(name) == whole && restored.bytes(name) == whole)
    }

    @Test func `a backup of another vault, or one that was opened and changed, is never replaced`() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        let other = try TestHome()
        let another = try other.unlocked()
        let backup = try TestHome()
        _ = try another.backup(to: backup.path)
        #expect(errorCode { _ = try vault.backup(to: backup.path, updating: true) } == .exists)
        #expect(errorCode { _ = try vault.backup(to: home.path, updating: true) } == .exists)
        let own = try TestHome()
        _ = try vault.backup(to: own.path)
        let opened = try own.reopened()
        try opened.put([1], "only here")
        opened.lock()
        #expect(errorCode { _ = try vault.backup(to: own.path, updating: true) } == .exists)
        let still = try own.reopened()
        #expect(try still.get("only here") == [1])
        for left in [own.path + ".holdfast-new", own.path + ".holdfast-old"] {
            #expect(!FileManager.default.fileExists(atPath: left))
        }
    }

    @Test(arguments: ["files/photo", "letter", "files/.parting", "more/letter"])
    func `what somebody has put into a backup is never removed or moved`(name: String) throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        let backup = try TestHome()
        let place = backup.path
        _ = try vault.backup(to: place, updating: true)
        let file = URL(fileURLWithPath: place + "/" + name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("mine".utf8).write(to: file)
        #expect(errorCode { _ = try vault.backup(to: place, updating: true) } == .exists, "\(name)")
        #expect(try Data(contentsOf: file) == Data("mine".utf8))
        #expect(!FileManager.default.fileExists(atPath: place + ".holdfast-new"), "nothing is left beside it")
        try FileManager.default.removeItem(at: file)
        if name.hasPrefix("more") { try FileManager.default.removeItem(atPath: place + "/more") }
        _ = try vault.backup(to: place, updating: true)
        // Nor where an update begins with what an earlier one left.
        try FileManager.default.createDirectory(atPath: place + ".holdfast-old", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: place + ".holdfast-old") }
        try Data("mine".utf8).write(to: URL(fileURLWithPath: place + ".holdfast-old/mine"))
        let count = try vault.securityLog().entries.count
        #expect(errorCode { _ = try vault.backup(to: place, updating: true) } == .exists)
        #expect(try vault.securityLog().entries.count == count, "a backup that was not made is not in the log")
        #expect(!FileManager.default.fileExists(atPath: place + ".holdfast-new"))
    }

    @Test func `no backup lies in its vault, and no vault in its backup`() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        let backup = try TestHome()
        let place = backup.path
        for inside in ["", "/", "/sub", "/files/x", "/a/b/../c", "/."] {
            #expect(errorCode { _ = try vault.backup(to: home.path + inside, updating: true) } == .exists, "\(inside)")
            #expect(errorCode { _ = try vault.backup(to: home.path + inside) } == .exists, "\(inside)")
        }
        _ = try vault.backup(to: place)
        #expect(errorCode { _ = try Vault.restore(from: place, to: place + "/home") } == .exists)
        #expect(!FileManager.default.fileExists(atPath: place + "/home"))
        #expect(!FileManager.default.fileExists(atPath: home.path + "/sub"))
    }

    @Test func `a mark that was laid makes nobody's files go away`() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        let backup = try TestHome()
        let place = backup.path
        try FileManager.default.createDirectory(atPath: place + "/files", withIntermediateDirectories: true)
        for name in ["/files/photo", "/.creating"] {
            try Data("mine".utf8).write(to: URL(fileURLWithPath: place + name))
        }
        #expect(errorCode { _ = try vault.backup(to: place) } == .exists)
        #expect(try Data(contentsOf: URL(fileURLWithPath: place + "/files/photo")) == Data("mine".utf8))
    }

    @Test func `an update that was interrupted anywhere is ended or begun anew by the next one`() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.stream(pattern(Vault.largestInlineValue + 5), "file")
        let backup = try TestHome()
        let (new, old) = (backup.path + ".holdfast-new", backup.path + ".holdfast-old")
        let files = FileManager.default
        defer { for path in [new, old] { try? files.removeItem(atPath: path) } }
        let interruptions: [() throws -> Void] = [
            // While the new one was written.
            {
                try files.createDirectory(atPath: new, withIntermediateDirectories: false)
                try Data().write(to: URL(fileURLWithPath: new + "/.creating"))
            },
            // When it was whole.
            { try files.copyItem(atPath: backup.path, toPath: new) },
            // Between the two names.
            {
                try files.copyItem(atPath: backup.path, toPath: new)
                try files.moveItem(atPath: backup.path, toPath: old)
            },
            // Before the earlier one was removed.
            { try files.copyItem(atPath: backup.path, toPath: old) },
            // While it was removed: the marker is there, the header is gone, and some of the rest.
            {
                try files.copyItem(atPath: backup.path, toPath: old)
                try Data().write(to: URL(fileURLWithPath: old + "/.creating"))
            },
            {
                try files.copyItem(atPath: backup.path, toPath: old)
                try Data().write(to: URL(fileURLWithPath: old + "/.creating"))
                for gone in ["header", "files", "vault.mdb"] { try files.removeItem(atPath: "\(old)/\(gone)") }
            },
        ]
        _ = try vault.backup(to: backup.path)
        for (number, interrupt) in interruptions.enumerated() {
            try interrupt()
            try vault.put([UInt8(number)], "number", replacing: true)
            _ = try vault.backup(to: backup.path, updating: true)
            let restored = try TestHome()
            _ = try Vault.restore(from: backup.path, to: restored.path)
            let again = try restored.reopened()
            #expect(try again.get("number") == [UInt8(number)])
            for path in [new, old] { #expect(!files.fileExists(atPath: path), "interruption \(number)") }
        }
    }

    @Test
    func `a backup that is being updated is not updated by another process, nor is one removed that it is made of`()
        throws
    {
        let home = try TestHome()
        let vault = try home.unlocked()
        let backup = try TestHome()
        _ = try vault.backup(to: backup.path)
        let old = backup.path + ".holdfast-old"
        defer { try? FileManager.default.removeItem(atPath: old) }
        func busyWhileHeld(_ path: String) throws {
            let folder = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            try #require(folder >= 0 && flock(folder, LOCK_EX | LOCK_NB) == 0)
            defer { close(folder) }
            #expect(errorCode { _ = try vault.backup(to: backup.path, updating: true) } == .busy)
            #expect(FileManager.default.fileExists(atPath: path + "/header"))
        }
        try busyWhileHeld(backup.path)
        try FileManager.default.copyItem(atPath: backup.path, toPath: old)
        try busyWhileHeld(old)
        // Between the two names.
        try FileManager.default.removeItem(atPath: backup.path)
        try busyWhileHeld(old)
        _ = try vault.backup(to: backup.path, updating: true)
        #expect(!FileManager.default.fileExists(atPath: old))
    }

    @Test
    func `an earlier backup that is kept beside the next one stays, and a link leads to the backup that is updated`()
        throws
    {
        let home = try TestHome()
        let vault = try home.unlocked()
        let backup = try TestHome()
        _ = try vault.backup(to: backup.path)
        let files = FileManager.default
        let (kept, link) = (backup.path + ".old", backup.path + ".link")
        defer { for path in [kept, link] { try? files.removeItem(atPath: path) } }
        try files.moveItem(atPath: backup.path, toPath: kept)
        try vault.put([1], "new")
        _ = try vault.backup(to: backup.path, updating: true)
        #expect(files.fileExists(atPath: kept + "/header"))
        try files.createSymbolicLink(atPath: link, withDestinationPath: backup.path)
        try vault.put([2], "newer")
        _ = try vault.backup(to: link, updating: true)
        #expect(try files.destinationOfSymbolicLink(atPath: link) == backup.path)
        let restored = try TestHome()
        _ = try Vault.restore(from: backup.path, to: restored.path)
        #expect(try restored.reopened().get("newer") == [2])
    }

    @Test func `a link leads to a backup that an interrupted update left without its name`() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        let backup = try TestHome()
        _ = try vault.backup(to: backup.path)
        let files = FileManager.default
        let link = backup.path + ".link"
        defer { try? files.removeItem(atPath: link) }
        for target in [backup.path, String(backup.path.split(separator: "/").last ?? "")] {
            try files.createSymbolicLink(atPath: link, withDestinationPath: target)
            try files.moveItem(atPath: backup.path, toPath: backup.path + ".holdfast-old")
            _ = try vault.backup(to: link, updating: true)
            #expect(files.fileExists(atPath: backup.path + "/header"))
            #expect(!files.fileExists(atPath: backup.path + ".holdfast-old"))
            try files.removeItem(atPath: link)
        }
    }

    @Test func `a link to what is not there is named, and nothing is made at its end`() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        let (link, target) = (home.path + ".link", home.path + ".gone")
        defer { try? FileManager.default.removeItem(atPath: link) }
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
        func refusal(_ body: () throws -> Void) throws -> VaultError {
            let error = try #require(throws: VaultError.self) { try body() }
            #expect(error.reason.contains("\(link) is a link to \(target), which is not there"), "\(error.reason)")
            return error
        }
        #expect(try refusal { _ = try vault.backup(to: link, updating: true) }.code == .exists)
        #expect(try refusal { _ = try vault.backup(to: link + "/below") }.code == .exists)
        #expect(try refusal { _ = try vault.backup(generationsIn: link, keeping: 1, time: 0) }.code == .exists)
        #expect(try refusal { _ = try Vault.restore(from: link, to: home.path + ".new") }.code == .noBackup)
        #expect(try refusal { _ = try Vault(at: link) }.code == .vaultMissing)
        #expect(!FileManager.default.fileExists(atPath: target))
    }

    @Test func `a manifest that is larger than its files allow is refused before it is read`() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        for number in 0..<12 { try vault.stream(pattern(Vault.largestInlineValue + number), "file \(number)") }
        let backup = try TestHome()
        _ = try vault.backup(to: backup.path)
        let restored = try TestHome()
        let manifest = try backup.bytes("backup.manifest")
        // Sparse: it takes no room on the disk, and all of the memory that it is read into.
        try #require(unsafe truncate(backup.file("backup.manifest"), 1 << 30) == 0)
        let error = #expect(throws: VaultError.self) {
            _ = try Vault.restore(from: backup.path, to: restored.path)
        }
        #expect(error?.code == .damaged && error?.reason.contains("too large for the files") == true, "\(error as Any)")
        try backup.write(manifest, to: "backup.manifest")
        _ = try Vault.restore(from: backup.path, to: restored.path)
    }

    @Test func achangedBackupIsRefusedAndLeavesNothing() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.stream(pattern(Vault.largestInlineValue + 5), "file")
        let backup = try TestHome()
        _ = try vault.backup(to: backup.path)
        let file = "files/" + (try FileManager.default.contentsOfDirectory(atPath: backup.file("files"))[0])
        let restored = try TestHome()
        for name in ["header", "vault.mdb", file, "backup.manifest"] {
            let good = try backup.bytes(name)
            for variant in 0..<3 {
                var bad = good
                switch variant {
                case 0: bad[bad.count / 2] ^= 1
                case 1: bad.removeLast()
                default: bad.append(10)
                }
                try backup.write(bad, to: name)
                #expect(
                    errorCode("\(name) \(variant)") { _ = try Vault.restore(from: backup.path, to: restored.path) }
                        == .damaged)
                #expect(!FileManager.default.fileExists(atPath: restored.path))
            }
            try backup.write(good, to: name)
        }
        _ = try Vault.restore(from: backup.path, to: restored.path)
    }

    @Test func aBackupWhileOthersWriteIsConsistent() async throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.stream(pattern(Vault.largestInlineValue + 5), "file")
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for number in 0..<40 {
                    try? vault.put(pattern(2000, seed: UInt8(number)), "n\(number)")
                    if number % 8 == 0 {
                        try? vault.stream(
                            pattern(Vault.largestInlineValue + number, seed: UInt8(number)), "file", replacing: true)
                    }
                }
            }
            group.addTask {
                for _ in 0..<4 {
                    do {
                        let backup = try TestHome()
                        _ = try vault.backup(to: backup.path)
                        let copy = try backup.open()
                        try copy.unlock("right")
                        #expect(try copy.verify().isIntact)
                    } catch { Issue.record(error) }
                }
            }
        }
        _ = try vault.removeOrphanedFiles()
        #expect(try vault.verify().isIntact)
        #expect(try vault.verify().orphanedFiles == 0)
    }
}

extension TestHome {
    /// A vault that is there already, opened and unlocked.
    fileprivate func reopened() throws -> Vault {
        let vault = try open()
        try vault.unlock("right")
        return vault
    }
}
