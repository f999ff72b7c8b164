import Cryptography
import Foundation
import Items
import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultFormat
import VaultStorage

/// Weak, reused, old and breached passwords of a vault.
@Suite struct HealthTests {
    private static let day: Int64 = 86_400_000
    private static let strong = "r4!Vd0pX&uH2qZ8mLw"

    private func reasons(_ report: HealthReport, _ name: String) -> [HealthReport.Reason] {
        report.findings.filter { $0.entry.name == name }.map(\.reason)
    }

    @Test func `weak and reused passwords are found, and good ones are not`() throws {
        let home = try ItemHome()
        try home.items.add(home.login("ada", "hunter2"), as: "weak")
        try home.items.add(home.login("ada", Self.strong), as: "one")
        try home.items.add(home.login("bob", Self.strong), as: EntryPath(collection: "work", name: "two"))
        try home.items.add(home.login("eve", "Xk29!mMp0%sQe71f_a"), as: "good")
        let report = try home.items.health()
        #expect(report.entries == 4 && report.passwords == 4 && report.guarded == 0)
        #expect(report.findings.map(\.entry.name) == ["weak", "one", "two"])
        #expect(reasons(report, "weak") == [.weak(.weak)])
        #expect(reasons(report, "one") == [.reused(group: 0, entries: 2)])
        #expect(reasons(report, "two") == [.reused(group: 0, entries: 2)])
        #expect(report.findings.allSatisfy { $0.label == "password" })
        #expect(try home.items.health().findings == report.findings)
    }

