import BetterAuthMessages
import BetterAuthServer
import TestSupport
import Testing

@Suite(.seeded) struct AccountCodingTests {
    private func sample(devices: Int, former: Int, deleted: Bool = false) throws -> Account {
        func reply() throws -> CommittedReply {
            let key = try ServerKey.generate()
            return CommittedReply(
                operation: OperationKey(try freshDigest()), serverIdentity: key.publicKey,
                signature: try key.sign(RawSpan()),
                until: Timestamp(clamping: 1_767_323_045_678))
        }
        let list = try (0..<devices).map { index in
            let device = try TestDevice()
            return Account.Device(
                id: device.id, publicKey: device.current.publicKey, rotationHash: device.rotationHash,
                reply: index % 2 == 0 ? try reply() : nil)
        }
        return Account(
            recoveryHash: deleted ? nil : RecoveryHash(try freshDigest()), voidBefore: Timestamp(clamping: 5),
            devices: list, former: try (0..<former).map { _ in DeviceID(try freshDigest()) },
            departedReplies: [try reply()])
    }

    @Test func rowsAreReadAsTheyWereWritten() throws {
        for account in [
            try sample(devices: 0, former: 0), try sample(devices: 0, former: 0, deleted: true),
            try sample(devices: 3, former: 300),
        ] {
            let row = AccountCoding.encode(account)
            #expect(try unsafe AccountCoding.decode(row.span.bytes) == account)
        }
    }

    @Test func damagedRowsAreRefused() throws {
        let row = AccountCoding.encode(try sample(devices: 2, former: 2))
        for count in row.indices {
            #expect(throws: StoreError.damaged) { try unsafe AccountCoding.decode(Array(row[..<count]).span.bytes) }
        }
        #expect(throws: StoreError.damaged) { try unsafe AccountCoding.decode((row + [0]).span.bytes) }
        // A version that was never written, and one that says more than there is.
        for version in [0, 2, 3] as [UInt8] {
            var other = row
            other[0] = version
            #expect(throws: StoreError.damaged) { try unsafe AccountCoding.decode(other.span.bytes) }
        }
    }

    /// An earlier program knew no sessions of a single device: it refuses such a row, and reads every other one.
    @Test func `a row has the first version, unless it says what that could not`() throws {
        var account = try sample(devices: 3, former: 1)
        let before = AccountCoding.encode(account)
        #expect(before[0] == 1)
        account.devices[1].voidBefore = Timestamp(clamping: 1_767_323_045_678)
        let after = AccountCoding.encode(account)
        #expect(after[0] == 2 && after.count == before.count + 8)
        #expect(try unsafe AccountCoding.decode(after.span.bytes) == account)
        var mixed = after
        mixed[0] = 1
        #expect(throws: StoreError.damaged) { try unsafe AccountCoding.decode(mixed.span.bytes) }
    }
}

@Suite(.seeded) struct ExpiringMapTests {
    private func moment(_ seconds: Int64) -> Timestamp { Timestamp(clamping: seconds * 1000) }

    @Test func entriesEndAtTheirTime() {
        var map = ExpiringMap<Int, String>(capacity: 10)
        let isAdded = map.insert("one", for: 1, until: moment(10), now: moment(0))
        #expect(isAdded)
        #expect(map.value(1, now: moment(10)) == "one")
        #expect(map.value(1, now: moment(11)) == nil)
        map.removeExpired(now: moment(11))
        #expect(map.count == 0)
    }

    @Test func `what a clock that was ahead has left displaces nothing`() {
        var map = ExpiringMap<Int, Int>(capacity: 3)
        for key in 0..<3 { _ = map.insertEvicting(key, for: key, until: moment(10_060), now: moment(10_000)) }
        for key in 3..<6 { _ = map.insertEvicting(key, for: key, until: moment(60), now: moment(0)) }
        for key in 3..<6 { #expect(map.value(key, now: moment(1)) == key) }
        #expect(map.count == 3)
        let evicted = map.insertEvicting(6, for: 6, until: moment(61), now: moment(1))
        #expect(evicted.map { (3..<6).contains($0) } == true && map.value(6, now: moment(1)) == 6)
    }

    @Test func theBoundHolds() {
        var map = ExpiringMap<Int, Int>(capacity: 3)
        for key in 1...3 { _ = map.insert(key, for: key, until: moment(Int64(10 + key)), now: moment(0)) }
        let isRefused = !map.insert(4, for: 4, until: moment(20), now: moment(0))
        let evicted = map.insertEvicting(4, for: 4, until: moment(20), now: moment(0))
        #expect(isRefused && evicted == 1)
        #expect(map.value(1, now: moment(0)) == nil && map.value(4, now: moment(0)) == 4)
        // A replaced entry lives for its new time and takes no second place.
        let isReplaced = map.insert(22, for: 2, until: moment(30), now: moment(0))
        #expect(isReplaced && map.count == 3)
        let isAdded = map.insert(5, for: 5, until: moment(40), now: moment(25))
        #expect(isAdded && map.value(2, now: moment(25)) == 22 && map.count == 2)
    }

    /// Against a dictionary, over random orders; the seed is printed by a failure.
    @Test func itAgreesWithAPlainDictionary() {
        var generator = SeededGenerator()
        func random(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }
        var map = ExpiringMap<Int, Int>(capacity: 50)
        var plain: [Int: (value: Int, until: Int)] = [:]
        for now in 0..<3000 {
            let key = random(80)
            plain = plain.filter { $0.value.until >= now }
            switch random(4) {
            case 0:
                map.remove(key)
                plain[key] = nil
            default:
                let until = now + random(60)
                let fits = plain[key] != nil || plain.count < 50
                let isAdded = map.insert(now, for: key, until: moment(Int64(until)), now: moment(Int64(now)))
                #expect(isAdded == fits)
                if fits { plain[key] = (now, until) }
            }
            let probe = random(80)
            #expect(map.value(probe, now: moment(Int64(now))) == plain[probe]?.value)
        }
    }
}

@Suite(.seeded) struct KeyScheduleTests {
    private func moment(_ seconds: Int64) -> Timestamp { Timestamp(clamping: seconds * 1000) }

    @Test func aKeyIsPublishedBeforeItSignsAndForAsLongAsItsSignaturesLive() throws {
        let (first, second) = (try ServerKey.generate(), try ServerKey.generate())
        var schedule = KeySchedule(first, lifetime: 100_000)
        schedule.add(second, usedFrom: moment(60), now: moment(0))
        #expect(schedule.current(now: moment(59)).publicKey == first.publicKey)
        #expect(schedule.published(now: moment(0)).count == 2)
        #expect(schedule.current(now: moment(60)).publicKey == second.publicKey)
        #expect(schedule.published(first.publicKey, now: moment(160)) != nil)
        #expect(schedule.published(first.publicKey, now: moment(161)) == nil)
        #expect(schedule.published(second.publicKey, now: moment(10_000)) != nil)
        schedule.add(try .generate(), usedFrom: moment(300), now: moment(200))
        #expect(schedule.entries.count == 2)
    }
}
