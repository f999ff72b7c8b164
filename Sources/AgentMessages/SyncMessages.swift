internal import SyncFormat

/// About the sync between the user's devices.
package enum SyncRequest: RequestArea {
    /// Do a round over all roads, and send what is known then.
    case now
    /// Send what is known, without a round.
    case status

    package enum Kind: UInt8, CaseIterable {
        case now = 54, status = 55
    }

    init(_ kind: Kind, _ cursor: inout Cursor, _ body: RawSpan) throws(MessageError) {
        switch kind {
        case .now: self = .now
        case .status: self = .status
        }
    }

    func write(_ writer: inout Writer) -> Kind {
        switch self {
        case .now: .now
        case .status: .status
        }
    }

    var request: Request { .sync(self) }
}

/// How much of a ``SyncFormat/SyncStatus`` one message has: all of it, but for long lists of hitches.
enum SyncStatusLimits {
    /// The words that two devices compare.
    static let words = 4
    static let wordSizes = 1...16
    static let hitchSizes = 1...512
    /// Bytes of a road's hitches, with their lengths. With these limits the whole status fits into one body.
    static let hitches = 4096
    /// A problem may have a folder's path in it.
    static let problemSizes = 1...5120

    /// As many hitches as a message has, and how many more there are.
    static func cut(_ hitches: [String]) -> [String] {
        let texts = hitches.filter { !$0.isEmpty }.map { Writer.prefix(of: $0, hitchSizes.upperBound) }
        func size(_ text: String) -> Int { 2 + text.utf8.count }
        var rest = texts.reduce(0) { $0 + size($1) } - Self.hitches
        guard rest > 0 else { return texts }
        rest += size(more(texts.count))
        var count = texts.count
        while count > 0, rest > 0 {
            count -= 1
            rest -= size(texts[count])
        }
        return texts[..<count] + [more(texts.count - count)]
    }

    private static func more(_ count: Int) -> String { "and \(count) more" }
}

extension SyncStatus {
    init(_ cursor: inout Cursor, _ bytes: RawSpan) throws(MessageError) {
        var members: [Member] = []
        for _ in 0..<(try cursor.count(bytes, 1...SyncLimits.members, "members")) {
            members.append(try Member(&cursor, bytes))
        }
        var words: [String] = []
        for _ in 0..<(try cursor.count(bytes, 0...SyncStatusLimits.words, "words")) {
            words.append(try cursor.text(bytes, SyncStatusLimits.wordSizes, "word"))
        }
        var roads: [Road] = []
        for _ in 0..<(try cursor.count(bytes, 0...SyncLimits.roads, "roads")) {
            roads.append(try Road(&cursor, bytes))
        }
        self.init(members: members, words: words, roads: roads)
    }

    func write(_ writer: inout Writer) {
        writer.list(members, atMost: SyncLimits.members) { $1.write(&$0) }
        writer.list(words, atMost: SyncStatusLimits.words) {
            $0.text($1, atMost: SyncStatusLimits.wordSizes.upperBound)
        }
        writer.list(roads, atMost: SyncLimits.roads) { $1.write(&$0) }
    }
}

extension SyncStatus.Member {
    fileprivate init(_ cursor: inout Cursor, _ bytes: RawSpan) throws(MessageError) {
        var id: [UInt8] = []
        for _ in 0..<SyncMemberID.size { id.append(try cursor.integer(bytes, UInt8.self)) }
        guard let id = SyncMemberID(id) else { throw .invalid(field: "member") }
        let name = try cursor.text(bytes, 1...SyncLimits.name, "member")
        self.init(id, name: name, isThisDevice: try cursor.flag(bytes, "flags"))
    }

    fileprivate func write(_ writer: inout Writer) {
        for byte in id.bytes { writer.integer(byte) }
        writer.text(name, atMost: SyncLimits.name)
        writer.flag(isThisDevice)
    }
}

extension SyncStatus.Road {
    fileprivate init(_ cursor: inout Cursor, _ bytes: RawSpan) throws(MessageError) {
        self.init(path: try cursor.text(bytes, 1...SyncLimits.path, "path"))
        given = try cursor.integer(bytes, UInt64.self)
        taken = try cursor.integer(bytes, UInt64.self)
        published = try cursor.integer(bytes, UInt64.self)
        var size = 0
        for _ in 0..<(try cursor.count(bytes, 0...SyncStatusLimits.hitches, "hitches")) {
            let hitch = try cursor.text(bytes, SyncStatusLimits.hitchSizes, "hitch")
            size += 2 + hitch.utf8.count
            guard size <= SyncStatusLimits.hitches else { throw .invalid(field: "hitches") }
            hitches.append(hitch)
        }
        problem = try cursor.optionalText(bytes, SyncStatusLimits.problemSizes, "problem")
        time = try cursor.optional(bytes, UInt64.self, "time").map { Int64(bitPattern: $0) }
    }

    fileprivate func write(_ writer: inout Writer) {
        writer.text(path, atMost: SyncLimits.path)
        writer.integer(given)
        writer.integer(taken)
        writer.integer(published)
        let hitches = SyncStatusLimits.cut(hitches)
        writer.list(hitches, atMost: hitches.count) { $0.text($1, atMost: SyncStatusLimits.hitchSizes.upperBound) }
        // An empty one would say that there is none.
        writer.optionalText(
            problem.map { $0.isEmpty ? "?" : $0 }, atMost: SyncStatusLimits.problemSizes.upperBound)
        writer.optional(time.map { UInt64(bitPattern: $0) })
    }
}
