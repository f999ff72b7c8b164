internal import SecretMemory
internal import VaultFormat

/// An XML text in locked memory, as far as password managers write it: elements, attributes, text, CDATA, comments, the
/// five named entities and characters by number. No document type, so no entities of one's own, and no processing
/// instructions but the first.
///
/// It remembers whose text was read, so that what nobody read can be listed (``unread(except:)``).
final class XMLNode {
    let name: String
    fileprivate(set) var attributes: [String: String] = [:]
    fileprivate(set) var children: [XMLNode] = []
    private var content: SecretBytes?
    /// Whether its own text was read, and whether all below it was.
    private var isRead = false, isDone = false
    let line: Int

    /// All text directly in it. Whoever asks for it has read it.
    var text: SecretBytes? {
        _read {
            isRead = true
            yield content
        }
    }

    /// Bytes of its own text; to know how many is not to read it.
    var byteCount: Int {
        switch content {
        case .none: 0
        case .some(let content): content.count
        }
    }

    init(_ name: String, line: Int) {
        self.name = name
        self.line = line
    }

    subscript(name: String) -> XMLNode? { children.first { $0.name == name } }

    func all(_ name: String) -> [XMLNode] { children.filter { $0.name == name } }

    /// The text, where it is no secret.
    var openText: String { text?.openText() ?? "" }

    /// Whether the text is what was encrypted in base 64 before.
    private(set) var isRevealed = false

    /// Bytes of what is declared here.
    static let size =
        MemoryLayout<String>.size + MemoryLayout<[String: String]>.size + MemoryLayout<[XMLNode]>.size
        + MemoryLayout<SecretBytes?>.stride + MemoryLayout<Int>.size + 3 * MemoryLayout<Bool>.size

    func setText(_ bytes: consuming SecretBytes) { content = consume bytes }

    func reveal(_ bytes: consuming SecretBytes) {
        setText(bytes)
        isRevealed = true
    }

    /// What follows from it and from all below it was taken over, or it was listed.
    func markRead() { isDone = true }

    /// Elements that ``unread(except:)`` finds at most: a hostile file could have millions.
    private static let mostUnread = 20

    /// The elements below it that say something and that nobody read: the names on the way to each, with points
    /// between; each once, and not more than twenty.
    /// - Parameter meaningless: Paths of elements, with what is below them, that say nothing outside of their program.
    func unread(except meaningless: Set<String>) -> [String] {
        var found: [String] = []
        for child in children { child.visitUnread(String(child.name.unicodeScalars.prefix(64)), meaningless, &found) }
        return found
    }

    private func visitUnread(_ path: String, _ meaningless: Set<String>, _ found: inout [String]) {
        guard !isDone, found.count < XMLNode.mostUnread, !meaningless.contains(path) else { return }
        if !isRead, saysSomething, !found.contains(path) { found.append(path) }
        for child in children {
            child.visitUnread("\(path).\(String(child.name.unicodeScalars.prefix(64)))", meaningless, &found)
        }
    }

    /// Whether it has more than space of its own.
    private var saysSomething: Bool {
        switch content {
        case .none: false
        case .some(let content):
            content.withBytes { bytes in
                (0..<bytes.byteCount).contains { ![0x20, 0x09, 0x0A, 0x0D].contains(bytes[$0]) }
            }
        }
    }
}

struct XMLReader {
    private var position = 0
    private var line = 1
    private var budget: ImportBudget

    private init(_ count: Int) { budget = ImportBudget(spent: count) }

    /// An element: its place, and what it has.
    private static let elementSize = ImportBudget.element(XMLNode.self) + ImportBudget.object(XMLNode.size)
    /// An attribute; and the table of the first one of an element.
    private static let attributeSize = ImportBudget.element((String, String).self)
    private static let tableSize = ImportBudget.object(64)

    /// - Throws: ``ImportError`` with the line.
    static func parse(_ bytes: RawSpan) throws(ImportError) -> XMLNode {
        guard bytes.byteCount <= ImportLimits.expanded else { throw ImportError(.tooLarge, "", "the text is too long") }
        guard bytes.isUTF8 else { throw ImportError(.malformed, "", "the text is not UTF-8") }
        var reader = XMLReader(bytes.byteCount)
        return try reader.document(bytes)
    }

