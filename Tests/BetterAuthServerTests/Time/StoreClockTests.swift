import BetterAuthMessages
import Foundation
import ServerSubject
import TestSupport
import Testing

@testable import BetterAuthServer

/// What expires in the embedded store, under load and under clocks that lie.
@Suite(.seeded) struct StoreClockTests {
    private let fixture: StoreFixture
    private let identity: IdentityID
    private let device: DeviceID
    private let now = TestClock().now

    init() throws {
        fixture = try StoreFixture(.sqlite)
        var changes = RandomChanges(now: now)
        let (change, account) = try changes.next()
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

    private func count(_ table: String) throws -> Int {
        let connection = try SQLiteConnection(fixture.path, isWriter: false, cache: 64)
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
            place = try writer.sweep(from: place, now: moment, least: 500)
            try writer.commit()
        }
        let rows = try Int(SQLiteSchema.number("SELECT count(*) FROM refreshed", connection))
        #expect(rows < rate * 8 * 3 / 2, "\(rows) rows")
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
        #expect(error.code == .limited)
    }
}
