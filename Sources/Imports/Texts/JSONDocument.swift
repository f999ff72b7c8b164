package import SecretMemory
internal import VaultFormat

/// A JSON text (RFC 8259) in locked memory, and where its values are. No value becomes a `String` but keys.
///
/// Strict: UTF-8, no key twice in an object, limits on size, depth and what its values take. A byte order mark is
/// passed over, and half of a character beyond the basic plane is U+FFFD: programs cut texts there. It remembers which
/// values were read, so that what nobody read can be listed (``unread(in:except:)``).
package struct JSONDocument: ~Copyable {
    private let bytes: SecretBytes
    package let root: JSONNode
    /// Bytes of memory that it takes, with its values and what was there beside it.
    let size: Int

    /// - Parameter other: What a document takes that this one was in, and that is still there.
    /// - Throws: ``ImportError`` with the line.
    package init(_ bytes: consuming SecretBytes, beside other: Int = 0) throws(ImportError) {
        (root, size) = try bytes.withBytes { bytes throws(ImportError) in
            var reader = JSONNodeReader(end: bytes.byteCount, beside: other)
            return (try reader.document(bytes), reader.budget.spent)
        }
        self.bytes = bytes
    }

    /// The value of a string, its escapes decoded; nil for anything else.
    package func string(_ node: JSONNode?) throws(ImportError) -> SecretBytes? {
        try withString(node) { value throws(ImportError) in try memory(SecretBytes(copying: value)) }
    }

    /// Lends the value of a string to ``body``: as ``string(_:)``, but without a copy where it has no escapes.
    func withString<R: ~Copyable>(
        _ node: JSONNode?, _ body: (RawSpan) throws(ImportError) -> R
    ) throws(ImportError) -> R? {
        guard let node, case .string(let range, let hasEscapes) = node.value else { return nil }
        node.markRead()
        return try bytes.withBytes { bytes throws(ImportError) in
            guard hasEscapes else { return try body(bytes.extracting(range)) }
            return try JSONNodeReader.decode(range, bytes).withBytes(body)
        }
    }

    /// As ``string(_:)``, for what is no secret: a title, a label, a name for something.
    /// - Throws: `tooLarge` for more than an entry can hold: what is made of such a text has its size several times.
    package func text(_ node: JSONNode?) throws(ImportError) -> String? {
        if let node, case .string(let range, _) = node.value, range.count > ItemLimits.size {
            throw ImportError(.tooLarge, "line \(node.line)", "a name has more than \(ItemLimits.size >> 20) MiB")
        }
        return try string(node)?.openText()
    }

    /// A whole number; nil for anything else.
    func integer(_ node: JSONNode?) -> Int? {
        guard let node, case .number(let range) = node.value else { return nil }
        let number = bytes.withBytes { Int($0.openText(range)) }
        if number != nil { node.markRead() }
        return number
    }

    /// The values below a node that say something and that nobody read: the keys on the way to each, with points
    /// between; each once, without the numbers of elements.
    /// - Parameter meaningless: Paths of values, and of what is below them, that say nothing outside of their program.
    func unread(in node: JSONNode, except meaningless: Set<String>) -> [String] {
        var found: [String] = []
        var known: Set<String> = []
        visitUnread(in: node, except: meaningless) { path, _ in
            guard found.count <= JSONDocument.mostUnread, known.insert(path).inserted else { return }
            found.append(found.count < JSONDocument.mostUnread ? path : "(this and what follows is not listed)")
        }
        return found
    }

    /// Paths that are listed of a node.
    private static let mostUnread = 1000

    private func visitUnread(in node: JSONNode, except meaningless: Set<String>, _ visit: (String, JSONNode) -> Void) {
        bytes.withBytes { bytes in node.visitUnread("", meaningless, bytes, visit) }
    }

    /// A time as other programs write it. One that is not understood is noted with its entry.
    func time(_ node: JSONNode?, of item: ImportedItem?) throws(ImportError) -> Int64? {
        guard let text = try text(node), !text.isEmpty else { return nil }
        let time = ForeignTime.milliseconds(text)
        if time == nil { item?.note(.leftOut, "a time that is not understood") }
        return time
    }

    /// Notes the values of an entry that nobody read (``unread(in:except:)``).
    func noteUnread(in node: JSONNode, of item: ImportedItem, except meaningless: Set<String>) {
        if node.hasHalves(except: []) { item.note(.changed, JSONDocument.half) }
        for path in unread(in: node, except: meaningless) { item.note(.leftOut, "the member \(path)") }
    }

    /// Notes the values that nobody read, of what is of no entry.
    /// - Parameter place: Where it is, for people; with the path of the entry that stands for it.
    func noteUnread(
        in node: JSONNode, except listed: Set<String>, entry: String = "", place: String = "",
        into result: inout Imported
    ) {
        if node.hasHalves(except: listed) { result.note(.changed, JSONDocument.half, entry: entry, place: place) }
        for path in unread(in: node, except: listed) {
            result.note(.leftOut, "the member \(path)", entry: entry, place: place)
        }
    }

    private static let half = "half of a character, which is U+FFFD now"

    /// Adds the values that nobody read to an entry of a kind that is not known, as secrets that are called by the keys
    /// on the way to them.
    func addUnread(in node: JSONNode, to item: ImportedItem, except meaningless: Set<String>) throws(ImportError) {
        var found: [(String, JSONNode)] = []
        visitUnread(in: node, except: meaningless) { path, node in
            // With one more there is no room, which is said.
            if found.count <= ItemLimits.fields { found.append((path, node)) }
        }
        for (path, node) in found {
            switch node.value {
            case .number(let range):
                try bytes.withBytes { bytes throws(ImportError) in
                    try item.add(.secret, path, bytes: bytes.extracting(range))
                }
            case .boolean(let value): try item.add(.secret, path, text: "\(value)")
            default: if let value = try string(node) { try item.add(.secret, path, value) }
            }
            node.markRead()
        }
    }
}

