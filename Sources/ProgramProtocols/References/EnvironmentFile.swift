package import VaultFormat

/// The variables of a `.env` file: one `NAME=value` in a line. A value may be in single or double quotation marks, in
/// which everything stands for itself; without them, blanks around it are left out. `export` before the name, empty
/// lines, and lines that begin with `#` mean nothing. There are no escapes and nothing is expanded.
package enum EnvironmentFile {
    /// What a variable gets.
    package enum Value: Sendable, Hashable {
        case text(String)
        case reference(SecretReference)
    }

    /// A variable of the file.
    package struct Variable: Sendable, Hashable {
        package let name: String
        package let value: Value

        package init(name: String, value: Value) {
            self.name = name
            self.value = value
        }
    }

    /// Bytes of a file, at most.
    package static let longest = 1 << 20
    /// Variables of a file, at most.
    package static let mostVariables = 4096

    /// Reads a file. Of two lines with the same name the later one counts.
    /// - Throws: ``ProgramProtocolError`` with the number of the line.
    package static func parse(_ bytes: [UInt8]) throws(ProgramProtocolError) -> [Variable] {
        guard bytes.count <= longest else { throw .tooMuch(.bytes, longest) }
        var variables: [Variable] = []
        var number = 0
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            guard let text = String(validating: line, as: UTF8.self), !line.contains(0) else {
                throw .invalidText(number)
            }
            var rest = trimmed(text[...])
            guard let first = rest.utf8.first, first != UInt8(ascii: "#") else { continue }
            if rest.utf8.starts(with: "export ".utf8) { rest = trimmed(Substring(rest.utf8.dropFirst(7))) }
            guard variables.count < mostVariables else { throw .tooMuch(.lines, mostVariables) }
            guard let equals = rest.utf8.firstIndex(of: UInt8(ascii: "=")) else { throw .invalidLine(number) }
            let name = String(rest[..<equals])
            guard isName(name) else { throw .invalidName(number) }
            let value = try unquoted(trimmed(rest[rest.utf8.index(after: equals)...]), number)
            variables.append(Variable(name: name, value: try self.value(value, number)))
        }
        return variables
    }

    /// A text, or the reference that it is from its first byte to its last.
    /// - Throws: ``ProgramProtocolError/reference(_:_:)`` for one that begins as a reference and is none.
    package static func value(_ text: String, _ line: Int) throws(ProgramProtocolError) -> Value {
        guard text.utf8.starts(with: "\(SecretReference.scheme)".utf8) else { return .text(text) }
        do throws(ReferenceError) { return .reference(try SecretReference(parsing: text)) } catch {
            throw .reference(line, error)
        }
    }

    /// Whether a variable may be called this: as IEEE Std 1003.1 has names.
    package static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, text.utf8.count <= 255 else { return false }
        return !isDigit(first) && text.utf8.allSatisfy { isDigit($0) || isLetter($0) }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: "_")
    }

    private static func unquoted(_ text: Substring, _ line: Int) throws(ProgramProtocolError) -> String {
        guard let quote = text.utf8.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            return String(text)
        }
        let inner = text.utf8.dropFirst().dropLast()
        guard text.utf8.count > 1, text.utf8.last == quote, !inner.contains(quote) else { throw .openQuote(line) }
        return String(Substring(inner))
    }

    /// Without blanks at both ends, and without the carriage return of other systems.
    private static func trimmed(_ text: Substring) -> Substring {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
        var bytes = text.utf8[...]
        while let first = bytes.first, isBlank(first) { bytes = bytes.dropFirst() }
        while let last = bytes.last, isBlank(last) { bytes = bytes.dropLast() }
        return Substring(bytes)
    }
}
