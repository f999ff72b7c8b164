internal import SystemCalls

/// What was written on the command line: `--name value` or `--name=value`, flags, and one word for the command.
struct Arguments {
    private var values: [String: [String]] = [:]

    /// - Parameters:
    ///   - valued: Options with a value.
    ///   - flags: Options without.
    init(_ words: [String], valued: Set<String>, flags: Set<String> = []) throws(UsageError) {
        var rest = words.makeIterator()
        while let word = rest.next() {
            guard word.hasPrefix("--") else { throw UsageError("unexpected argument \(word)") }
            let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0])
            if flags.contains(name), parts.count == 1 {
                values[name, default: []].append("")
            } else if valued.contains(name) {
                guard let value = parts.count == 2 ? String(parts[1]) : rest.next() else {
                    throw UsageError("--\(name) needs a value")
                }
                values[name, default: []].append(value)
            } else {
                throw UsageError("unknown option --\(name)")
            }
        }
    }

    func has(_ name: String) -> Bool { values[name] != nil }

    func all(_ name: String) -> [String] { values[name] ?? [] }

    func text(_ name: String) throws(UsageError) -> String? {
        let given = all(name)
        guard given.count <= 1 else { throw UsageError("--\(name) is given twice") }
        return given.first
    }

    func required(_ name: String) throws(UsageError) -> String {
        guard let value = try text(name) else { throw UsageError("--\(name) is missing") }
        return value
    }

    func number(_ name: String, _ range: ClosedRange<Int>, default other: Int) throws(UsageError) -> Int {
        guard let value = try text(name) else { return other }
        guard let number = Int(value), range.contains(number) else {
            throw UsageError("--\(name) takes a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// `scheme://user:password@…`, or `scheme://…?password=…`.
    static func holdsPassword(_ text: String) -> Bool {
        guard let scheme = text.firstRange(of: "://") else { return false }
        if text.lowercased().contains("password=") { return true }
        let authority = text[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" }
        guard let at = authority.lastIndex(of: "@"), let colon = authority.firstIndex(of: ":") else { return false }
        return colon < at
    }

    /// The value, or with `@FILE` the first line of a file: a password does not belong on a command line, where every
    /// process of the machine reads it.
    /// - Throws: Also for a URL that holds a password; it is not repeated.
    func perhapsFromFile(_ name: String) throws(UsageError) -> String? {
        guard let value = try text(name) else { return nil }
        guard value.hasPrefix("@") else {
            guard !Arguments.holdsPassword(value) else {
                throw UsageError("--\(name) holds a password, which others see there; put the URL into a file: @FILE")
            }
            return value
        }
        let contents = try TextFile.read(String(value.dropFirst()))
        return String(contents.prefix { $0 != "\n" })
    }
}

/// Something on the command line, or in a file that it names, cannot be used.
struct UsageError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

enum TextFile {
    private static let largest = 1 << 20

    static func read(_ path: String) throws(UsageError) -> String {
        let contents: [UInt8]
        do throws(SystemError) { contents = try OwnedDescriptor(path, O_RDONLY).readPrefix(largest + 1) } catch {
            throw UsageError("\(path): \(error)")
        }
        guard contents.count <= largest else { throw UsageError("\(path) is too large") }
        guard let text = String(validating: contents, as: UTF8.self) else { throw UsageError("\(path) is not UTF-8") }
        return text
    }

    /// Replaces a file as a whole, durably.
    static func replace(_ path: String, _ contents: [UInt8]) throws(UsageError) {
        let temporary = path + ".new"
        do throws(SystemError) {
            let file = try OwnedDescriptor(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW)
            try unsafe file.write(contents.span.bytes)
            try file.synchronize()
            try renameDurably(temporary, to: path)
        } catch { throw UsageError("\(path): \(error)") }
    }
}