/// Which values of a document were read.
private final class JSONMarks: @unchecked Sendable {  // a document is read by one thread
    private var words: [UInt64] = []
    /// Strings that have half of a character.
    var halves: Set<UInt32> = []

    subscript(id: UInt32) -> Bool {
        get { Int(id >> 6) < words.count && words[Int(id >> 6)] >> UInt64(id & 63) & 1 == 1 }
        set {
            while words.count <= Int(id >> 6) { words.append(0) }
            words[Int(id >> 6)] |= 1 << UInt64(id & 63)
        }
    }
}

/// A value of a JSON text.
package struct JSONNode: Sendable {
    indirect enum Value: Sendable {
        case object([(key: String, value: JSONNode)])
        case array([JSONNode])
        case string(Range<Int>, hasEscapes: Bool)
        case number(Range<Int>)
        case boolean(Bool)
        case null
    }

    let value: Value
    private let lineNumber, id: UInt32
    private let marks: JSONMarks

    fileprivate init(_ value: Value, line: Int, id: UInt32, _ marks: JSONMarks) {
        (self.value, lineNumber, self.id, self.marks) = (value, UInt32(line), id, marks)
    }

    var line: Int { Int(lineNumber) }

    /// Whether a string in it, or the key of a value, has half of a character, but for what is below some paths.
    fileprivate func hasHalves(_ path: String = "", except listed: Set<String>) -> Bool {
        guard !marks.halves.isEmpty, !listed.contains(path) else { return false }
        if marks.halves.contains(id) { return true }
        return switch value {
        case .object(let members):
            members.contains { key, value in
                value.hasHalves(listed.isEmpty || path.isEmpty ? key : "\(path).\(key)", except: listed)
            }
        case .array(let elements): elements.contains { $0.hasHalves(path, except: listed) }
        default: false
        }
    }

    /// What follows from it was taken over, or it was listed.
    func markRead() { marks[id] = true }

    package subscript(key: String) -> JSONNode? {
        guard case .object(let members) = value else { return nil }
        return members.first { $0.key == key }?.value
    }

    var elements: [JSONNode]? {
        guard case .array(let elements) = value else { return nil }
        return elements
    }

    var members: [(key: String, value: JSONNode)] {
        guard case .object(let members) = value else { return [] }
        return members
    }

    var isTrue: Bool {
        guard case .boolean(let value) = value else { return false }
        markRead()
        return value
    }

    /// Whether it says nothing: null, false, or no element.
    var isEmpty: Bool {
        switch value {
        case .null, .boolean(false): true
        case .array(let elements): elements.isEmpty
        case .object(let members): members.isEmpty
        case .string(let range, _): range.isEmpty
        default: false
        }
    }

    fileprivate func visitUnread(
        _ path: String, _ meaningless: Set<String>, _ bytes: RawSpan, _ visit: (String, JSONNode) -> Void
    ) {
        guard !isEmpty, !marks[id], !meaningless.contains(path) else { return }
        switch value {
        case .object(let members):
            for (key, value) in members {
                let key = String(key.unicodeScalars.prefix(64))
                value.visitUnread(path.isEmpty ? key : "\(path).\(key)", meaningless, bytes, visit)
            }
        case .array(let elements): for element in elements { element.visitUnread(path, meaningless, bytes, visit) }
        case .number(let range): if !bytes.equals("0", range) { visit(path, self) }
        default: visit(path, self)
        }
    }
}

