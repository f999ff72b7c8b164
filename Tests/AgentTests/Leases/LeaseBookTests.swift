import AgentMessages
import HoldfastAgent
import Items
import TestSupport
import Testing
import VaultHeader
import VaultFormat

/// Who may use what without being asked for again.
@Suite struct LeaseBookTests {
    static let boot = [UInt8](repeating: 1, count: 16)
    static func at(_ milliseconds: UInt64, boot: [UInt8] = boot) -> BootInstant {
        BootInstant(bootID: boot, milliseconds: milliseconds)
    }

    static func client(_ leader: Int32 = 100, start: UInt64 = 7, inode: UInt64 = 3) -> LeaseAsker {
        .client(
            LeaseClient(
                session: ProcessName(process: leader, start: start), program: ProgramFile(device: 1, inode: inode)))
    }

    static func request(
        _ asker: LeaseAsker = client(), _ name: String = "mail", id: UInt8 = 1, _ rule: AskRule = .untilLock,
        tags: [String] = []
    ) -> LeaseRequest {
        LeaseRequest(
            asker: asker,
            target: .item(
                RecordName(collection: "default", name: name)!, id: [UInt8](repeating: id, count: 16)),
            rule: rule, tags: tags)
    }

    static func request(_ rule: AskRule, tags: [String] = []) -> LeaseRequest {
        request(client(), "mail", rule, tags: tags)
    }

    @Test func `an item without a mark is not asked for, whoever asks`() {
        let book = LeaseBook()
        for asker in [Self.client(), .gone, .process(ProcessName(process: 1, start: 1))] {
            #expect(book.decide(Self.request(asker, "mail", .never), Self.at(0)) == .allow)
        }
    }

    @Test func `what is allowed until the lock is asked for once, and again after the lock`() {
        var book = LeaseBook()
        #expect(book.decide(Self.request(), Self.at(0)) == .ask(.untilLock))
        book.allow(Self.request(), for: .untilLock, Self.at(0))
        #expect(book.decide(Self.request(), Self.at(1 << 40)) == .allow)
        book.end()
        #expect(book.decide(Self.request(), Self.at(1 << 40)) == .ask(.untilLock))
    }

    @Test func `once is once`() {
        var book = LeaseBook()
        #expect(book.allow(Self.request(), for: .once, Self.at(0)) == nil)
        #expect(book.decide(Self.request(), Self.at(0)) == .ask(.untilLock))
    }

    @Test func `an item that asks each time has no lease, whatever was allowed before it was marked`() {
        var book = LeaseBook()
        book.allow(Self.request(tags: ["work"]), for: .untilLock, Self.at(0))
        let tag = LeaseRequest(asker: Self.client(), target: .tag("work"), rule: .untilLock)
        book.allow(tag, for: .untilLock, Self.at(0))
        #expect(book.decide(Self.request(.eachTime, tags: ["work"]), Self.at(1)) == .ask(.once))
        #expect(book.allow(Self.request(.eachTime), for: .untilLock, Self.at(1)) == nil)
        #expect(book.decide(Self.request(.eachTime), Self.at(1)) == .ask(.once))
    }

    @Test func `a time ends to the millisecond, by the clock that includes sleep`() {
        var book = LeaseBook()
        let request = Self.request(.minutes(10))
        #expect(book.decide(request, Self.at(5)) == .ask(.seconds(600)))
        book.allow(request, for: .seconds(600), Self.at(5))
        #expect(book.decide(request, Self.at(600_004)) == .allow)
        #expect(book.decide(request, Self.at(600_005)) == .ask(.seconds(600)))
        #expect(book.leases[0].remaining(Self.at(600_004)) == 1)
    }

    @Test func `a clock that went backwards or another boot ends what was allowed for a time`() {
        var book = LeaseBook()
        book.allow(Self.request(.minutes(1)), for: .seconds(60), Self.at(1000))
        #expect(book.decide(Self.request(.minutes(1)), Self.at(999)) == .ask(.seconds(60)))
        let other = Self.at(1000, boot: [UInt8](repeating: 2, count: 16))
        #expect(book.decide(Self.request(.minutes(1)), other) == .ask(.seconds(60)))
        book.allow(Self.request(), for: .untilLock, Self.at(1000))
        #expect(book.decide(Self.request(), Self.at(999)) == .ask(.untilLock))
    }

