import BetterAuthMessages
import BetterAuthServer
import Dispatch
import ServerSubject
import Synchronization
import TestSupport
import Testing

@Suite struct RecentMapTests {
    @Test func whatIsUsedStays() {
        var map = RecentMap<Int, String>(capacity: 3)
        for key in 1...3 { map.put("\(key)", for: key) }
        let (first, fourth) = (map.value(1), map.value(4))
        #expect(first == "1" && fourth == nil)
        map.put("4", for: 4)
        // 1 was used and gets another turn; 2 was not.
        #expect(map.count == 3 && map.contains(1) && !map.contains(2) && map.contains(3) && map.contains(4))
        map.put("5", for: 5)
        map.put("6", for: 6)
        #expect(map.count == 3 && map.contains(5) && map.contains(6))
        // In the place of its old value, and of nobody else.
        map.put("other", for: 6)
        let replaced = map.value(6)
        #expect(map.count == 3 && replaced == "other")
        map.removeAll()
        let gone = map.value(6)
        #expect(map.count == 0 && gone == nil)
        for key in 0..<10 { map.put("\(key)", for: key) }
        #expect(map.count == 3 && map.contains(9))
    }

    /// Where everything is used all the time, one still goes.
    @Test func itEnds() {
        var map = RecentMap<Int, Int>(capacity: 50)
        for key in 0..<500 {
            map.put(key, for: key)
            for other in 0...key { _ = map.value(other) }
            #expect(map.count == min(key + 1, 50) && map.contains(key))
        }
    }
}

/// A session's account is read from memory, and never as it was before a change that somebody was told of.
@Suite struct AccountCacheTests {
    private func account(devices: Int = 1) throws -> Account {
        let list = try (0..<devices).map { _ in
            Account.Device(
                id: DeviceID(try freshDigest()), publicKey: try RandomChanges.key(),
                rotationHash: RotationHash(try freshDigest()))
        }
        return Account(
            recoveryHash: RecoveryHash(try freshDigest()), voidBefore: Timestamp(clamping: 0), devices: list)
    }

    /// What the cache says without a look at the disk; nil when it would have to look.
    private func known(_ cache: AccountCache, _ identity: IdentityID) -> Account? {
        try? cache.account(identity) { () throws(StoreError) in throw .damaged }
    }

    @Test func whatWasReadOrChangedIsKnown() throws {
        let cache = AccountCache()
        let identity = IdentityID(try freshDigest())
        let (old, new) = (try account(), try account())
        #expect(try cache.account(identity) { nil } == nil)
        #expect(known(cache, identity) == nil, "it may be made at any time")
        #expect(try cache.account(identity) { old } == old)
        #expect(known(cache, identity) == old)
        cache.apply([(identity, new)])
        #expect(known(cache, identity) == new)
        cache.clear()
        #expect(known(cache, identity) == nil)
    }

    @Test func whatWasReadBeforeAChangeIsNotKept() throws {
        let cache = AccountCache()
        let (identity, other) = (IdentityID(try freshDigest()), IdentityID(try freshDigest()))
        let (old, new) = (try account(), try account())
        // The change is made while the old row is on its way.
        let read = try cache.account(identity) {
            cache.apply([(identity, new)])
            return old
        }
        #expect(read == old && known(cache, identity) == new)
        _ = try cache.account(other) {
            cache.clear()
            return old
        }
        #expect(known(cache, other) == nil)
    }

    @Test func largeAccountsAreReadEachTime() throws {
        let cache = AccountCache()
        let identity = IdentityID(try freshDigest())
        let (small, large) = (try account(), try account(devices: 30))
        #expect(try cache.account(identity) { large } == large)
        #expect(known(cache, identity) == nil)
        #expect(try cache.account(identity) { small } == small)
        cache.apply([(identity, large)])
        #expect(known(cache, identity) == nil, "not as it was while it was small")
        cache.apply([(identity, small)])
        #expect(known(cache, identity) == small)
    }

    /// Others read all the time; a writer sees its change as soon as it is told, whatever they have read meanwhile.
    @Test func acknowledgedChangesAreSeen() throws {
        let fixture = try StoreFixture(.sqlite)
        let store = fixture.store
        let identities = Mutex<[IdentityID]>([])
        let isOver = Atomic(false)
        let readers = DispatchGroup()
        for _ in 0..<3 {
            DispatchQueue.global().async(group: readers) {
                while !isOver.load(ordering: .relaxed) {
                    for identity in identities.withLock({ $0.suffix(20) }) { _ = try? store.account(identity) }
                }
            }
        }
        var changes = RandomChanges(now: TestClock().now)
        for _ in 0..<(TestRun.isSoak ? 20_000 : 400) {
            let (change, account) = try changes.next()
            identities.withLock { $0.append(change.identity) }
            #expect(try done { store.apply(change, then: $0) } == .committed)
            #expect(try store.account(change.identity) == account)
        }
        isOver.store(true, ordering: .relaxed)
        readers.wait()
    }
}