struct JSONNodeReader {
    private let end: Int
    private var position = 0
    private var line = 1
    private(set) var budget: ImportBudget
    private let marks = JSONMarks()
    private var count: UInt32 = 0
    /// Whether the string that was read last has half of a character.
    private var hasHalf = false

    init(end: Int, beside other: Int = 0) {
        self.end = end
        budget = ImportBudget(spent: other + end)
    }

    /// A value: its place, and what it is, each case in an object of its own.
    private static let nodeSize =
        ImportBudget.element(JSONNode.self) + ImportBudget.object(MemoryLayout<Range<Int>>.size + 1)
    /// A member beside its value; and its key, as long as the object is read.
    private static let memberSize =
        ImportBudget.element((String, JSONNode).self) - ImportBudget.element(JSONNode.self)
    private static let keySize = ImportBudget.element(String.self)

    mutating func document(_ bytes: RawSpan) throws(ImportError) -> JSONNode {
        guard end <= ImportLimits.expanded else { throw ImportError(.tooLarge, "", "the text is too long") }
        guard bytes.isUTF8 else { throw ImportError(.malformed, "", "the text is not UTF-8") }
        if bytes.begins(with: "\u{FEFF}") { position = 3 }
        let value = try value(bytes, depth: 0)
        skipSpace(bytes)
        guard position == end else { throw fault("something follows the JSON text") }
        return value
    }

    private func fault(_ what: String) -> ImportError { ImportError(.malformed, "line \(line)", what) }

