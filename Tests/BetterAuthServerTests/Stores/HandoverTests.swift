import BetterAuthMessages
import Cryptography
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import BetterAuthServer

/// What a server on SQLite remembers of sessions from a stop to the next start (protocol.md 7.14).
@Suite(.seeded) struct HandoverTests {
    private let folder: ScratchFolder
    private let clock = TestClock()

    init() throws { folder = try ScratchFolder("handover") }

    private var path: String { folder["accounts.db"] }

    /// Processes over the file, one after the other, each with keys of its own.
    private final class Served {
        private(set) var now: TestServer
        private let path: String
        private let clock: TestClock

        init(_ path: String, _ clock: TestClock) throws {
            (self.path, self.clock) = (path, clock)
            now = try TestServer(SQLiteStore(path, clock: clock), clock: clock)
        }

        deinit { now.server.store.close() }

        func stop(thenDoing late: (TestServer) throws -> Void = { _ in }) throws {
            now.server.store.close()
            try late(now)
            // It lets go of the file.
            now = try TestServer(clock: clock)
        }

        func start() throws { now = try TestServer(SQLiteStore(path, clock: clock), clock: clock) }

        func restart() throws {
            try stop()
            try start()
        }
    }

    private func start() throws -> Served { try Served(path, clock) }

    /// The value that the file has for it.
    private func left() throws -> [UInt8]? {
        try SQLiteSetting.sessions.read(SQLiteConnection(path, isWriter: true, cache: 64))
    }

    private func leave(_ bytes: [UInt8]) throws {
        try SQLiteSetting.sessions.write(bytes, SQLiteConnection(path, isWriter: true, cache: 64))
    }

    @Test func `a session that was asked for before a stop is opened after it, and repeated after another`() throws {
        let served = try start()
        let account = try TestAccount(on: served.now)
        let challenge = try served.now.challenge(account.device.identity)
        try served.restart()
        let message = try TestSession.opening(account.device, challenge).0
        let opened = served.now.post(.createSession, message.bytes)
        #expect(opened.status == 200 && !opened.isRepeated)
        try served.restart()
        let again = served.now.post(.createSession, message.bytes)
        #expect(again.body == opened.body && again.isRepeated)
        // It is used once, whatever was stopped meanwhile.
        let other = try TestSession.opening(account.device, challenge).0
        #expect(try served.now.send(CreateSession.self, other) == .unknownChallenge)
    }

    /// A front that gave up waiting leaves requests under way, which come to a store that has ended.
    @Test func `what comes after the end uses no challenge up`() throws {
        let served = try start()
        let account = try TestAccount(on: served.now)
        let challenge = try served.now.challenge(account.device.identity)
        let late = try TestSession.opening(account.device, challenge).0
        let reply = SessionReply(identity: account.device.identity, device: account.device.id, bytes: [1])
        let bytes = late.bytes
        let answer = ChallengeAnswer(
            challenge: challenge, operation: unsafe OperationKey(path: CreateSession.path, body: bytes.span.bytes),
            reply: reply, publicKey: account.device.current.publicKey, until: clock.now.adding(seconds: 300),
            moment: clock.now)
        let opening = Challenge(
            nonce: try freshNonce(), identity: account.device.identity, until: clock.now.adding(seconds: 60),
            moment: clock.now)
        try served.stop { stopped in
            let store = stopped.server.store
            #expect(stopped.post(.createSession, bytes).status == 503)
            // One that had found it open before the end.
            #expect(throws: StoreError.self) { try done { store.answer(answer, then: $0) } }
            #expect(throws: StoreError.self) { try done { store.open(opening, then: $0) } }
        }
        try served.start()
        let other = try TestSession.opening(account.device, challenge).0
        #expect(try served.now.send(CreateSession.self, other) == nil)
        #expect(try served.now.send(CreateSession.self, late) == .unknownChallenge)
    }

