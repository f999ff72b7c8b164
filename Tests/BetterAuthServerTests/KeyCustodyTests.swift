import BetterAuthHTTP
import BetterAuthMessages
import BetterAuthServer
import MemoryServerStore
import BetterAuthVerification
import Cryptography
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import HoldfastServer

/// Two processes with one file of keys and one database: what one does between two reads of the other.
@Suite struct KeyCustodyTests {
    private let fixture: StoreFixture
    private let store = BetweenReads()

    init() throws { fixture = try StoreFixture(.memory) }

    private func custody(of store: any ServerStore, takesNewKeys: Bool = false) throws -> KeyCustody {
        try Self.custody(fixture.folder, store, takesNewKeys)
    }

    private static func custody(
        _ folder: String, _ store: any ServerStore, _ takesNewKeys: Bool
    ) throws -> KeyCustody {
        try KeyCustody(
            KeyFile(folder + "/keys", .file), of: store, Lifetimes(), takesNewKeys: takesNewKeys, ServerLog(.error))
    }

    /// Makes the keys of the next generation, long after those of the present one.
    private static func rotate(_ custody: KeyCustody) throws {
        let now = SystemClock().now.adding(seconds: 1_000_000 * Int64(custody.keys.lineage.generation + 1))
        #expect(try custody.rotate(after: 1, publishedSeconds: 0, now: now))
    }

    /// What another process does: it rotates the keys, and has the database know.
    private var rotation: @Sendable () -> Void {
        let (folder, whole) = (fixture.folder, store.whole)
        return {
            do {
                let other = try Self.custody(folder, whole, false)
                try Self.rotate(other)
                #expect(other.examine() == nil)
            } catch { Issue.record("\(error)") }
        }
    }

    @Test(arguments: [BetweenReads.Moment.beforeReading, .afterReading])
    func `a rotation in the midst of a look is no earlier copy of the keys`(_ moment: BetweenReads.Moment) throws {
        let custody = try custody(of: store)
        for round in 1...3 {
            store.once(moment, rotation)
            #expect(custody.examine() == nil, "round \(round)")
            #expect(custody.examine() == nil, "round \(round)")
            #expect(custody.keys.lineage.generation == UInt64(round))
        }
    }

    @Test(arguments: BetweenReads.Moment.allCases)
    func `a rotation in the midst of a start ends no process`(_ moment: BetweenReads.Moment) throws {
        _ = try custody(of: store.whole)
        // Keys that the database does not know yet, as after a rotation by a command.
        try Self.rotate(try custody(of: MemoryStore(), takesNewKeys: true))
        store.once(moment, rotation)
        let custody = try custody(of: store)
        #expect(custody.examine() == nil && custody.keys.lineage.generation == 2)
    }

