package import VaultFormat

/// A member as a roster has it.
package struct MemberRecord: Sendable, Hashable {
    package static let keySize = 33
    static let size = SyncMemberID.size + 2 * keySize + 2 + 1 + SyncLimits.name

    /// Derived from both keys, which cryptography checks.
    package let id: SyncMemberID
    /// Verifies what it signs: a compressed point of P-256.
    package let signingKey: [UInt8]
    /// Boxes are sealed to it: a compressed point of P-256.
    package let boxKey: [UInt8]
    /// The highest version that it reads.
    package let format: UInt16
    /// What its user calls it: 1 to 64 bytes without control characters.
    package let name: String

    /// - Throws: ``FormatError/invalid(field:)``.
    package init(
        id: SyncMemberID, signingKey: [UInt8], boxKey: [UInt8], format: UInt16, name: String
    ) throws(FormatError) {
        (self.id, self.signingKey, self.boxKey) = (id, signingKey, boxKey)
        (self.format, self.name) = (format, name)
        for key in [signingKey, boxKey] {
            guard key.count == Self.keySize, key[0] == 2 || key[0] == 3 else { throw .invalid(field: "member key") }
        }
        guard format > 0 else { throw .invalid(field: "member format") }
        let bytes = Array(name.utf8)
        guard unsafe ItemValue.isLabel(bytes.span.bytes, limit: SyncLimits.name) else {
            throw .invalid(field: "member name")
        }
    }

    init(parsing bytes: RawSpan, _ offset: inout Int) throws(FormatError) {
        let id = try bytes.nextID(SyncMember.self, &offset)
        let signingKey = try bytes.nextCopy(Self.keySize, &offset)
        let boxKey = try bytes.nextCopy(Self.keySize, &offset)
        let format = try bytes.next(UInt16.self, &offset)
        let name = try bytes.nextName(&offset)
        try self.init(id: id, signingKey: signingKey, boxKey: boxKey, format: format, name: name)
    }

    func write(into bytes: inout MutableRawSpan, _ offset: inout Int) {
        bytes.put(id.bytes, &offset)
        bytes.put(signingKey, &offset)
        bytes.put(boxKey, &offset)
        bytes.put(format, &offset)
        bytes.putName(name, &offset)
    }
}

extension RawSpan {
    /// A name: its size, and 64 bytes that end in zeros.
    func nextName(_ offset: inout Int) throws(FormatError) -> String {
        let size = Int(try next(UInt8.self, &offset))
        let field = extracting(try next(SyncLimits.name, &offset))
        guard size <= SyncLimits.name, field.extracting(0..<size).isUTF8 else { throw .invalid(field: "member name") }
        try field.expectZeros(from: size, "member name")
        return field.text(0..<size)
    }
}

extension MutableRawSpan {
    mutating func putName(_ name: String, _ offset: inout Int) {
        let bytes = Array(name.utf8.prefix(SyncLimits.name))
        put(UInt8(bytes.count), &offset)
        put(bytes + [UInt8](repeating: 0, count: SyncLimits.name - bytes.count), &offset)
    }
}

/// What counts of a removed member: of one of its streams everything up to a head, or nothing of it at all.
package struct RemovedRecord: Sendable, Hashable, Comparable {
    static let size = SyncMemberID.size + StreamHead.size

    package let member: SyncMemberID
    /// The last entry that counts; nil where none does.
    package let last: StreamHead?

    package init(_ member: SyncMemberID, last: StreamHead?) { (self.member, self.last) = (member, last) }

    init(parsing bytes: RawSpan, _ offset: inout Int) throws(FormatError) {
        member = try bytes.nextID(SyncMember.self, &offset)
        let head = try bytes.nextHead(&offset)
        let isNone = head.stream == .none && head.number == 0 && head.hash.isZero
        guard isNone || head.isPossible else { throw .invalid(field: "roster removed") }
        last = isNone ? nil : head
    }

    func write(into bytes: inout MutableRawSpan, _ offset: inout Int) {
        bytes.put(member.bytes, &offset)
        let none = StreamHead(stream: .none, number: 0, hash: [UInt8](repeating: 0, count: EntryFront.hashSize))
        bytes.put(last ?? none, &offset)
    }

    package static func < (left: Self, right: Self) -> Bool {
        (left.member, left.last?.stream ?? .none) < (right.member, right.last?.stream ?? .none)
    }
}