    private func fault(_ what: String) -> ImportError { ImportError(.malformed, "line \(line)", what) }

    private mutating func document(_ bytes: RawSpan) throws(ImportError) -> XMLNode {
        if bytes.byteCount >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF { position = 3 }
        if starts("<?xml", bytes) {
            guard skip(past: "?>", bytes) else { throw fault("the declaration does not end") }
        }
        try skipMisc(bytes)
        guard starts("<", bytes) else { throw fault("there is no element") }
        let root = try element(bytes, depth: 0)
        try skipMisc(bytes)
        guard position == bytes.byteCount else { throw fault("something follows the last element") }
        return root
    }

    private func starts(_ text: StaticString, _ bytes: RawSpan) -> Bool {
        let end = position + text.utf8CodeUnitCount
        return end <= bytes.byteCount && bytes.equals(text, position..<end)
    }

    private mutating func skip(past text: StaticString, _ bytes: RawSpan) -> Bool {
        while position < bytes.byteCount {
            if starts(text, bytes) {
                position += text.utf8CodeUnitCount
                return true
            }
            if bytes[position] == 10 { line += 1 }
            position += 1
        }
        return false
    }

    private mutating func skipSpace(_ bytes: RawSpan) {
        while position < bytes.byteCount, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) {
            if bytes[position] == 10 { line += 1 }
            position += 1
        }
    }

    private mutating func skipMisc(_ bytes: RawSpan) throws(ImportError) {
        while true {
            skipSpace(bytes)
            if starts("<!--", bytes) {
                position += 4
                guard skip(past: "-->", bytes) else { throw fault("a comment does not end") }
            } else if starts("<!", bytes) {
                throw ImportError(.unsupported, "line \(line)", "a document type may define entities and is refused")
            } else if starts("<?", bytes) {
                throw ImportError(.unsupported, "line \(line)", "processing instructions are refused")
            } else {
                return
            }
        }
    }

    private mutating func name(_ bytes: RawSpan) throws(ImportError) -> String {
        let start = position
        while position < bytes.byteCount {
            let byte = bytes[position]
            let isLetter =
                (0x30...0x3A).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || [0x2D, 0x2E, 0x5F].contains(byte) || byte >= 0x80
            guard isLetter else { break }
            position += 1
        }
        guard position > start, position - start <= 256 else { throw fault("a name is missing or too long") }
        return bytes.openText(start..<position)
    }

    private mutating func element(_ bytes: RawSpan, depth: Int) throws(ImportError) -> XMLNode {
        guard depth < ImportLimits.depth else {
            throw ImportError(.tooLarge, "line \(line)", "elements are too deep in each other")
        }
        try budget.charge(bytes: XMLReader.elementSize, line: line)
        position += 1
        let name = try name(bytes)
        try budget.charge(bytes: ImportBudget.text(name.utf8.count), line: line)
        let node = XMLNode(name, line: line)
        while true {
            skipSpace(bytes)
            if starts("/>", bytes) {
                position += 2
                return node
            }
            if starts(">", bytes) {
                position += 1
                break
            }
            try attribute(of: node, bytes)
        }
        var text = SecretBuffer(limit: ImportLimits.expanded)
        while true {
            guard position < bytes.byteCount else { throw fault("the element \(node.name) does not end") }
            if starts("</", bytes) {
                position += 2
                guard try self.name(bytes) == node.name else {
                    throw fault("an element is ended that another one is in")
                }
                skipSpace(bytes)
                guard starts(">", bytes) else { throw fault("a tag does not end") }
                position += 1
                try budget.charge(bytes: text.count > 0 ? ImportBudget.locked(text.count) : 0, line: line)
                if text.count > 0 { node.setText(try memory(text.bytes())) }
                return node
            } else if starts("<!--", bytes) {
                position += 4
                guard skip(past: "-->", bytes) else { throw fault("a comment does not end") }
            } else if starts("<![CDATA[", bytes) {
                position += 9
                let start = position
                guard skip(past: "]]>", bytes) else { throw fault("a section does not end") }
                try add(bytes.extracting(start..<position - 3), to: &text)
            } else if starts("<!", bytes) || starts("<?", bytes) {
                throw ImportError(.unsupported, "line \(line)", "declarations and processing instructions are refused")
            } else if starts("<", bytes) {
                if node.children.isEmpty { try budget.charge(bytes: ImportBudget.array, line: line) }
                node.children.append(try element(bytes, depth: depth + 1))
            } else {
                try characters(bytes, into: &text, until: [UInt8(ascii: "<")])
            }
        }
    }

    private mutating func attribute(of node: XMLNode, _ bytes: RawSpan) throws(ImportError) {
        let key = try name(bytes)
        skipSpace(bytes)
        guard starts("=", bytes) else { throw fault("an attribute has no value") }
        position += 1
        skipSpace(bytes)
        guard starts("\"", bytes) || starts("'", bytes) else { throw fault("an attribute's value has no quotes") }
        let quote = bytes[position]
        position += 1
        var value = SecretBuffer(limit: 65_536)
        try characters(bytes, into: &value, until: [quote, UInt8(ascii: "<")])
        guard position < bytes.byteCount, bytes[position] == quote else {
            throw fault("an attribute's value does not end")
        }
        position += 1
        guard node.attributes[key] == nil, node.attributes.count < 64 else {
            throw fault("an attribute is there twice")
        }
        try budget.charge(
            bytes: XMLReader.attributeSize + (node.attributes.isEmpty ? XMLReader.tableSize : 0)
                + ImportBudget.text(key.utf8.count) + ImportBudget.text(value.count), line: line)
        node.attributes[key] = value.withBytes { $0.openText(0..<$0.byteCount) }
    }

    private func add(_ piece: RawSpan, to text: inout SecretBuffer) throws(ImportError) {
        do throws(SecretMemoryError) { try text.append(piece) } catch { throw ImportError(error) }
    }

    /// Text up to one of these bytes, entities replaced.
    private mutating func characters(
        _ bytes: RawSpan, into text: inout SecretBuffer, until ends: [UInt8]
    ) throws(ImportError) {
        while position < bytes.byteCount, !ends.contains(bytes[position]) {
            let start = position
            while position < bytes.byteCount, !ends.contains(bytes[position]), bytes[position] != UInt8(ascii: "&"),
                bytes[position] != 0x0D
            {
                if bytes[position] == 10 { line += 1 }
                position += 1
            }
            if position > start { try add(bytes.extracting(start..<position), to: &text) }
            if position < bytes.byteCount, bytes[position] == 0x0D {
                // A line ends in one way, however the file writes it.
                position += 1
                if position == bytes.byteCount || bytes[position] != 0x0A { try append(0x0A, to: &text) }
                continue
            }
            guard position < bytes.byteCount, bytes[position] == UInt8(ascii: "&") else { continue }
            let scalar = try entity(bytes)
            try append(scalar, to: &text)
        }
    }

    private func append(_ scalar: UInt32, to text: inout SecretBuffer) throws(ImportError) {
        do throws(SecretMemoryError) { try text.append(scalar: scalar) } catch { throw ImportError(error) }
    }

    private mutating func entity(_ bytes: RawSpan) throws(ImportError) -> UInt32 {
        let start = position + 1
        var end = start
        while end < bytes.byteCount, end - start < 12, bytes[end] != UInt8(ascii: ";") { end += 1 }
        guard end < bytes.byteCount, bytes[end] == UInt8(ascii: ";") else { throw fault("an entity does not end") }
        position = end + 1
        let range = start..<end
        for (name, character) in [("lt", "<"), ("gt", ">"), ("amp", "&"), ("quot", "\""), ("apos", "'")]
            as [(StaticString, Unicode.Scalar)]
        where bytes.equals(name, range) { return character.value }
        guard range.count >= 2, bytes[start] == UInt8(ascii: "#") else {
            throw ImportError(.unsupported, "line \(line)", "only the five entities of XML are known")
        }
        let isHexadecimal = bytes[start + 1] == UInt8(ascii: "x")
        let digits = bytes.openText((isHexadecimal ? start + 2 : start + 1)..<end)
        guard let number = UInt32(digits, radix: isHexadecimal ? 16 : 10), let scalar = Unicode.Scalar(number),
            number > 0
        else {
            throw fault("a character's number is not valid")
        }
        return scalar.value
    }
}
