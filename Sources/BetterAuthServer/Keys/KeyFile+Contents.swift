internal import BetterAuthMessages
internal import Cryptography
internal import SecretMemory

// What is in the file, or sealed in it: a mark, the lineage's name (16) and generation (8, big-endian), then for each
// key its purpose (1), the moment of its first use (8, milliseconds, big-endian) and its scalar (32). A key of the
// audit log has its number in the place of a moment.
extension KeyFile {
    static let mark = Array("HOLDFAST SERVER KEYS 1\n".utf8)
    private static let headSize = mark.count + KeyLineage.size + 8
    private static let entrySize = 41

    /// What a schedule is for.
    private enum Purpose: UInt8 { case response = 1, access = 2, audit = 3 }

    func parse(
        _ contents: borrowing SecretBytes, _ responseLifetime: Int64, _ accessLifetime: Int64
    ) throws -> ServerKeys {
        let count = contents.count - KeyFile.headSize
        guard count > 0, count % KeyFile.entrySize == 0, count / KeyFile.entrySize <= KeyRoom.most else {
            throw Failure.damaged(name)
        }
        let isOurs = contents.withBytes { bytes in
            KeyFile.mark.indices.allSatisfy {
                unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) == KeyFile.mark[$0]
            }
        }
        guard isOurs else { throw Failure.damaged(name) }
        let head = contents.withBytes { bytes in
            unsafe bytes.extracting(KeyFile.mark.count..<KeyFile.headSize).withUnsafeBytes { unsafe Array($0) }
        }
        let generation = head[KeyLineage.size...].reduce(0) { $0 << 8 | UInt64($1) }
        guard let lineage = KeyLineage(name: Array(head[..<KeyLineage.size]), generation: generation) else {
            throw Failure.damaged(name)
        }
        var entries: [Purpose: [KeySchedule.Entry]] = [:]
        var audit: [AuditKey] = []
        for start in stride(from: KeyFile.headSize, to: contents.count, by: KeyFile.entrySize) {
            let (kind, moment) = contents.withBytes { bytes in
                unsafe (
                    bytes.unsafeLoad(fromByteOffset: start, as: UInt8.self),
                    Int64(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: start + 1, as: Int64.self))
                )
            }
            guard let purpose = Purpose(rawValue: kind), let usedFrom = Timestamp(milliseconds: moment) else {
                throw Failure.damaged(name)
            }
            let scalar = try contents.copy(start + 9..<start + KeyFile.entrySize)
            if purpose == .audit {
                audit.append(try AuditKey(scalar))
                continue
            }
            entries[purpose, default: []].append(
                KeySchedule.Entry(key: try ServerKey(scalar: scalar), usedFrom: usedFrom))
        }
        guard let response = KeySchedule(entries[.response] ?? [], lifetime: responseLifetime),
            let access = KeySchedule(entries[.access] ?? [], lifetime: accessLifetime)
        else { throw Failure.damaged(name) }
        return ServerKeys(response: response, access: access, lineage: lineage, audit: audit)
    }

    func contents(of keys: ServerKeys) throws -> SecretBytes {
        let schedules = keys.schedulesForKeeping
        let entries =
            schedules.response.entries.map { (Purpose.response, $0) } + schedules.access.entries.map { (.access, $0) }
        let lineage = keys.lineage
        let generation = stride(from: 56, through: 0, by: -8).map {
            UInt8(truncatingIfNeeded: lineage.generation >> UInt64($0))
        }
        let head = KeyFile.mark + lineage.name + generation
        let audit = keys.auditKeys
        let count = entries.count + audit.count
        // What would not be read again is not written over what is.
        guard count <= KeyRoom.most else { throw Failure.full(name) }
        var contents = try SecretBytes(zeroed: head.count + count * KeyFile.entrySize)
        try contents.withMutableBytes { bytes in
            for (index, byte) in head.enumerated() {
                bytes.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
            }
            func put(_ index: Int, _ purpose: Purpose, _ moment: Int64, _ secret: RawSpan) {
                let start = KeyFile.headSize + index * KeyFile.entrySize
                bytes.storeBytes(of: purpose.rawValue, toByteOffset: start, as: UInt8.self)
                bytes.storeBytes(of: moment.bigEndian, toByteOffset: start + 1, as: Int64.self)
                for offset in 0..<32 {
                    let byte = unsafe secret.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
                    bytes.storeBytes(of: byte, toByteOffset: start + 9 + offset, as: UInt8.self)
                }
            }
            for (index, (purpose, entry)) in entries.enumerated() {
                let scalar = try entry.key.scalar()
                scalar.withBytes { put(index, purpose, entry.usedFrom.milliseconds, $0) }
            }
            for (index, key) in audit.enumerated() {
                key.withBytes { put(entries.count + index, .audit, Int64(index), $0) }
            }
        }
        return contents
    }
}

/// The room of a file of keys. What writes one and what reads one both look here.
package enum KeyRoom {
    /// Keys that a file can have, of all purposes.
    static let most = 64
    /// Keys of the audit log that are kept.
    static let mostOfAudit = 16

    /// The shortest time in use, in seconds, after which keys can be rotated again and again, beside a whole audit
    /// log's keys.
    /// - Parameters:
    ///   - publishedSeconds: For which a key is published before it signs.
    ///   - lifetimes: Seconds for which what a key signed is valid, of each purpose.
    package static func shortestInterval(publishedSeconds: Int64, lifetimes: [Int64]) -> Int64 {
        func hasRoom(_ interval: Int64) -> Bool {
            // Of each purpose: those whose signatures are valid still, the one in use, and the one to come.
            let kept = lifetimes.map { ($0 + publishedSeconds) / (interval + publishedSeconds) + 2 }
            return kept.reduce(0, +) + Int64(mostOfAudit) <= Int64(most)
        }
        var (low, high) = (Int64(1), max(1, lifetimes.max() ?? 1))
        while low < high {
            let middle = (low + high) / 2
            if hasRoom(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
