import BetterAuthMessages
import Foundation
import RealParts
import ServerSubject
import SystemCalls
import TestSupport
import Testing

@testable import BetterAuthServer

/// Full counts, for `make soak`.

@Suite(.seeded) struct SQLiteTests {
    @Test func oneProcessHasTheFile() throws {
        let fixture = try StoreFixture(.sqlite)
        #expect(throws: StoreError.unavailable("\(fixture.path) is in use by another process")) {
            try SQLiteMaintenance(fixture.path)
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: fixture.path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    }

    @Test func foreignAndLaterFilesAreLeftAlone() throws {
        let fixture = try StoreFixture(.memory)
        try Data("no database at all, but long enough to look like a file of something".utf8)
            .write(to: URL(fileURLWithPath: fixture.path))
        #expect(throws: StoreError.self) { try SQLiteStore(fixture.path) }
        for (name, statement) in [
            ("foreign", "CREATE TABLE t (a); PRAGMA application_id = 7"),
            ("later", "PRAGMA application_id = 0x48464241; PRAGMA user_version = 999"),
        ] {
            let path = "\(fixture.folder)/\(name).db"
            let tool = try Spawned([
                "python3", "-c", "import sqlite3; sqlite3.connect('\(path)').executescript('\(statement)')",
            ])
            #expect(tool.wait() == 0)
            #expect(throws: StoreError.self) { try SQLiteStore(path) }
        }
    }

    @Test func migrateCheckAndVacuum() throws {
        let fixture = try StoreFixture(.sqlite)
        var changes = RandomChanges(now: TestClock().now)
        for _ in 0..<50 {
            let change = try changes.next().0
            _ = try done { fixture.store.apply(change, then: $0) }
        }
        let model = changes.model
        fixture.store.close()
        let path = fixture.folder + "/copy.db"
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: fixture.path + suffix) {
            try FileManager.default.copyItem(atPath: fixture.path + suffix, toPath: path + suffix)
        }
        let maintenance = try SQLiteMaintenance(path)
        #expect(try maintenance.migrate() == (4, 4))
        var report = try maintenance.check()
        #expect(report.faults.isEmpty)
        #expect(report.accounts == model.count)
        #expect(report.deleted == model.values.count(where: \.isDeleted))
        #expect(report.devices == model.values.reduce(0) { $0 + $1.devices.count })
        try maintenance.vacuum(now: TestClock().now)
        report = try maintenance.check()
        #expect(report.faults.isEmpty && report.accounts == model.count)
    }

    @Test func expiredRepliesAndKeysAreTakenAway() throws {
        let (fixture, clock) = (try StoreFixture(.memory), TestClock())
        let store = try SQLiteStore(fixture.path, clock: clock)
        let now = clock.now
        var changes = RandomChanges(now: now)
        let (change, account) = try changes.next()
        _ = try done { store.apply(change, then: $0) }
        let device = try #require(account.devices.first?.id)
        for _ in 0..<20 {
            let refresh = try RandomChanges.refresh(
                change.identity, device, RotationHash(RandomChanges.digest()), now: now)
            _ = try done { store.reserve(refresh, then: $0) }
        }
        clock.advance(seconds: 50_000)
        let later = clock.now
        let last = try RandomChanges.refresh(
            change.identity, device, RotationHash(RandomChanges.digest()), now: later)
        _ = try done { store.reserve(last, then: $0) }
        store.close()
        let count = try Spawned([
            "python3", "-c",
            "import sqlite3, sys; c = sqlite3.connect('\(fixture.path)'); "
                + "sys.exit(c.execute('SELECT (SELECT count(*) FROM replies) * 10 + (SELECT count(*) FROM refreshed)').fetchone()[0])",
        ]).wait()
        #expect(count == 11)
    }

    /// The log that commits write goes into the file and begins anew, also while commits continue.
    @Test func theLogIsBounded() throws {
        let fixture = try StoreFixture(.sqlite)
        var changes = RandomChanges(now: TestClock().now)
        for _ in 0..<1500 {
            let change = try changes.next().0
            _ = try done { fixture.store.apply(change, then: $0) }
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: fixture.path + "-wal")
        let size = try #require((attributes[.size] as? NSNumber)?.intValue)
        #expect(size < 1000 * 4096, "1500 commits of some pages each, at most 50 before a checkpoint begins")
    }

    /// The thread that brings it into the file gets no processor for a while, or the disk is slow.
    @Test func `commits wait for a log that is brought into the file too slowly`() throws {
        let fixture = try StoreFixture(.sqlite)
        fixture.store.close()
        let connection = try SQLiteConnection(fixture.path, isWriter: true, cache: 512)
        let writer = try SQLiteWriter(connection)
        try connection.execute("CREATE TABLE filled (bytes BLOB)")
        let checkpoints = SQLiteCheckpoints(fixture.path, threshold: 50) { usleep(100_000) }
        let thread = try #require(checkpoints.start())
        for _ in 0..<3000 {
            try connection.execute("DELETE FROM filled; INSERT INTO filled VALUES (randomblob(3000))")
            checkpoints.committed(writer)
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: fixture.path + "-wal")
        let size = try #require((attributes[.size] as? NSNumber)?.intValue)
        #expect(size < 500 * 4120)
        checkpoints.close()
        thread.join()
    }

    /// Killed at random moments: each account is as it was acknowledged, or as the change under way would leave it.
    @Test func nothingIsHalfDoneAfterAKill() throws {
        let fixture = try StoreFixture(.memory)
        var generator = SeededGenerator()
        for round in 0..<(TestRun.isSoak ? 500 : 25) {
            let log = "\(fixture.folder)/log-\(round)"
            let subject = try Spawned([KillLog.subject, fixture.path, log, "4"])
            let lines = Int.random(in: 1...150, using: &generator)
            try KillLog.wait(log, lines: lines, of: subject)
            subject.end(SIGKILL)
            let story = try KillLog(log)
            let store = try SQLiteStore(fixture.path)
            defer { store.close() }
            try story.check(store, "round \(round), killed after \(lines) lines")
            try FileManager.default.removeItem(atPath: log)
        }
    }
}

