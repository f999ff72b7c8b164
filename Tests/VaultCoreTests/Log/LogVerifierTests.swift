import Cryptography
import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultFormat

@testable import VaultCore
@testable import VaultLog

/// Logs of ours, verified by `scripts/holdfast_log_verify.py`, which shares no code with us.
@Suite(.enabled(if: Decryptor.python != nil, Decryptor.missing))
struct LogVerifierTests {
    private let home: TestHome
    private let vault: Vault
    private let phrase: RecoveryPhraseBox

    init() throws {
        home = try TestHome()
        phrase = try home.create()
        vault = try home.open()
        try vault.unlock("right")
    }

    /// The log's key, as an owner would export it.
    private func key() throws -> String {
        Hexadecimal.encode(try vault.exportSecurityLogKey(proof: ownersProof(vault)).withBytes { $0.array })
    }

    private func verify(_ arguments: String...) throws -> Decryptor.Result {
        try Decryptor.verifyLog(home.path, "--key-fd", key(), arguments.first ?? "entries")
    }

    /// What it finds, as ours is told.
    private func found() throws -> [String] {
        try verify().lines.compactMap { line in
            let words = line.split(separator: " ", maxSplits: 4)
            guard words.count > 3, words[1] == "at", words[2] == "entry" else { return nil }
            return "\(words[0])@\(words[3].dropLast())"
        }
    }

    @Test func readsEveryKindOfEntry() throws {
        let link = LogLink(chain: LogChain(bytes: pattern(16))!, first: 3)
        var run = LogRun(since: 1_000)
        run.add(.refused)
        let others: [SecurityEvent] = [
            .altered(LogAlteration(kind: .stateBehind, previous: nil, position: 7)), .missed(count: 3, since: 5),
            .runEnded(run), .fallbackUsed(.recoveryPhrase, .failed), .enrollmentChanged(.biometrics),
            .rekeyed(epoch: 4),
            .recovered(headerWasAltered: true), .wipeBegun(isDeliberate: false), .inboxMigrated(count: 2),
            .drill(passed: true), .rotated(previous: link), .policyChanged([.delays, .fallback]), .passcodeChanged,
            .confirmed, .unsettled(count: 2), .recoveryPhraseSet(isThere: false), .pinSet(isThere: true),
        ]
        let all =
            others + LogSelfDestruct.allCases.map { .selfDestruct($0) }
            + LogDeviceChange.allCases.map { .device($0, digest: pattern(32)) }
            + LogIdentityChange.allCases.map { .identity($0, digest: pattern(32)) }
            + LogLockReason.allCases.map { .locked($0) }
        for event in all { #expect(vault.log.append(event)) }
        for kind in UnprovenEvent.allCases { #expect(vault.log.append(kind)) }
        let result = try verify()
        // The one entry that says so was written by this test.
        #expect(result.status == 5 && result.errors == "")
        let theirs = try result.lines.filter { $0.hasPrefix("{") }.map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
        let ours = try vault.securityLog().entries
        #expect(theirs.map { $0["event"] as? String } == ours.map(\.event.name))
        #expect(theirs.map { $0["entry"] as? Int } == ours.map { Int($0.index) })
        #expect(theirs.map { $0["time"] as? Int } == ours.map { Int($0.moment.time) })
        let common = ["entry", "event", "time", "boot", "bootMilliseconds"]
        for (theirs, ours) in zip(theirs, ours) {
            let facts = theirs.filter { !common.contains($0.key) }.mapValues { "\($0)" }
            #expect(facts == Dictionary(uniqueKeysWithValues: ours.event.details.map { ($0.name, $0.value.asJSON) }))
        }
        #expect(theirs.map { $0["bootMilliseconds"] as? Int } == ours.map { Int($0.moment.bootMilliseconds) })
    }

    @Test func opensWithPasscodePhraseAndKey() throws {
        #expect(try verify().status == 0)
        #expect(try Decryptor.verifyLog(home.path, "--passcode-fd", "right").status == 0)
        let words = phrase.phrase.withText { String(decoding: $0.array, as: UTF8.self) }
        #expect(try Decryptor.verifyLog(home.path, "--phrase-fd", words).status == 0)
        #expect(try Decryptor.verifyLog(home.path, "--passcode-fd", "wrong").status == 3)
        let other = try Decryptor.verifyLog(home.path, "--key-fd", "01000000" + String(repeating: "07", count: 32))
        #expect(other.status == 5)
        #expect(try Decryptor.verifyLog(home.path, "--key-fd", "12").status == 1)
        #expect(try Decryptor.verifyLog(home.path + "-none", "--key-fd", key()).status == 6)
    }

    @Test func findsWhatWeFind() throws {
        vault.appendDrills(6)
        let good = LogFiles(of: home)
        let changes: [(String, (inout LogFiles) -> Void)] = [
            ("nothing", { _ in }),
            ("a byte", { $0["log"][$0.slot(3).lowerBound + 40] ^= 1 }),
            ("the last entry", { $0["log"][$0.slot(7).lowerBound + 40] ^= 1 }),
            ("an index", { $0["log"][$0.slot(3).lowerBound] ^= 1 }),
            ("a removed entry", { $0["log"].removeSubrange($0.slot(4)) }),
            ("a cut", { $0["log"].removeLast(200) }),
            ("a cut at an entry", { $0["log"].removeLast(2 * LogFormat.slotSize) }),
            ("added bytes", { $0["log"].insert(contentsOf: pattern(77), at: $0.slot(2).lowerBound) }),
            ("bytes behind", { $0["log"] += pattern(300) }),
            ("the front", { $0["log"][20] ^= 1 }),
            ("the state's key", { for offset in [70, 4166] { $0["log.state"][offset] ^= 1 } }),
            ("a torn entry", { $0["log"] += pattern(50) }),
        ]
        for (name, change) in changes {
            var files = good
            change(&files)
            try files.restore(to: home)
            #expect(try found() == vault.logFindings(), "\(name)")
            let isIntact = try vault.securityLog().isIntact
            #expect(try verify().status == (isIntact ? 0 : 5), "\(name)")
            // And once more when somebody has written on.
            vault.log.append(.drill(passed: true))
            #expect(try found() == vault.logFindings(), "\(name), written on")
        }
        try good.restore(to: home)
        try FileManager.default.removeItem(atPath: home.file("log"))
        #expect(try found() == vault.logFindings())
    }

    @Test func readsCopiesAndRestarts() throws {
        vault.appendDrills(3)
        let copy = try TestHome()
        _ = try vault.backup(to: copy.path)
        let status = try Decryptor.verifyLog(copy.path, "--passcode-fd", "right")
        #expect(status.status == 0 && status.text.contains("note: this vault is a copy"))
        let other = try copy.open()
        try other.unlock("right")
        let begun = try Decryptor.verifyLog(copy.path, "--passcode-fd", "right", "entries")
        #expect(begun.status == 0 && begun.text.contains("\"reason\": \"backup\""))

        try FileManager.default.removeItem(atPath: home.file("log.state"))
        #expect(try found() == vault.logFindings())
        vault.lock()
        try vault.unlock("right")
        #expect(try found() == ["restarted@0"])
        #expect(try vault.logFindings() == ["restarted@0"])
    }
}

extension SecurityEvent.Value {
    /// As the text of a value that `JSONSerialization` read.
    fileprivate var asJSON: String {
        switch self {
        case .number(let number): "\(number)"
        case .text(let text): text
        case .flag(let flag): flag ? "1" : "0"
        case .time(let time): "\(time)"
        case .list(let words): "\(words as [Any])"
        }
    }
}
