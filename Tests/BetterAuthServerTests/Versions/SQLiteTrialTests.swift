import BetterAuthMessages
import Foundation
import RealParts
import ServerSubject
import TestSupport
import Testing

@testable import BetterAuthServer

/// SQLite files that are brought to a version that is made up, from what the first release wrote: forward whatever
/// ends it, and back.
@Suite(.seeded) struct SQLiteTrialTests {
    private static let release = "0.1.0"
    private static let (own, next) = (SQLiteSchema.current.version, SQLiteSchema.madeUp.version)

    private let scratch: ScratchFolder
    private let identity: IdentityID
    private var path: String { scratch["accounts.db"] }
    private var copy: String { "\(path).version-\(Self.own)" }

    init() throws {
        scratch = try ServerFixtureTests.copied(Self.release)
        identity = try #require(IdentityID(try ServerFixtureTests.expected(Self.release).identity))
        // What the release wrote may be of an earlier version than this program's.
        let found = try SQLiteMaintenance(path).migrate().from
        for name in ["-wal", "-shm", ".version-\(found)"] { unsafe unlink(path + name) }
    }

    private func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: scratch.path).sorted()
    }

    /// What a database beside its files is: looked at in a copy, since looking at it is a change of its files.
    private func version(_ path: String) throws -> Int? {
        let folder = try ScratchFolder("looked-at")
        for ending in ["", "-wal"] where FileManager.default.fileExists(atPath: path + ending) {
            try FileManager.default.copyItem(atPath: path + ending, toPath: folder["copy.db"] + ending)
        }
        let connection = try SQLiteConnection(folder["copy.db"], isWriter: false, cache: 64)
        let fault = try connection.prepare("PRAGMA integrity_check(1)").first {
            String(decoding: $0.bytes(0), as: UTF8.self)
        }
        let accounts = try SQLiteSchema.number("SELECT count(*) FROM accounts", connection)
        guard fault == "ok", accounts == 1 else { return nil }
        return try SQLiteSchema.version(of: connection)
    }

    private func subject(_ environment: [String: String] = [:]) throws -> Spawned {
        try Spawned([KillLog.subject, "raise", path], environment: environment)
    }

    @Test func `the next version answers for the accounts, this one refuses its file, and the copy goes back`() throws {
        let words = ["serve", "--listen", "127.0.0.1:0", "--database", path, "--admin-socket", scratch["socket"]]
        let server = try ServerProcess(words, folder: scratch.path)
        let device = try TestDevice.registered(over: HTTPClient(server.address))
        // What it has acknowledged lies in the log beside the file.
        server.process.end(SIGKILL)
        #expect(try bytes(path + "-wal").count > 0)
        #expect(try subject().wait() == 0)
        let attributes = try FileManager.default.attributesOfItem(atPath: copy)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)

        do {
            let store = try SQLiteStore(path, schema: .madeUp)
            defer { store.close() }
            var changes = RandomChanges(now: SystemClock().now)
            let (change, account) = try changes.next()
            #expect(try done { store.apply(change, then: $0) } == .committed)
            for name in [identity, device.identity] { #expect(try store.account(name) != nil) }
            #expect(try store.account(change.identity) == account)
        }
        let report = try SQLiteMaintenance(path, schema: .madeUp).check()
        #expect(report.faults.isEmpty && report.accounts == 3, "\(report.faults)")

        // Also in the other mode of SQLite's, which a backup that was put back has.
        for mode in ["WAL", "DELETE"] {
            do { try SQLiteConnection(path, isWriter: true, cache: 64).execute("PRAGMA journal_mode = \(mode)") }
            let (before, beside) = (try bytes(path), try names())
            for command in [["serve", "--listen", "127.0.0.1:0"], ["init"], ["migrate"], ["check"], ["vacuum"]] {
                let refused = try runServerCommand(command + ["--database", path], scratch.path)
                let isTold = refused.output.contains("has version \(Self.next)")
                #expect(refused.status != 0 && isTold, "\(command): \(refused.output)")
                #expect(try bytes(path) == before, "\(command)")
            }
            #expect(throws: StoreError.tooNew(Self.next, Self.own)) { try SQLiteStore(path) }
            #expect(throws: StoreError.tooNew(Self.next, Self.own)) { try SQLiteMaintenance(path).migrate() }
            #expect(try bytes(path) == before && names() == beside)
        }

        for name in ["", "-wal", "-shm"] { unsafe unlink(path + name) }
        try FileManager.default.moveItem(atPath: copy, toPath: path)
        let again = try ServerProcess(words, folder: scratch.path)
        #expect(again.key == server.key)
        #expect(try HTTPClient(again.address).post("/device/rotate", device.rotation().0.bytes).status == 200)
        for name in [identity, device.identity] {
            let shown = try runServerCommand(
                ["accounts", "show", name.description, "--admin-socket", scratch["socket"]], scratch.path)
            #expect(shown.status == 0, "\(shown.output)")
        }
        again.process.end(SIGTERM)
    }

    @Test func `the log that a killed later version has left stays beside its file`() throws {
        #expect(try subject().wait() == 0)
        let left = scratch["left.db"]
        do {
            let late = try SQLiteStore(path, schema: .madeUp)
            defer { late.close() }
            try late.probe(now: TestClock().now)
            for ending in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: path + ending, toPath: left + ending)
            }
        }
        let (file, log) = (try bytes(left), try bytes(left + "-wal"))
        #expect(!log.isEmpty)
        for command in ["migrate", "check", "vacuum", "init"] {
            let refused = try runServerCommand([command, "--database", left], scratch.path)
            #expect(refused.status != 0 && refused.output.contains("has version"), "\(command): \(refused.output)")
            #expect(try bytes(left) == file && bytes(left + "-wal") == log, "\(command)")
        }
        let report = try SQLiteMaintenance(left, schema: .madeUp).check()
        #expect(report.faults.isEmpty && report.accounts == 1, "\(report.faults)")
    }

    @Test(arguments: ["serve", "migrate", "vacuum", "init"])
    func `whatever updates the file keeps what it was, and says where`(_ command: String) throws {
        let found = Self.own - 1
        do { try SQLiteConnection(path, isWriter: true, cache: 64).execute("PRAGMA user_version = \(found)") }
        let kept = "\(path).version-\(found)"
        let words = [command, "--database", path]
        if command == "serve" {
            for isFirst in [true, false] {
                let server = try ServerProcess(words + ["--listen", "127.0.0.1:0"], folder: scratch.path)
                #expect(server.log.contains(#""copy":"\#(kept)""#) == isFirst, "\(server.log)")
                server.process.end(SIGTERM)
            }
        } else {
            let result = try runServerCommand(words, scratch.path)
            #expect(result.status == 0 && result.output.contains("Kept \(kept) "), "\(result.output)")
            #expect(try !runServerCommand(words, scratch.path).output.contains(kept))
        }
        #expect(try version(path) == Self.own && version(kept) == found)
        #expect(try names().filter { $0.contains("version") } == ["accounts.db.version-\(found)"])
    }

    @Test func `a challenge that was open is not in the copy`() throws {
        do {
            let connection = try SQLiteConnection(path, isWriter: true, cache: 64)
            try SQLiteSetting.sessions.write(Array("an open challenge".utf8), connection)
        }
        #expect(try subject().wait() == 0)
        let connection = try SQLiteConnection(copy, isWriter: false, cache: 64)
        #expect(try SQLiteSetting.sessions.read(connection) == nil)
        #expect(try bytes(copy).firstRange(of: Data("an open challenge".utf8)) == nil)
    }

    // MARK: - What ends it

    private enum Fault: String, CaseIterable {
        case kill, tear
        /// What was not flushed is gone, too.
        case cut
        /// An error, once.
        case fail
        case full
        case readOnly

        func variables(at number: Int) -> [String: String] {
            var variables = ["HOLDFAST_FAULT": rawValue, "HOLDFAST_FAULT_AT": "\(number)"]
            switch self {
            case .kill, .tear, .cut: return variables
            case .fail: variables["HOLDFAST_FAULT_ONCE"] = "1"
            case .full, .readOnly: break
            }
            variables["HOLDFAST_FAULT"] = "fail"
            variables["HOLDFAST_FAULT_ERROR"] = "\(self == .fail ? EIO : self == .full ? ENOSPC : EROFS)"
            return variables
        }
    }

    @Test func `whatever call is cut off, the file or its copy is whole, and the next attempt goes through`() throws {
        let (original, trash) = (try bytes(path), try ScratchFolder("trial-trash"))
        let library = URL(fileURLWithPath: KillLog.subject).deletingLastPathComponent()
            .appending(path: "libFaultInjection.so").path
        try #require(FileManager.default.fileExists(atPath: library))
        let preloaded = ProcessInfo.processInfo.environment["LD_PRELOAD"].map { [$0] } ?? []
        let always = [
            "LD_PRELOAD": (preloaded + [library]).joined(separator: ":"), "HOLDFAST_FAULT_UNDER": scratch.path,
            "HOLDFAST_FAULT_TRASH": trash.path, "HOLDFAST_FAULT_SEED": "\(TestRun.seed & 0xFFFF_FFFF)",
        ]
        func begin() throws {
            for name in try names() where name.hasPrefix("accounts.db") && !name.hasSuffix(".keys") {
                try FileManager.default.removeItem(atPath: scratch[name])
            }
            try original.write(to: URL(fileURLWithPath: path))
            unsafe chmod(path, 0o600)
        }
        let log = trash["log"]
        try begin()
        let counting = ["HOLDFAST_FAULT": "count", "HOLDFAST_FAULT_LOG": log]
        try #require(try subject(always.merging(counting) { $1 }).wait() == 0)
        let calls = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
        for part in [".unfinished", "fsync", "rename", "accounts.db-wal"] {
            #expect(calls.contains { $0.contains(part) }, "\(calls)")
        }
        var generator = SeededGenerator()
        var ends: [Int?: Int] = [:]
        for fault in Fault.allCases {
            // The first and the last one always: before the change is durable, and after it.
            let numbers = TestRun.sample(Array(2..<calls.count), 24, using: &generator)
            for number in [1] + numbers + [calls.count] {
                try begin()
                let place = "\(fault) at call \(number): \(calls[number - 1])"
                let status = try subject(always.merging(fault.variables(at: number)) { $1 }).wait()
                switch fault {
                case .kill, .tear, .cut: #expect(status == -1, "\(place)")
                case .fail, .full, .readOnly: #expect(status == 0 || status == 1, "\(place): \(status)")
                }
                let (found, isKept) = (try version(path), FileManager.default.fileExists(atPath: copy))
                ends[found, default: 0] += 1
                #expect(found == Self.own || (found == Self.next && isKept), "\(place): \(String(describing: found))")
                if isKept { #expect(try version(copy) == Self.own, "\(place)") }
                let kept = isKept ? try bytes(copy) : nil
                #expect(try subject().wait() == 0, "\(place)")
                #expect(try version(path) == Self.next && version(copy) == Self.own, "\(place)")
                if let kept { #expect(try bytes(copy) == kept, "\(place)") }
                #expect(
                    try names().filter { $0.hasPrefix("accounts.db") } == [
                        "accounts.db", "accounts.db.keys", "accounts.db.version-\(Self.own)",
                    ], "\(place)")
            }
        }
        // Of each kind.
        #expect(ends[Self.own] ?? 0 > 0 && ends[Self.next] ?? 0 > 0, "\(ends)")
    }

    @Test func `of two at once one updates the file`() throws {
        for _ in 0..<5 {
            let both = [try subject(), try subject()]
            let ends = both.map { $0.wait() }
            #expect(ends.contains(0) && ends.allSatisfy { $0 == 0 || $0 == 1 }, "\(ends)")
            #expect(try version(path) == Self.next && version(copy) == Self.own)
            for name in ["", "-wal", "-shm"] { unsafe unlink(path + name) }
            try FileManager.default.moveItem(atPath: copy, toPath: path)
        }
    }

    // MARK: - What is in the way

    private enum Taken: CaseIterable {
        case text, empty, folder, pipe, link, danglingLink, linkToCopy
        /// A copy of other contents, and the file that a migration has made.
        case otherCopy, later
    }

    @Test(arguments: Taken.allCases)
    private func `what has the name of the copy stays, and nothing is updated`(_ taken: Taken) throws {
        func make(_ contents: Data, _ name: String) throws { try contents.write(to: URL(fileURLWithPath: name)) }
        let before = try bytes(path)
        switch taken {
        case .text: try make(Data("my notes".utf8), copy)
        case .empty: try make(Data(), copy)
        case .folder: #expect(unsafe mkdir(copy, 0o700) == 0)
        case .pipe: #expect(unsafe mkfifo(copy, 0o600) == 0)
        case .link: #expect(unsafe symlink(path, copy) == 0)
        case .danglingLink: #expect(unsafe symlink(scratch["nothing"], copy) == 0)
        case .linkToCopy, .otherCopy, .later:
            // The copy of this very state first.
            #expect(try subject().wait() == 0)
            if taken == .later { try make(try bytes(path), copy) }
            for name in ["-wal", "-shm"] { unsafe unlink(path + name) }
            try make(before, path)
            if taken == .linkToCopy {
                try FileManager.default.moveItem(atPath: copy, toPath: scratch["moved"])
                #expect(unsafe symlink(scratch["moved"], copy) == 0)
            }
            if taken == .otherCopy {
                try SQLiteSetting.probe.write(
                    Array("since then".utf8), SQLiteConnection(path, isWriter: true, cache: 64))
            }
        }
        let database = try bytes(path)
        var (status, again) = (stat(), stat())
        #expect(unsafe lstat(copy, &status) == 0)
        let contents = taken == .text || taken == .otherCopy || taken == .later ? try bytes(copy) : nil
        #expect(throws: StoreError.copyInTheWay(copy)) { try SQLiteMaintenance(path, schema: .madeUp).migrate() }
        #expect(throws: StoreError.copyInTheWay(copy)) { try SQLiteStore(path, schema: .madeUp) }
        #expect(unsafe lstat(copy, &again) == 0)
        #expect(again.st_ino == status.st_ino && again.st_mode == status.st_mode)
        if let contents { #expect(try bytes(copy) == contents) }
        #expect(try version(path) == Self.own)
        // But for the mark of SQLite's mode.
        #expect(try bytes(path).dropFirst(100) == database.dropFirst(100))
        let left = Set(try names()).subtracting(["moved"])
        #expect(left == ["accounts.db", "accounts.db.keys", "accounts.db.version-\(Self.own)", "audit.log"])
        try FileManager.default.removeItem(atPath: copy)
        #expect(try subject().wait() == 0)
    }

    @Test func `an update that fails leaves the file, and no copy but that of an attempt before`() throws {
        let failing = SQLiteSchema.current.adding("DROP TABLE accounts; SELECT * FROM accounts")
        let before = try names()
        for isKept in [false, true] {
            if isKept {
                let database = try bytes(path)
                #expect(try subject().wait() == 0)
                for name in ["-wal", "-shm"] { unsafe unlink(path + name) }
                try database.write(to: URL(fileURLWithPath: path))
            }
            #expect(throws: StoreError.self) { try SQLiteMaintenance(path, schema: failing).migrate() }
            #expect(throws: StoreError.self) { try SQLiteStore(path, schema: failing) }
            #expect(try version(path) == Self.own)
            #expect(try names() == (before + (isKept ? ["accounts.db.version-\(Self.own)"] : [])).sorted())
        }
    }

    @Test func `a file whose copy has a fault is not updated`() throws {
        do {
            // No program of ours writes such a row, and SQLite copies it.
            let connection = try SQLiteConnection(path, isWriter: true, cache: 64)
            try connection.execute(
                "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'BLOB NOT NULL', 'BLOB')")
        }
        do {
            let connection = try SQLiteConnection(path, isWriter: true, cache: 64)
            try connection.execute(
                """
                INSERT INTO settings VALUES ('x', NULL); PRAGMA writable_schema = ON;
                UPDATE sqlite_schema SET sql = replace(sql, 'BLOB', 'BLOB NOT NULL') WHERE name = 'settings'
                """)
        }
        let before = try names()
        #expect(throws: StoreError.notCopied(copy, "the copy is damaged")) {
            try SQLiteMaintenance(path, schema: .madeUp).migrate()
        }
        #expect(try names() == before)
    }

    @Test func `what a program is told of it says what to do, and does not come by itself`() throws {
        let found = Self.own - 1
        do { try SQLiteConnection(path, isWriter: true, cache: 64).execute("PRAGMA user_version = \(found)") }
        let kept = "\(path).version-\(found)"
        try writeSecret("my notes", to: kept)
        for command in [["serve", "--listen", "127.0.0.1:0"], ["migrate"], ["vacuum"]] {
            let refused = try runServerCommand(command + ["--database", path], scratch.path)
            #expect(refused.status == 2 && refused.output.contains("\(kept) exists"), "\(refused.output)")
            #expect(refused.output.contains("move it away"), "\(refused.output)")
        }
        #expect(try version(path) == found)
    }

    @Test(.enabled(if: Mounted.isAllowed, "only root may mount a file system"))
    func `without room for the copy nothing is updated, and nothing is left`() throws {
        let found = Self.own - 1
        do {
            let connection = try SQLiteConnection(path, isWriter: true, cache: 64)
            try connection.execute(
                "PRAGMA user_version = \(found); INSERT INTO settings VALUES ('x', zeroblob(1000000))")
        }
        let disk = try Mounted.folder(in: scratch.path)
        let refused = try runServerCommand(
            ["migrate", "--database", disk + "/accounts.db"], scratch.path,
            before: Mounted.words(
                "mount -t tmpfs -o size=1500k none \(disk) && cp -p \(path) \(disk)/accounts.db", after: "ls -A \(disk)"
            ))
        #expect(refused.status == 1 && refused.output.contains("full"), "\(refused.output)")
        #expect(refused.output.contains("was not updated") && refused.output.contains("make room"))
        #expect(refused.output.hasSuffix("\naccounts.db\n"), "\(refused.output)")
    }
}