    /// The number of the leader used again, an exec, another item in its place, a copy, an item that claims the id.
    @Test func `a lease is for one program in one session and for one item in one place`() {
        var book = LeaseBook()
        book.allow(Self.request(), for: .untilLock, Self.at(0))
        let others = [
            Self.request(Self.client(101)), Self.request(Self.client(100, start: 8)),
            Self.request(Self.client(inode: 4)), Self.request(id: 2), Self.request(Self.client(), "other"),
        ]
        for other in others { #expect(book.decide(other, Self.at(0)) == .ask(.untilLock)) }
        let unnamed = Self.request(.process(ProcessName(process: 100, start: 7)))
        #expect(book.decide(unnamed, Self.at(0)) == .ask(.once))
        #expect(book.decide(Self.request(), Self.at(0)) == .allow)
    }

    @Test func `a lock ends what was said of items`() {
        var book = LeaseBook()
        book.refuse(Self.request(), Self.at(0))
        book.end()
        #expect(book.decide(Self.request(), Self.at(0)) == .ask(.untilLock))
    }

    @Test func `a process that cannot be named next time gets no lease`() {
        var book = LeaseBook()
        let request = Self.request(.process(ProcessName(process: 9, start: 9)))
        #expect(book.allow(request, for: .untilLock, Self.at(0)) == nil)
        #expect(book.decide(request, Self.at(0)) == .ask(.once), "what it cannot get is not offered")
        #expect(book.decide(Self.request(.gone), Self.at(0)) == .refuse(.gone))
    }

    @Test func `a tag's lease is for items that have it, as young as each of them wants`() {
        var book = LeaseBook()
        let tag = LeaseRequest(asker: Self.client(), target: .tag("work"), rule: .untilLock)
        book.allow(tag, for: .untilLock, Self.at(0))
        #expect(book.decide(Self.request(tags: ["a", "work"]), Self.at(0)) == .allow)
        #expect(book.decide(Self.request(tags: ["working"]), Self.at(0)) == .ask(.untilLock))
        #expect(book.decide(Self.request(.minutes(1), tags: ["work"]), Self.at(59_999)) == .allow)
        #expect(book.decide(Self.request(.minutes(1), tags: ["work"]), Self.at(60_000)) == .ask(.seconds(60)))
        #expect(book.decide(tag, Self.at(0)) == .ask(.untilLock), "asking for the lease itself is always asked")
    }

    @Test func `a no stands for the same question for a while, and for no other`() {
        var book = LeaseBook()
        book.refuse(Self.request(), Self.at(0))
        #expect(book.decide(Self.request(), Self.at(4_999)) == .refuse(.refusedBefore))
        #expect(book.decide(Self.request(Self.client(101)), Self.at(0)) == .ask(.untilLock))
        #expect(book.decide(Self.request(Self.client(), "other"), Self.at(0)) == .ask(.untilLock))
        #expect(book.decide(Self.request(), Self.at(5_000)) == .ask(.untilLock))
        book.refuse(Self.request(), Self.at(6_000))
        book.end()
        #expect(book.decide(Self.request(), Self.at(6_000)) == .ask(.untilLock))
    }

    @Test func `leases are revoked by number, which is never another's, or all at once`() throws {
        var book = LeaseBook()
        let firstLease = book.allow(Self.request(), for: .untilLock, Self.at(0))
        let first = try #require(firstLease)
        let secondLease = book.allow(Self.request(Self.client(), "other"), for: .untilLock, Self.at(0))
        let second = try #require(secondLease)
        #expect(book.revoke(first.number, Self.at(0)) == 1)
        #expect(book.revoke(first.number, Self.at(0)) == 0)
        #expect(book.decide(Self.request(), Self.at(0)) == .ask(.untilLock))
        let thirdLease = book.allow(Self.request(), for: .untilLock, Self.at(0))
        let third = try #require(thirdLease)
        #expect(Set([first.number, second.number, third.number]).count == 3)
        #expect(book.revoke(nil, Self.at(0)) == 2)
    }

    @Test func `leases and refusals do not grow without end`() {
        var book = LeaseBook()
        for number in 0..<1000 as Range<Int32> {
            book.allow(Self.request(Self.client(number)), for: .untilLock, Self.at(0))
            book.refuse(Self.request(Self.client(number), "other"), Self.at(0))
        }
        #expect(book.leases.count == LeaseBook.most)
        #expect(book.decide(Self.request(Self.client(999)), Self.at(0)) == .ask(.untilLock))
        book.allow(Self.request(Self.client(0)), for: .untilLock, Self.at(1))
        #expect(book.leases.count == LeaseBook.most, "the same one anew")
    }

    @Test(
        arguments: [
            ([], .never), (["ask"], .never), (["asking"], .never), (["Ask-Each-Time"], .eachTime),
            (["ask-mom"], .eachTime), (["ask-each"], .eachTime), (["Ask-Untill-Lock"], .eachTime),
            (["ask_each_time"], .eachTime), (["ask-until-lock", "ask-"], .eachTime), (["no-forwarding"], .never),
            (["ask-until-lock"], .untilLock), (["ask-every-10m"], .minutes(10)), (["ask-every-1440m"], .minutes(1440)),
            (["ask-every-1441m"], .eachTime), (["ask-every-0m"], .eachTime), (["ask-every-5h"], .eachTime),
            (["ask-every-"], .eachTime), (["ask-every-m"], .eachTime), (["ask-every--1m"], .eachTime),
            (["ask-every-+1m"], .eachTime), (["ask-every-99999999999999999999m"], .eachTime),
            (["ask-until-lock", "ask-every-5m", "ask-every-60m", "x"], .minutes(5)),
            (["ask-each-time", "ask-every-5m"], .eachTime), (["ask-until-lock", "ask-every-1440m"], .minutes(1440)),
        ] as [([String], AskRule)])
    func `the strictest tag says what is asked`(tags: [String], rule: AskRule) { #expect(AskRule(tags: tags) == rule) }
}