/// What a killed process said that it would do and had done.
struct KillLog {
    /// The built products lie beside the test's own executable.
    static let subject = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .appending(path: "ServerSubject").path

    private var before: [String: String] = [:]
    private var after: [String: String] = [:]
    private var asked: [String: (String, String)] = [:]
    private var reserved: Set<String> = []

    /// Changes and refreshes that were acknowledged.
    var acknowledged: Int { before.count }
    var refreshes: Int { reserved.count }

    private struct EndedByItself: Error {}

    static func wait(_ path: String, lines: Int, of subject: Spawned) throws {
        while subject.isRunning {
            if let data = FileManager.default.contents(atPath: path), data.count(where: { $0 == 10 }) >= lines {
                return
            }
            usleep(500)
        }
        throw EndedByItself()
    }

    init(_ path: String) throws {
        for line in try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            switch words[0] {
            case "I": after[words[1]] = words[2]
            case "A": before[words[1]] = after.removeValue(forKey: words[1])
            case "R": asked[words[3]] = (words[1], words[2])
            default: reserved.insert(words[1])
            }
        }
    }

    func check(_ store: any ServerStore, _ comment: Comment) throws {
        for name in Set(before.keys).union(after.keys) {
            let identity = try #require(IdentityID(name))
            let row = try store.account(identity).map { AccountCoding.encode($0).hexadecimal }
            #expect(row == before[name] || row == after[name], comment)
            if let known = before[name], after[name] == nil { #expect(row == known, comment) }
        }
        let now = SystemClock().now.adding(seconds: 2)
        for key in reserved {
            let (identity, device) = try #require(asked[key])
            let again = try RandomChanges.refresh(
                #require(IdentityID(identity)), #require(DeviceID(device)), #require(RotationHash(key)), now: now)
            // The device may have gone since; what must not be is that the key refreshes again.
            #expect(try done { store.reserve(again, then: $0) } != .committed, comment)
        }
    }
}
