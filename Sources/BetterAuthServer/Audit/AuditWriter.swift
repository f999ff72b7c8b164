internal import BetterAuthMessages
internal import SystemCalls

/// Writes chains of lines into the audit log's file. Used by one thread at a time.
///
/// A chain whose lines could not be written is not continued: what is on the disk is not known. Another one begins, and
/// says how many lines the one before had.
struct AuditWriter: ~Copyable {
    private let path: String
    private var key: AuditKey
    private var file: AuditFile?
    private var chain: AuditChain?
    /// The chain that a new one continues, as its first line says.
    private var continued = ""

    /// - Throws: ``SystemError`` for a file that cannot be opened; what is wrong with the key.
    init(_ path: String, _ key: AuditKey, now: Timestamp) throws {
        self.path = path
        self.key = key
        try write([], lost: 0, now: now)
    }

    /// Adds entries; nothing is kept of a failure but that the next line begins another chain.
    /// - Parameter lost: Entries that were not written and never will be.
    mutating func write(_ entries: [AuditEntry], lost: Int, now: Timestamp) throws {
        do { try add(entries, lost, isLast: false, now) } catch {
            abandon()
            throw error
        }
    }

    /// Ends the chain and the use of the file: what follows goes into the file that then has the name.
    mutating func close(now: Timestamp) throws {
        defer { abandon() }
        try add([], 0, isLast: true, now)
        file = nil
    }

    /// The lines to come are of another key.
    mutating func adopt(_ other: AuditKey, now: Timestamp) throws {
        guard other.name != key.name else { return }
        try? close(now: now)
        key = other
        try write([], lost: 0, now: now)
    }

    private mutating func abandon() {
        if let id = chain?.id, let next = chain?.next {
            continued = #","continues":"\#(id)","lines":\#(next)"#
        }
        chain = nil
        file = nil
    }

    private mutating func add(_ entries: [AuditEntry], _ lost: Int, isLast: Bool, _ now: Timestamp) throws {
        if file == nil { file = try AuditFile(path) }
        // Advanced beside the chain, which stays as it is on the disk until the lines are there.
        let isNew: Bool
        var next: AuditChain
        if let begun = try chain?.copy() {
            next = begun
            isNew = false
        } else {
            next = try AuditChain(key)
            isNew = true
        }
        let (key, continued) = (key, continued)
        try file?.append(&next) { last, next in
            var bytes: [UInt8] = []
            func add(_ members: String, _ moment: Timestamp) throws {
                let text = AuditLine.text(chain: next.id, place: next.next, moment, members)
                bytes += AuditLine.whole(text, tag: try next.tag(text))
                try next.advance()
            }
            if isNew {
                let after = last.map { #","after":"\#($0.tag)""# } ?? ""
                try add(
                    #","operation":"begin","key":"\#(key.name)","process":\#(getpid())\#(after)\#(continued)"#, now)
            }
            if lost > 0 { try add(#","operation":"lost","entries":\#(lost)"#, now) }
            for entry in entries { try add(entry.members(key), entry.moment) }
            if isLast { try add(#","operation":"end""#, now) }
            return bytes
        }
        chain = consume next
        if isNew { self.continued = "" }
    }
}
