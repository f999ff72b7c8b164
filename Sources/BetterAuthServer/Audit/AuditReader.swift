internal import Cryptography
internal import SecretMemory
internal import SystemCalls

/// Reads an audit log, and proves it. What is not ours is told, and never trusted.
package struct AuditReader {
    /// One line of it.
    package struct Record: Sendable {
        /// As it stands there.
        package let text: String
        package let members: [String: String]
        /// Its proof.
        package let tag: String
        /// Whether it stands as it was written, at its place.
        package let isProved: Bool
    }

    /// What is known of a chain while its lines come.
    private final class State {
        var chain: AuditChain
        let index: Int

        init(_ chain: consuming AuditChain, _ index: Int) {
            self.chain = chain
            self.index = index
        }
    }

    /// Most chains that are followed at once: each has a key in locked memory.
    private static let mostChains = 4096
    private static let block = 1 << 20

    private let keys: [AuditKey]
    private var states: [String: State] = [:]
    private var indices: [String: Int] = [:]
    private var report = AuditReport()
    private var lastTag: String?
    /// Places that may still be skipped, in all: a line that a stranger wrote says any number.
    private var skips: UInt64 = 10_000_000

    /// - Parameter keys: Those that the log may have been written with.
    package init(_ keys: [AuditKey]) { self.keys = keys }

    /// Why a file cannot be read to its end.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// What stands in the place of an identity, under each of the keys.
    /// - Throws: ``Cryptography/CryptographyError``.
    package func digests(of identity: String) throws -> Set<String> {
        Set(try keys.map { try $0.digest(of: identity) })
    }

    /// Reads the whole file.
    /// - Parameter take: Given each line of the log's form, in order.
    /// - Throws: ``Failure``; what `take` throws.
    package mutating func read(_ path: String, _ take: (Record) throws -> Void = { _ in }) throws -> AuditReport {
        let file: OwnedDescriptor
        do throws(SystemError) { file = try OwnedDescriptor(path, O_RDONLY | O_NONBLOCK) } catch {
            throw Failure(description: "\(path): \(error)")
        }
        var rest: [UInt8] = []
        while true {
            let more: [UInt8]
            do throws(SystemError) { more = try file.readPrefix(AuditReader.block) } catch {
                throw Failure(description: "\(path): \(error)")
            }
            var start = 0
            let bytes = rest + more
            while let end = bytes[start...].firstIndex(of: 0x0A) {
                try add(bytes[start..<end], take)
                start = end + 1
            }
            // A line that is too long is told once, whatever its length; of its bytes no more than these are kept.
            rest = Array(bytes[start...].prefix(AuditLine.longest + 1))
            if more.isEmpty { break }
        }
        if !rest.isEmpty {
            report.lines += 1
            report.add(.broken, at: report.lines)
        }
        if report.lines == 0 { report.add(.empty, at: 0) }
        return report
    }

    private mutating func add(_ bytes: ArraySlice<UInt8>, _ take: (Record) throws -> Void) throws {
        report.lines += 1
        guard let line = AuditLine(bytes), let members = line.members else {
            report.add(.broken, at: report.lines)
            return
        }
        let isProved = try prove(line, members)
        lastTag = line.tag
        try take(
            Record(text: String(decoding: bytes, as: UTF8.self), members: members, tag: line.tag, isProved: isProved))
    }

    /// Whether a line stands as it was written, at its place. The line behind a gap is.
    private mutating func prove(_ line: AuditLine, _ members: [String: String]) throws -> Bool {
        if indices[line.chain] == nil, try !begin(line, members) {
            report.add(.unknownKey(chain: line.chain), at: report.lines)
            return false
        }
        guard let state = states[line.chain], let index = indices[line.chain] else {
            report.add(.afterEnd(chain: line.chain), at: report.lines)
            return false
        }
        let expected = state.chain.next
        guard line.place >= expected else {
            report.add(.moved(chain: line.chain, place: line.place), at: report.lines)
            return false
        }
        // On a copy: a line that was not written at that place must not lead past those that were.
        var ahead = try state.chain.copy()
        guard try skip(&ahead, to: line.place) else {
            report.add(.changed(chain: line.chain, place: line.place), at: report.lines)
            return false
        }
        guard try isTag(line.tag, ahead.tag(line.text)) else {
            report.add(.changed(chain: line.chain, place: line.place), at: report.lines)
            // A changed line takes its own place, so that the next one is not called missing.
            if line.place == expected { try pass(state, index, line) }
            return false
        }
        if line.place > expected {
            report.add(.missing(chain: line.chain, first: expected, last: line.place - 1), at: report.lines)
        }
        state.chain = ahead
        try pass(state, index, line)
        look(at: members, of: line, index)
        return true
    }

    private mutating func pass(_ state: State, _ index: Int, _ line: AuditLine) throws {
        try state.chain.advance()
        report.chains[index].lines = state.chain.next
        report.chains[index].lastTag = line.tag
    }

    /// What a proved line says about the log itself.
    private mutating func look(at members: [String: String], of line: AuditLine, _ index: Int) {
        switch members["operation"] {
        case "begin":
            if let after = members["after"], after != lastTag {
                if report.lines == 1 {
                    report.continuesEarlier = true
                } else {
                    report.add(.unlinked(chain: line.chain), at: report.lines)
                }
            } else if members["after"] == nil, lastTag != nil {
                report.add(.unlinked(chain: line.chain), at: report.lines)
            }
            guard let earlier = members["continues"] else { return }
            guard let before = indices[earlier] else {
                report.continuesEarlier = true
                return
            }
            if let lines = members["lines"].flatMap({ UInt64($0) }) {
                // A chain that failed has no end: the one that continues it says how long it was.
                if report.chains[before].lines < lines {
                    report.add(.shortened(chain: earlier, lines: lines), at: report.lines)
                }
                report.chains[before].isEnded = true
                states[earlier] = nil
            }
        case "lost": report.lost += members["entries"].flatMap { Int($0) } ?? 0
        case "end":
            report.chains[index].isEnded = true
            states[line.chain] = nil
        default: break
        }
    }

    /// Follows a chain from its first line on; of one whose beginning is missing, from the first line that a key
    /// proves.
    private mutating func begin(_ line: AuditLine, _ members: [String: String]) throws -> Bool {
        guard states.count < AuditReader.mostChains else {
            throw Failure(description: "too many chains without an end; split the file at lines that say begin")
        }
        let named = line.place == 0 ? keys.filter { $0.name == members["key"] } : []
        for key in named + keys {
            var chain = try AuditChain(key, id: line.chain)
            guard try skip(&chain, to: line.place) else { return false }
            guard try isTag(line.tag, chain.tag(line.text)) || named.contains(where: { $0 === key }) else { continue }
            indices[line.chain] = report.chains.count
            states[line.chain] = State(try AuditChain(key, id: line.chain), report.chains.count)
            report.chains.append(.init(id: line.chain, lines: 0, lastTag: line.tag))
            return true
        }
        return false
    }

    /// Goes to a later place; false when that is too far.
    private mutating func skip(_ chain: inout AuditChain, to place: UInt64) throws -> Bool {
        guard place - chain.next <= skips else { return false }
        skips -= place - chain.next
        while chain.next < place { try chain.advance() }
        return true
    }

    private func isTag(_ given: String, _ own: String) -> Bool {
        let (given, own) = (Array(given.utf8), Array(own.utf8))
        return unsafe constantTimeEquals(given.span.bytes, own.span.bytes)
    }
}