    @Test func `groups are numbered by their first entries, and one entry alone reuses nothing`() throws {
        let home = try ItemHome()
        var twice = try home.login("ada", Self.strong)
        try twice.add(.secret, "old password", secret(Self.strong))
        try home.items.add(twice, as: "twice")
        #expect(try home.items.health().findings.isEmpty)
        for (name, number) in [("a", 1), ("b", 2), ("c", 1), ("d", 2), ("e", 2)] {
            try home.items.add(home.login("x", "\(Self.strong)\(number)"), as: name)
        }
        let report = try home.items.health()
        let groups = Dictionary(grouping: report.findings) { finding -> [Int] in
            guard case .reused(let group, let entries) = finding.reason else { return [] }
            return [group, entries]
        }
        #expect(
            groups.mapValues { $0.map(\.entry.name) }.values.sorted { $0.count < $1.count } == [
                ["a", "c"], ["b", "d", "e"],
            ])
        #expect(Set(groups.keys.map { $0[0] }) == [0, 1])
    }

    @Test func `what is called a password is looked at, and no other secret is`() throws {
        let home = try ItemHome()
        var card = try Item(.card)
        for label in ["number", "security code", "PIN"] { try card.add(.secret, label, secret("1234")) }
        try home.items.add(card, as: "card")
        var key = try Item(.sshKey)
        try key.add(.secret, "Passphrase", secret("1234"))
        try key.add(.secret, "private key", secret("1234"))
        try home.items.add(key, as: "key")
        var login = try Item(.login)
        try login.add(.secret, "Kennwort", secret("1234"))
        try home.items.add(login, as: "login")
        var empty = try Item(.login)
        try empty.add(.secret, "password", secret(""))
        try home.items.add(empty, as: "empty")
        var open = try Item(.note)
        try open.add(.text, "password", secret("1234"))
        try home.items.add(open, as: "open")
        try home.put(Array("1234".utf8), "plain")
        let report = try home.items.health()
        #expect(report.entries == 6 && report.passwords == 2)
        #expect(Set(report.findings.map(\.entry.name)) == ["key", "login"])
        #expect(Set(report.findings.map(\.label)) == ["Passphrase", "Kennwort"])
    }

    @Test func `age counts from the last change of the password, else from that of the item`() throws {
        let now: Int64 = 1_900_000_000_000
        func age(_ item: borrowing Item, after days: Int = 365) throws -> [HealthReport.Reason] {
            let check = try HealthCheck(HealthRule(oldAfterDays: days), now: now)
            try check.add(item, at: EntryPath(name: "x"))
            return try check.finish().findings.map(\.reason)
        }
        func item(_ modified: Int64) throws -> Item {
            var item = try Item(.login, now: modified)
            try item.add(.secret, "password", secret(Self.strong))
            return item
        }
        #expect(try age(item(now - 365 * Self.day)) == [.old(since: now - 365 * Self.day)])
        #expect(try age(item(now - 365 * Self.day + 1)).isEmpty)
        #expect(try age(item(now - 10 * Self.day), after: 10) == [.old(since: now - 10 * Self.day)])
        #expect(try age(item(now + 10 * Self.day)).isEmpty)
        #expect(try age(item(.max)).isEmpty)
        #expect(try age(item(.min)) == [.old(since: .min)])
        // The note was changed yesterday, the password long ago.
        var changed = try item(now - 900 * Self.day)
        let field = try changed.need("password")
        let next = Array((Self.strong + "2").utf8)
        try next.lend { try changed.set(field, bytes: $0, now: now - 500 * Self.day) }
        try changed.add(.text, "username", secret("ada"))
        let name = try changed.need("username")
        try Array("bob".utf8).lend { try changed.set(name, bytes: $0, now: now - Self.day) }
        #expect(try age(changed) == [.old(since: now - 500 * Self.day)])
    }

    @Test(arguments: ["ask-each-time", "ask-until-lock", "ask-every-10m", "Ask-sometimes", "ask_me"])
    func `entries that ask before use are left out and counted`(_ tag: String) throws {
        let home = try ItemHome()
        try home.items.add(home.login("ada", "1234"), as: "open")
        // As a program writes it that does not check.
        var guarded = try home.login("ada", "1234", tags: ["ask-each-time"])
        if tag != "ask-each-time" { guarded = try Self.retagged(guarded, tag) }
        try home.items.add(guarded, as: "guarded")
        let report = try home.items.health()
        #expect(report.guarded == 1 && report.entries == 1 && report.passwords == 1)
        #expect(report.findings.map(\.entry.name) == ["open"])
        #expect(reasons(report, "open") == [.weak(.veryWeak)])
    }

    /// The same item with another tag, written by its bytes.
    private static func retagged(_ item: borrowing Item, _ tag: String) throws -> Item {
        let bytes = item.withBytes { $0.array }
        let (old, new) = (Array("ask-each-time".utf8), Array(tag.utf8))
        let place = try #require(bytes.firstRange(of: old))
        var changed = Array(bytes[..<(place.lowerBound - 4)])
        changed += (0..<4).map { UInt8(truncatingIfNeeded: new.count >> (8 * $0)) }
        changed += new + bytes[place.upperBound...]
        return try Item.read(changed)
    }

    @Test func `only what is wanted is told, and reuse is known from everywhere`() throws {
        let home = try ItemHome()
        try home.items.add(home.login("ada", "hunter2"), as: "mine")
        try home.items.add(home.login("ada", "hunter2"), as: "other")
        let report = try home.items.health(where: { $0.name == "mine" })
        #expect(report.entries == 1 && report.passwords == 1)
        #expect(report.findings.map(\.reason) == [.weak(.weak), .reused(group: 0, entries: 2)])
        #expect(report.findings.allSatisfy { $0.entry.name == "mine" })
    }

    @Test func `a password in a list of breached ones is found, the worst first`() throws {
        let home = try ItemHome()
        let folder = try ScratchFolder("breaches")
        try home.items.add(home.login("ada", "password"), as: "bad")
        try home.items.add(home.login("ada", Self.strong), as: "good")
        // Well known: SHA-1 of "password".
        try Data("5BAA61E4C9B93F3F0682250B6CF8331B7EE68FD8:3730471\n".utf8)
            .write(to: URL(fileURLWithPath: folder["list"]))
        let list = try BreachList(folder["list"])
        var steps: [HealthProgress] = []
        let report = try home.items.health(against: list, progress: { steps.append($0) })
        #expect(report.findings.map(\.entry.name) == ["bad", "bad"])
        #expect(report.findings.map(\.reason) == [.breached(times: 3_730_471), .weak(.veryWeak)])
        #expect(
            steps == [
                .reading(done: 1, total: 2), .reading(done: 2, total: 2), .lookingUp(done: 0, total: 2),
                .lookingUp(done: 1, total: 2), .lookingUp(done: 2, total: 2),
            ])
        let wrong = try BreachList(folder.path)
        #expect(thrown(HealthError.self) { _ = try home.items.health(against: wrong) } == .list(.noRanges))
        try Data("\(String(repeating: "0", count: 35)):1\n".utf8).write(to: URL(fileURLWithPath: folder["5BAA6"]))
        let ranges = try home.items.health(against: BreachList(folder.path))
        #expect(ranges.withoutRange == 1 && ranges.findings.map(\.reason) == [.weak(.veryWeak)])
        try Data("5BAA61E4C9B93F3F0682250B6CF8331B7EE68FD8:rubbish\n".utf8)
            .write(to: URL(fileURLWithPath: folder["list"]))
        #expect(thrown(HealthError.self) { _ = try home.items.health(against: list) } == .list(.noCount(at: nil)))
    }

    @Test func `it is stopped from its progress, and by a lock of the vault in the middle`() throws {
        let home = try ItemHome()
        for number in 0..<20 { try home.items.add(home.login("ada", "p\(number)"), as: "item\(number)") }
        let stop = VaultError(.busy, "stopped")
        var steps = 0
        let stopped = thrown(HealthError.self) {
            _ = try home.items.health(
                progress: { step throws(VaultError) in
                    steps += 1
                    if case .reading(5, _) = step { throw stop }
                })
        }
        #expect(stopped == .vault(stop) && steps == 5)
        // The digests are gone with the lock, so the rest is no report.
        let check = try HealthCheck(HealthRule())
        try check.add(home.login("ada", "p1"), at: EntryPath(name: "x"))
        check.dropKeys()
        let item = try home.login("ada", "p1")
        #expect(errorCode { try check.add(item, at: EntryPath(name: "y")) } == .locked)
        #expect(thrown(HealthError.self) { _ = try check.finish() } == .vault(.locked))
        home.vault.lock(because: .ended)
        #expect(thrown(HealthError.self) { _ = try home.items.health() } == .vault(.locked))
    }

    @Test func `what is in the trash is not looked at, and a vault without passwords is well`() throws {
        let home = try ItemHome()
        #expect(try home.items.health().findings.isEmpty)
        try home.items.add(home.login("ada", "1234"), as: "gone")
        _ = try home.items.discard("gone", in: Vault.defaultCollection, for: .seconds(60))
        let report = try home.items.health()
        #expect(report.findings.isEmpty && report.passwords == 0)
    }
}
