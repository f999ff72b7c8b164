import BetterAuthHTTP
import BetterAuthMessages
import Foundation
import MemoryServerStore
import ServerSubject
import TestSupport
import Testing

@testable import BetterAuthServer

/// What expires in the embedded store, under load and under clocks that lie.
@Suite(.seeded) struct StoreClockTests {
    private let fixture: StoreFixture
    private let identity: IdentityID
    private let device: DeviceID
    private let creation: AccountChange
    private let now = TestClock().now

    init() throws {
        fixture = try StoreFixture(.sqlite)
        var changes = RandomChanges(now: now)
        let (change, account) = try changes.next()
        creation = change
        let store = fixture.store
        _ = try done { store.apply(change, then: $0) }
        identity = change.identity
        device = try #require(account.devices.first?.id)
    }

    /// - Parameter seconds: For which the key is remembered.
    private func refresh(_ count: Int, at moment: Timestamp, for seconds: Int64 = 43_200) throws {
        for _ in 0..<count {
            let one = try RandomChanges.refresh(
                identity, device, RotationHash(RandomChanges.digest()), now: moment)
            let refresh = RefreshReservation(
                revealed: one.revealed, reservedUntil: moment.adding(seconds: seconds), issuedAt: moment,
                operation: one.operation, reply: one.reply, until: one.until, moment: moment)
            let store = fixture.store
            #expect(try done { store.reserve(refresh, then: $0) } == .committed)
        }
    }

    private func count(_ table: String, _ path: String? = nil) throws -> Int {
        let connection = try SQLiteConnection(path ?? fixture.path, isWriter: false, cache: 64)
        return Int(try SQLiteSchema.number("SELECT count(*) FROM \(table)", connection))
    }

    /// More refreshes in a second than a sweep looks at rows by default.
    @Test func `keys that have refreshed are taken away as fast as they come`() throws {
        fixture.store.close()
        let connection = try SQLiteConnection(fixture.path, isWriter: true, cache: 512)
        let writer = try SQLiteWriter(connection)
        var (moment, place): (Timestamp, [UInt8]) = (now, [])
        // Keys live for 8 s here, and a second brings 1,500.
        let rate = 1500
        for _ in 0..<60 {
            moment = moment.adding(seconds: 1)
            try writer.begin()
            for _ in 0..<rate {
                let one = try RandomChanges.refresh(identity, device, RotationHash(RandomChanges.digest()), now: moment)
                let refresh = RefreshReservation(
                    revealed: one.revealed, reservedUntil: moment.adding(seconds: 8), issuedAt: moment,
                    operation: one.operation, reply: one.reply, until: one.until, moment: moment)
                #expect(try writer.reserve(refresh) == .committed)
            }
            place = try writer.sweep(from: place, before: moment, least: 500)
            try writer.commit()
        }
        let rows = try Int(SQLiteSchema.number("SELECT count(*) FROM refreshed", connection))
        #expect(rows < rate * 8 * 3 / 2, "\(rows) rows")
    }

    /// A store over the clock of a test.
    private final class Clocked {
        let clock = TestClock()
        let told = Told()
        let path: String
        private(set) var store: any ServerStore

        init(_ fixture: StoreFixture, _ creation: AccountChange) throws {
            path = fixture.folder + "/clocked.db"
            store = try Clocked.open(path, clock, told)
            _ = try done { store.apply(creation, then: $0) }
        }

        deinit { store.close() }

        private static func open(_ path: String, _ clock: TestClock, _ told: Told) throws -> SQLiteStore {
            try SQLiteStore(path, clock: clock) { told.add("\($0) \($1)") }
        }

        func close() {
            store.close()
            // It lets go of the file with its end.
            store = MemoryStore()
        }
        func open() throws { store = try Clocked.open(path, clock, told) }

        /// Enough sweeps to see all that there is.
        func run(_ hours: Int, refreshing refresh: (Timestamp) throws -> RefreshReservation) throws {
            for _ in 0..<4 * hours {
                clock.advance(seconds: 900)
                try reserve(refresh(clock.now), .committed)
            }
        }

        func reserve(_ refresh: RefreshReservation, _ outcome: SessionOutcome) throws {
            #expect(try done { store.reserve(refresh, then: $0) } == outcome)
        }
    }

    private func refresh(_ hash: RotationHash, at moment: Timestamp, until end: Timestamp) throws -> RefreshReservation
    {
        let one = try RandomChanges.refresh(identity, device, hash, now: moment)
        return RefreshReservation(
            revealed: one.revealed, reservedUntil: end, issuedAt: moment, operation: one.operation, reply: one.reply,
            until: one.until, moment: moment)
    }

    private func fresh(_ moment: Timestamp) throws -> RefreshReservation {
        try refresh(RotationHash(RandomChanges.digest()), at: moment, until: moment.adding(seconds: 43_200))
    }

