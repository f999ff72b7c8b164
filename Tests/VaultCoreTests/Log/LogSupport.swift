import Cryptography
import Foundation
import SecretMemory
import Testing
import VaultFormat

@testable import VaultCore
@testable import VaultLog

/// The files of a log, to be put back and tampered with.
struct LogFiles {
    static let names = ["log", "log.old", "log.new", "log.state"]
    private var files: [String: [UInt8]] = [:]

    init(of home: TestHome) {
        for name in LogFiles.names { files[name] = try? home.bytes(name) }
    }

    /// Makes the log what it was.
    func restore(to home: TestHome, only: [String] = LogFiles.names) throws {
        for name in only {
            try? FileManager.default.removeItem(atPath: home.file(name))
            guard let bytes = files[name] else { continue }
            try Data(bytes).write(to: URL(fileURLWithPath: home.file(name)))
        }
    }

    subscript(name: String) -> [UInt8] {
        get { files[name] ?? [] }
        set { files[name] = newValue }
    }

    /// The bytes of one entry's slot in `log`, whose first entry is 0.
    func slot(_ index: Int) -> Range<Int> { (index + 1) * LogFormat.slotSize..<(index + 2) * LogFormat.slotSize }
}

extension Vault {
    /// Names of the log's events, oldest first.
    func logged() throws -> [String] { try securityLog().entries.map(\.event.name) }

    /// What was found wrong: kind and position.
    func logFindings() throws -> [String] { try securityLog().findings.map { "\($0.kind)@\($0.position)" } }

    func firstLogKey(_ front: LogFront) throws -> LogKey {
        try #require(try logKeys()[front.epoch]).first(of: front.chain)
    }

    func logKeys() throws -> LogKeys { try #require(gate.current).keys.logKeys() }

    /// Entries whose text tells them apart.
    func appendDrills(_ count: Int) { for number in 0..<count { log.append(.drill(passed: number % 2 == 0)) } }
}

extension TestHome {
    /// Adds entries with the keys of an unlocked vault and without flushing each, until the next one has this index.
    func fillLog(of vault: Vault, upTo next: UInt64) throws {
        let state = try #require(try LogStateFile.open(.creating, in: vault.home, vault: vault.log.vault))
        var now = try #require(state.state)
        let front = try #require(LogSegment.front(of: bytes("log")))
        var key = try vault.firstLogKey(front)
        let recipient = try #require(now.recipient).point
        let point = try unsafe P256PublicKey(compressed: recipient.span.bytes)
        try key.evolve(by: now.next)
        var log = try bytes("log")
        while now.next < next {
            let entry = LogEntry(moment: vault.log.now, event: .drill(passed: true))
            let slot = try key.seal(entry, at: now.next, vault: front.vault, chain: front.chain, to: point)
            log += slot
            now.tail = Array(slot.suffix(16))
            now.next += 1
            try key.evolve()
        }
        try write(log, to: "log")
        try state.write(now, key: key)
    }
}