    @Test func `an earlier copy is still told from a rotation`() throws {
        let custody = try custody(of: store)
        rotation()
        #expect(custody.examine() == nil)
        let known = try #require(try store.whole.keyMark())
        #expect(
            try store.whole.setKeyMark(
                KeyMark(digest: known.digest, generation: known.generation + 1, keys: known.keys), over: known))
        #expect(custody.examine()?.contains("earlier copy") == true)
        #expect(throws: KeyCustody.Problem.self) { try self.custody(of: store) }
    }

    /// What two machines have that rotate their own copy of one file: the name, and how often.
    @Test(arguments: [(1, 1), (1, 2), (2, 3), (1, 0), (2, 1)])
    func `a copy that was rotated apart has other keys`(_ here: Int, _ there: Int) throws {
        let copy = fixture.folder + "/copy"
        try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: false)
        let one = try custody(of: store)
        try FileManager.default.copyItem(atPath: fixture.folder + "/keys", toPath: copy + "/keys")
        let other = try Self.custody(copy, store, false)
        #expect(other.examine() == nil)
        for _ in 0..<here { try Self.rotate(one) }
        for _ in 0..<there { try Self.rotate(other) }
        #expect(one.examine() == nil)
        // Both while it runs and at a start; the first one continues.
        let said = try #require(other.examine())
        #expect(said.contains(there < here ? "earlier copy" : "other keys"))
        #expect(throws: KeyCustody.Problem.self) { try Self.custody(copy, store, false) }
        #expect(one.examine() == nil)
        #expect(try custody(of: store).examine() == nil)
    }

    @Test func `compromised keys are replaced in the midst of everything, by one copy`() throws {
        let one = try custody(of: store)
        let copy = fixture.folder + "/copy"
        try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: false)
        try FileManager.default.copyItem(atPath: fixture.folder + "/keys", toPath: copy + "/keys")
        for folder in [fixture.folder, copy] {
            _ = try KeyFile(folder + "/keys").update(responseLifetime: 1, accessLifetime: 1) {
                keys throws(CryptographyError) in
                try keys.renounce(now: SystemClock().now)
                return true
            }
        }
        #expect(one.examine() == nil && one.keys.lineage.generation == 1)
        #expect(throws: KeyCustody.Problem.self) { try Self.custody(copy, store, false) }
        // The right one is copied to the other machine, as the operator is told to.
        try FileManager.default.removeItem(atPath: copy + "/keys")
        try FileManager.default.copyItem(atPath: fixture.folder + "/keys", toPath: copy + "/keys")
        #expect(try Self.custody(copy, store, false).examine() == nil)
    }

    @Test(arguments: [0, 1, 40])
    func `a mark of before the digest of the keys is completed`(_ rotations: Int) throws {
        let first = try custody(of: store)
        let whole = try #require(try store.keyMark())
        let old = try #require(KeyMark(Array(whole.bytes.prefix(40))))
        #expect(old.keys == nil && whole.keys != nil && KeyMark(whole.bytes) == whole)
        #expect(try store.setKeyMark(old, over: whole))
        for _ in 0..<rotations { try Self.rotate(first) }
        #expect(first.examine() == nil)
        #expect(try store.keyMark() == first.keys.mark)
        let known = try store.keyMark()
        #expect(try store.setKeyMark(old, over: known))
        #expect(try custody(of: store).examine() == nil)
        #expect(try store.keyMark() == first.keys.mark)
        for length in [0, 39, 41, 71, 73] {
            #expect(KeyMark(Array((whole.bytes + [0]).prefix(length))) == nil, "\(length)")
        }
    }
}

/// A store in which something happens at a moment of a test's choice.
final class BetweenReads: ServerStore {
    enum Moment: CaseIterable, Sendable {
        case beforeReading, afterReading, beforeWriting
    }

    let whole = MemoryStore()
    private let waiting = Mutex<(Moment, @Sendable () -> Void)?>(nil)

    func once(_ moment: Moment, _ body: @escaping @Sendable () -> Void) { waiting.withLock { $0 = (moment, body) } }

    private func happen(_ moment: Moment) {
        let body = waiting.withLock { waiting -> (@Sendable () -> Void)? in
            guard let (when, body) = waiting, when == moment else { return nil }
            waiting = nil
            return body
        }
        body?()
    }

    func keyMark() throws(StoreError) -> KeyMark? {
        happen(.beforeReading)
        let mark = try whole.keyMark()
        happen(.afterReading)
        return mark
    }

    func setKeyMark(_ mark: KeyMark, over known: KeyMark?) throws(StoreError) -> Bool {
        happen(.beforeWriting)
        return try whole.setKeyMark(mark, over: known)
    }

    let isRemote = false

    func account(_ identity: IdentityID) throws(StoreError) -> Account? { try whole.account(identity) }

    func apply(_ change: AccountChange, then: @escaping Completion<AccountOutcome>) { whole.apply(change, then: then) }

    func open(_ challenge: Challenge, then: @escaping Completion<Void>) { whole.open(challenge, then: then) }

    func challenge(
        _ nonce: NonceText, answeredBy operation: OperationKey, now: Timestamp
    ) throws(StoreError) -> ChallengeState { try whole.challenge(nonce, answeredBy: operation, now: now) }

    func answer(_ answer: ChallengeAnswer, then: @escaping Completion<SessionOutcome>) {
        whole.answer(answer, then: then)
    }

    func reserve(_ refresh: RefreshReservation, then: @escaping Completion<SessionOutcome>) {
        whole.reserve(refresh, then: then)
    }

    func probe(now: Timestamp) throws(StoreError) { whole.probe(now: now) }

    func accounts(after name: [UInt8], most count: Int) throws(StoreError) -> [StoredAccount] {
        try whole.accounts(after: name, most: count)
    }

    func close() { whole.close() }
}
