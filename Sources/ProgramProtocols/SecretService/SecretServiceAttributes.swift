/// What programs find an item of the Secret Service by: names with values, which are no secrets (Secret Service API
/// 0.2, "Lookup Attributes"). Stored as the text of one field, `name=value` in each line, sorted, with `%xx` for what
/// cannot stand in it.
package struct SecretServiceAttributes: Sendable, Hashable {
    /// Attributes, at most.
    package static let most = 64
    /// Bytes of a name and of a value, at most.
    package static let longestName = 255, longestValue = 1024
    /// Bytes of the text, at most.
    private static let longestText = most * (3 * (longestName + longestValue) + 2)

    /// By bytes: two texts that look the same are different attributes.
    package private(set) var values: [[UInt8]: [UInt8]] = [:]

    package init() {}

    /// Adds one.
    /// - Returns: False for an empty name, one that is there, too many, and too long ones; then nothing has changed.
    package mutating func add(_ name: [UInt8], _ value: [UInt8]) -> Bool {
        guard !name.isEmpty, name.count <= SecretServiceAttributes.longestName,
            value.count <= SecretServiceAttributes.longestValue, values[name] == nil,
            values.count < SecretServiceAttributes.most
        else { return false }
        values[name] = value
        return true
    }

    /// Reads the text of a field; nil for any other.
    package init?(parsing text: [UInt8]) {
        guard text.count <= SecretServiceAttributes.longestText else { return nil }
        for line in text.split(separator: UInt8(ascii: "\n")) {
            guard let middle = line.firstIndex(of: UInt8(ascii: "=")),
                let name = SecretServiceAttributes.decoded(line[..<middle]),
                let value = SecretServiceAttributes.decoded(line[(middle + 1)...]), add(name, value)
            else { return nil }
        }
    }

    package var text: [UInt8] {
        var text: [UInt8] = []
        for (name, value) in values.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            if !text.isEmpty { text.append(UInt8(ascii: "\n")) }
            SecretServiceAttributes.encode(name, into: &text)
            text.append(UInt8(ascii: "="))
            SecretServiceAttributes.encode(value, into: &text)
        }
        return text
    }

    /// Whether every attribute of a question is one of these. An empty question is answered by everything.
    package func answer(_ question: SecretServiceAttributes) -> Bool {
        question.values.allSatisfy { values[$0.key] == $0.value }
    }

    private static let digits = Array("0123456789abcdef".utf8)

    private static func encode(_ bytes: [UInt8], into text: inout [UInt8]) {
        for byte in bytes {
            if byte < 0x20 || byte == 0x7F || byte == UInt8(ascii: "=") || byte == UInt8(ascii: "%") {
                text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            } else {
                text.append(byte)
            }
        }
    }

    private static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var (bytes, rest): ([UInt8], ArraySlice<UInt8>) = ([], text)
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digits.firstIndex(of:)),
                let low = rest.popFirst().flatMap(digits.firstIndex(of:))
            else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return bytes
    }
}