    /// What is asked of it is refused in the same words before a stop and after it.
    @Test(arguments: ["a stop", "two stops", "a kill", "a lie of the clock", "an hour"])
    func `no restart tells whether an identity exists`(_ event: String) throws {
        let served = try start()
        let account = try TestAccount(on: served.now)
        let stranger = try TestDevice()
        let identities = [account.device.identity, IdentityID(try freshDigest())]
        let answers = try identities.map { try TestSession.opening(stranger, served.now.challenge($0)).0 }
        try served.stop()
        switch event {
        case "two stops":
            try served.start()
            try served.stop()
        // Another process took it, and nothing of what it took is in the file.
        case "a kill":
            let taken = try SQLiteStore(path, clock: clock)
            #expect(try left() == nil)
            let killed = folder["killed.db"]
            for ending in ["", "-wal"] where FileManager.default.fileExists(atPath: path + ending) {
                try FileManager.default.copyItem(atPath: path + ending, toPath: killed + ending)
            }
            taken.close()
            for ending in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + ending) }
            for ending in ["", "-wal"] where FileManager.default.fileExists(atPath: killed + ending) {
                try FileManager.default.moveItem(atPath: killed + ending, toPath: path + ending)
            }
        case "a lie of the clock": clock.advance(seconds: -30)
        case "an hour": clock.advance(seconds: 3600)
        default: break
        }
        try served.start()
        let isKnown = ["a stop", "two stops"].contains(event)
        for answer in answers {
            #expect(try served.now.send(CreateSession.self, answer) == (isKnown ? .invalidDevice : .unknownChallenge))
        }
    }

    @Test func `what was made when the clock was ahead is not valid for longer`() throws {
        let served = try start()
        let account = try TestAccount(on: served.now)
        clock.advance(seconds: 40_000)
        let ahead = try served.now.challenge(account.device.identity)
        let (opened, _, _) = try TestSession.opening(account.device, served.now.challenge(account.device.identity))
        #expect(try served.now.send(CreateSession.self, opened) == nil)
        clock.advance(seconds: -40_000)
        let sound = try served.now.challenge(account.device.identity)
        try served.restart()
        let messages = try [ahead, sound].map { try TestSession.opening(account.device, $0).0 }
        #expect(try served.now.send(CreateSession.self, messages[0]) == .unknownChallenge)
        #expect(try served.now.send(CreateSession.self, messages[1]) == nil)
        #expect(try served.now.send(CreateSession.self, opened) == .unknownChallenge)
    }

    @Test func `a challenge lives as long as without a restart`() throws {
        for (seconds, isOpen) in [(60, true), (61, false)] as [(Int64, Bool)] {
            let served = try start()
            let account = try TestAccount(on: served.now)
            let challenge = try served.now.challenge(account.device.identity)
            try served.stop()
            clock.advance(seconds: seconds)
            try served.start()
            let message = try TestSession.opening(account.device, challenge).0
            #expect(try served.now.send(CreateSession.self, message) == (isOpen ? nil : .unknownChallenge))
        }
    }

    /// What is put back later opens nothing that was used since, whoever puts it back and how.
    @Test func `a backup of a stopped server has nothing of the handover`() throws {
        let served = try start()
        let challenge = try served.now.challenge(TestAccount(on: served.now).device.identity)
        try served.stop()
        func has(_ file: String) throws -> Bool {
            try Data(contentsOf: URL(fileURLWithPath: file)).firstRange(of: Data(challenge.rawBytes)) != nil
        }
        let copy = folder["copy.db"]
        try SQLiteBackup.write(path, to: copy)
        #expect(try left() != nil && has(path))
        #expect(try SQLiteSetting.sessions.read(SQLiteConnection(copy, isWriter: false, cache: 64)) == nil)
        // Nor in a page that is free.
        #expect(try !has(copy))
        #expect(try SQLiteMaintenance(copy).check().faults == [])
        for ending in ["-journal", "-wal", "-shm"] {
            #expect(!FileManager.default.fileExists(atPath: copy + ending) || ending != "-journal")
        }
    }

    @Test func `a handover that fails is told`() throws {
        let told = Told()
        let store = try SQLiteStore(path, clock: clock, onLoss: { error in told.reasons.withLock { $0.append(error) } })
        try SQLiteConnection(path, isWriter: true, cache: 64).execute("DROP TABLE settings")
        store.close()
        #expect(told.reasons.withLock { $0.count } == 1)
    }

    private final class Told: Sendable {
        let reasons = Mutex<[StoreError]>([])
    }

    /// Damage is no reason not to serve: the challenges are unknown then.
    @Test func `a handover that is not whole is none`() throws {
        let served = try start()
        let account = try TestAccount(on: served.now)
        let challenge = try served.now.challenge(account.device.identity)
        let answered = try TestSession.opening(account.device, served.now.challenge(account.device.identity)).0
        #expect(try served.now.send(CreateSession.self, answered) == nil)
        try served.stop()
        let whole = try #require(try left())
        let message = try TestSession.opening(account.device, challenge).0
        let lifetimes = Lifetimes()
        #expect(ChallengeHandover(whole, lifetimes, now: clock.now) != nil)
        var generator = SeededGenerator()
        for index in whole.indices {
            var changed = whole
            changed[index] ^= UInt8.random(in: 1...255, using: &generator)
            #expect(ChallengeHandover(changed, lifetimes, now: clock.now) == nil, "\(index)")
            #expect(ChallengeHandover(Array(whole[..<index]), lifetimes, now: clock.now) == nil, "\(index)")
        }
        #expect(ChallengeHandover(whole + [0], lifetimes, now: clock.now) == nil)
        for damage in [[], [1], Array(whole.dropLast()), [UInt8](repeating: 0xFF, count: 100_000)] {
            try served.stop()
            try leave(damage)
            try served.start()
            #expect(try served.now.send(CreateSession.self, message) == .unknownChallenge)
            let fresh = try TestSession.opening(account.device, served.now.challenge(account.device.identity)).0
            #expect(try served.now.send(CreateSession.self, fresh) == nil)
        }
        // The right digest below a wrong body is no proof of anything.
        for body in [[0], [1], [2], [2, 2], [2, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0], [2, 0, 0, 0, 1, 0, 0, 0, 0]] {
            let bytes = body.map { UInt8($0) }
            let sealed = unsafe bytes + BLAKE3.hash(bytes.span.bytes).bytes
            #expect(ChallengeHandover(sealed, lifetimes, now: clock.now) == nil, "\(body)")
        }
    }

    @Test func `the bounds are those of the memory`() throws {
        var book = ChallengeBook()
        let now = clock.now
        let (known, other) = (IdentityID(try freshDigest()), IdentityID(try freshDigest()))
        var nonces: [NonceText] = []
        for index in 0..<20 {
            let nonce = try freshNonce()
            nonces.append(nonce)
            book.open(
                Challenge(
                    nonce: nonce, identity: index == 0 ? other : known, until: now.adding(seconds: 30 + Int64(index)),
                    moment: now))
        }
        let bytes = ChallengeHandover(book).bytes(now: now)
        let read = try #require(ChallengeHandover(bytes, Lifetimes(), now: now))
        #expect(read.book.count == 17)
        #expect(ChallengeHandover(read.book).bytes(now: now) == bytes)
        let empty: [UInt8] = []
        let operation = unsafe OperationKey(path: "/", body: empty.span.bytes)
        let open = nonces.filter { read.book.state(of: $0, answeredBy: operation, now: now) != .unknown }
        #expect(open == [nonces[0]] + nonces[4...])
    }

    /// A backup brings no challenge back, whenever it was made; the other commands leave it alone.
    @Test func `maintenance leaves it alone, and a restore brings none back`() throws {
        let served = try start()
        let account = try TestAccount(on: served.now)
        let challenge = try served.now.challenge(account.device.identity)
        try SQLiteBackup.write(path, to: folder["running.db"])
        #expect(
            try SQLiteSetting.sessions.read(
                SQLiteConnection(folder["running.db"], isWriter: true, cache: 64)) == nil)
        try served.stop()
        try SQLiteBackup.write(path, to: folder["stopped.db"])
        try SQLiteBackup.copy(folder["stopped.db"], to: folder["restored.db"]) { _ in }
        let restored = try SQLiteConnection(folder["restored.db"], isWriter: true, cache: 64)
        #expect(try SQLiteSetting.sessions.read(restored) == nil && SQLiteSchema.current.isOurs(restored))
        let maintenance = try SQLiteMaintenance(path)
        #expect(try maintenance.migrate() == (4, 4))
        #expect(try maintenance.check().faults.isEmpty)
        try maintenance.vacuum(now: clock.now)
        withExtendedLifetime(maintenance) {}
        _ = consume maintenance
        try served.start()
        let message = try TestSession.opening(account.device, challenge).0
        #expect(try served.now.send(CreateSession.self, message) == nil)
    }
}