    private mutating func skipSpace(_ bytes: RawSpan) {
        while position < end {
            switch bytes[position] {
            case UInt8(ascii: "\n"): line += 1
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): break
            default: return
            }
            position += 1
        }
    }

    private mutating func consume(_ byte: UInt8, _ bytes: RawSpan) -> Bool {
        skipSpace(bytes)
        guard position < end, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func value(_ bytes: RawSpan, depth: Int) throws(ImportError) -> JSONNode {
        skipSpace(bytes)
        guard position < end else { throw fault("the text ends in the middle") }
        guard depth < ImportLimits.depth else {
            throw ImportError(.tooLarge, "line \(line)", "values are too deep in each other")
        }
        try budget.charge(bytes: JSONNodeReader.nodeSize, line: line)
        let start = line
        let value: JSONNode.Value
        var isHalf = false
        switch bytes[position] {
        case UInt8(ascii: "{"): value = try object(bytes, depth)
        case UInt8(ascii: "["): value = try array(bytes, depth)
        case UInt8(ascii: "\""):
            let (range, hasEscapes) = try string(bytes)
            value = .string(range, hasEscapes: hasEscapes)
            isHalf = hasHalf
        case UInt8(ascii: "t"): value = try word("true", .boolean(true), bytes)
        case UInt8(ascii: "f"): value = try word("false", .boolean(false), bytes)
        case UInt8(ascii: "n"): value = try word("null", .null, bytes)
        default: value = .number(try number(bytes))
        }
        count += 1
        if isHalf { try markHalf() }
        return JSONNode(value, line: start, id: count, marks)
    }

    /// Remembers of the value that was read last that it, or its key, has half of a character.
    private mutating func markHalf() throws(ImportError) {
        try budget.charge(bytes: ImportBudget.element(UInt32.self), line: line)
        marks.halves.insert(count)
    }

    private mutating func object(_ bytes: RawSpan, _ depth: Int) throws(ImportError) -> JSONNode.Value {
        position += 1
        var members: [(key: String, value: JSONNode)] = []
        var keys: Set<String> = []
        if consume(UInt8(ascii: "}"), bytes) { return .object([]) }
        try budget.charge(bytes: ImportBudget.array, line: line)
        repeat {
            skipSpace(bytes)
            guard position < end, bytes[position] == UInt8(ascii: "\"") else { throw fault("a key is missing") }
            let (range, hasEscapes) = try string(bytes)
            try budget.charge(
                bytes: JSONNodeReader.memberSize + JSONNodeReader.keySize + ImportBudget.text(range.count), line: line)
            let (key, isHalf) = (
                hasEscapes ? try JSONNodeReader.decode(range, bytes).openText() : bytes.openText(range), hasHalf
            )
            guard keys.insert(key).inserted else { throw fault("a key is there twice") }
            guard consume(UInt8(ascii: ":"), bytes) else { throw fault("a colon is missing") }
            members.append((key, try value(bytes, depth: depth + 1)))
            if isHalf { try markHalf() }
        } while consume(UInt8(ascii: ","), bytes)
        guard consume(UInt8(ascii: "}"), bytes) else { throw fault("an object does not end") }
        budget.release(bytes: members.count * JSONNodeReader.keySize)
        return .object(members)
    }

    private mutating func array(_ bytes: RawSpan, _ depth: Int) throws(ImportError) -> JSONNode.Value {
        position += 1
        var elements: [JSONNode] = []
        if consume(UInt8(ascii: "]"), bytes) { return .array([]) }
        try budget.charge(bytes: ImportBudget.array, line: line)
        repeat { elements.append(try value(bytes, depth: depth + 1)) } while consume(UInt8(ascii: ","), bytes)
        guard consume(UInt8(ascii: "]"), bytes) else { throw fault("an array does not end") }
        return .array(elements)
    }

    private mutating func word(
        _ word: StaticString, _ value: JSONNode.Value, _ bytes: RawSpan
    ) throws(ImportError) -> JSONNode.Value {
        let range = position..<min(end, position + word.utf8CodeUnitCount)
        guard bytes.equals(word, range) else { throw fault("this is no JSON value") }
        position = range.upperBound
        return value
    }

    private mutating func number(_ bytes: RawSpan) throws(ImportError) -> Range<Int> {
        let start = position
        func digits() throws(ImportError) {
            let first = position
            while position < end, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[position]) { position += 1 }
            guard position > first else { throw fault("this is no JSON value") }
        }
        if position < end, bytes[position] == UInt8(ascii: "-") { position += 1 }
        let whole = position
        try digits()
        guard bytes[whole] != UInt8(ascii: "0") || position == whole + 1 else { throw fault("a number begins with 0") }
        if position < end, bytes[position] == UInt8(ascii: ".") {
            position += 1
            try digits()
        }
        if position < end, bytes[position] | 0x20 == UInt8(ascii: "e") {
            position += 1
            if position < end, [UInt8(ascii: "+"), UInt8(ascii: "-")].contains(bytes[position]) { position += 1 }
            try digits()
        }
        return start..<position
    }

    /// What is between the quotes; escapes are checked here and decoded later.
    private mutating func string(_ bytes: RawSpan) throws(ImportError) -> (Range<Int>, Bool) {
        hasHalf = false
        position += 1
        let start = position
        var hasEscapes = false
        while position < end {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position += 1
                return (start..<position - 1, hasEscapes)
            case UInt8(ascii: "\\"):
                hasEscapes = true
                position += 1
                try escape(bytes)
            case 0..<0x20: throw fault("a control character is in a string")
            default: position += 1
            }
        }
        throw fault("a string does not end")
    }

    private mutating func escape(_ bytes: RawSpan) throws(ImportError) {
        guard position < end else { throw fault("a string does not end") }
        switch bytes[position] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 1
        case UInt8(ascii: "u"):
            guard let unit = JSONNodeReader.unit(bytes, position + 1, end) else {
                throw fault("an escape is not valid")
            }
            position += 5
            guard unit & 0xF800 == 0xD800 else { return }
            // Half of a character outside of the basic plane: the other half follows.
            if JSONNodeReader.scalar(bytes, unit, position, end) == nil { hasHalf = true } else { position += 6 }
        default: throw fault("an escape is not valid")
        }
    }

    private static func unit(_ bytes: RawSpan, _ start: Int, _ end: Int) -> UInt32? {
        guard start + 4 <= end else { return nil }
        var unit: UInt32 = 0
        for offset in start..<start + 4 {
            guard let digit = Hex.value(bytes[offset]) else { return nil }
            unit = unit << 4 | UInt32(digit)
        }
        return unit
    }

    /// What two halves of a character outside of the basic plane are together.
    /// - Parameters:
    ///   - high: What the first escape says.
    ///   - next: Where the second one begins.
    /// - Returns: Nil where one of them is missing.
    private static func scalar(_ bytes: RawSpan, _ high: UInt32, _ next: Int, _ end: Int) -> UInt32? {
        guard next + 1 < end, bytes.equals("\\u", next..<next + 2) else { return nil }
        return unit(bytes, next + 2, end).flatMap { Unicode.Scalar(high, $0) }?.value
    }

    /// Decodes a string whose escapes were checked.
    static func decode(_ range: Range<Int>, _ bytes: RawSpan) throws(ImportError) -> SecretBytes {
        try memory { () throws(SecretMemoryError) in
            var result = SecretBuffer()
            var position = range.lowerBound
            while position < range.upperBound {
                let byte = bytes[position]
                guard byte == UInt8(ascii: "\\") else {
                    try result.append(byte)
                    position += 1
                    continue
                }
                position += 2
                switch bytes[position - 1] {
                case UInt8(ascii: "b"): try result.append(0x08)
                case UInt8(ascii: "f"): try result.append(0x0C)
                case UInt8(ascii: "n"): try result.append(0x0A)
                case UInt8(ascii: "r"): try result.append(0x0D)
                case UInt8(ascii: "t"): try result.append(0x09)
                case UInt8(ascii: "u"):
                    let unit = unit(bytes, position, range.upperBound) ?? 0xFFFD
                    position += 4
                    let whole = scalar(bytes, unit, position, range.upperBound)
                    if whole != nil { position += 6 }
                    // Half of one is no scalar, and becomes U+FFFD.
                    try result.append(scalar: whole ?? unit)
                case let other: try result.append(other)
                }
            }
            return try result.bytes()
        }
    }
}

extension SecretBuffer {
    /// Appends a character in UTF-8.
    mutating func append(scalar: UInt32) throws(SecretMemoryError) {
        guard let scalar = Unicode.Scalar(scalar) else { return try append(scalar: 0xFFFD) }
        guard let bytes = UTF8.encode(scalar) else { return }
        for byte in bytes { try append(byte) }
    }
}