    /// While the server runs, and with a start under each clock.
    @Test(arguments: [0, 1], [13, 8760, -13] as [Int64])
    func `a key refreshes once, also when the clock is wrong in between`(_ starts: Int, _ hours: Int64) throws {
        let scene = try Clocked(fixture, creation)
        func set(_ seconds: Int64) throws {
            if starts > 0 { scene.close() }
            scene.clock.set(by: seconds)
            if starts > 0 { try scene.open() }
        }
        try scene.run(13, refreshing: fresh)
        let hash = RotationHash(try RandomChanges.digest())
        let end = scene.clock.now.adding(seconds: 43_200)
        try scene.reserve(refresh(hash, at: scene.clock.now, until: end), .committed)
        try scene.run(1, refreshing: fresh)
        try set(hours * 3600)
        try scene.run(2, refreshing: fresh)
        try set(-hours * 3600)
        try scene.run(8, refreshing: fresh)
        try scene.reserve(refresh(hash, at: scene.clock.now, until: end), .used)
        #expect(scene.told.all == ["\(hours * 3600) \(starts > 0)", "\(-hours * 3600) \(starts > 0)"])
        // It is forgotten in the end, as is all that ends when it should.
        try scene.run(26, refreshing: fresh)
        scene.close()
        #expect(try count("refreshed", scene.path) < 4 * 13 + (hours > 0 ? 10 : 0))
    }

    @Test func `what a machine that is off each night keeps is bounded`() throws {
        let scene = try Clocked(fixture, creation)
        var sizes: [Int] = []
        for _ in 0..<20 {
            try scene.run(10, refreshing: fresh)
            scene.close()
            sizes.append(try count("refreshed", scene.path))
            scene.clock.set(by: 14 * 3600)
            try scene.open()
        }
        // Of two lifetimes and of the day that begins.
        #expect(sizes.allSatisfy { $0 <= 4 * 35 } && sizes[10...].max() == sizes[5..<10].max(), "\(sizes)")
    }

    @Test func `a vacuum under a clock that is ahead takes no key that counts`() throws {
        let scene = try Clocked(fixture, creation)
        try scene.run(13, refreshing: fresh)
        scene.close()
        let before = try count("refreshed", scene.path)
        try SQLiteMaintenance(scene.path).vacuum(now: scene.clock.now.adding(seconds: 365 * 86_400))
        #expect(try count("refreshed", scene.path) >= before - 8 && before > 40)
    }

    @Test func `replies of a clock that was wrong for a moment do not keep all others`() throws {
        let year: Int64 = 365 * 86_400
        try refresh(10, at: now.adding(seconds: year))
        for minute in 0..<20 { try refresh(5, at: now.adding(seconds: Int64(minute) * 60)) }
        // Replies live for five minutes.
        #expect(try count("replies") <= 5 * 7)
        // No key refreshes twice: a token of that clock is as good as it says.
        #expect(try count("refreshed") == 110)
    }

    @Test func `a clock that goes back a year and comes again loses nothing that counts`() throws {
        try refresh(5, at: now)
        try refresh(5, at: now.adding(seconds: -365 * 86_400))
        try refresh(5, at: now.adding(seconds: 10))
        #expect(try count("refreshed") >= 10)
        #expect(try fixture.store.account(identity) != nil)
    }

    /// Its user, or someone who wants a row to grow, recovers an account again and again.
    @Test func `an account has a bounded number of former devices, recoveries included`() throws {
        var account = try #require(try fixture.store.account(identity))
        account.isLocked = false
        account.former = try (0..<Account.maximumDevicesRecovered - account.devices.count - 1).map { _ in
            DeviceID(try RandomChanges.digest())
        }
        func recovered(_ account: Account) throws -> AccountDecision {
            let device = Account.Device(
                id: DeviceID(try RandomChanges.digest()), publicKey: try RandomChanges.key(),
                rotationHash: RotationHash(try RandomChanges.digest()))
            return AccountChange(
                identity: identity,
                kind: .recover(
                    device, revealed: try #require(account.recoveryHash),
                    next: RecoveryHash(try RandomChanges.digest())),
                reply: try RandomChanges.reply(until: now), moment: now
            ).decision(on: account)
        }
        guard case .commit(let last, _) = try recovered(account) else {
            Issue.record("the last recovery is refused")
            return
        }
        #expect(last.devices.count + last.former.count == Account.maximumDevicesRecovered)
        #expect(AccountCoding.encode(last).count < 32 * (Account.maximumDevicesRecovered + 40))
        guard case .refused(let error) = try recovered(last) else {
            Issue.record("one more is done")
            return
        }
        #expect(error == .tooManyDevices(isLasting: true) && error.code == .limited)
        #expect(HTTPReply(ServerReply(error)).retrySeconds == 0)
        #expect(HTTPReply(ServerReply(.plain(.limited))).retrySeconds > 0)
        #expect(!String(decoding: error.encoded, as: UTF8.self).contains("later"))
    }
}
