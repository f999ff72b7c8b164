internal import CommandLineArguments
internal import Holdfast
internal import SystemCalls

/// The text of the user's configuration file: `name = value` in each line, comments behind `#` at a line's start. What
/// is not changed stays as it was written.
struct ConfigurationFile {
    private var lines: [String]
    private var values: [String: String] = [:]

    /// An empty one.
    init() { lines = [] }

    /// - Parameter path: Named in errors.
    /// - Throws: A usage error with the line that is wrong.
    init(_ text: String, named path: String) throws(CommandError) {
        lines = text.lines.map(String.init)
        if lines.last == "" { lines.removeLast() }
        for (index, line) in lines.enumerated() {
            let place = "\(Escaping.name(path)), line \(index + 1)"
            guard let (name, value) = try ConfigurationFile.entry(line, at: place) else { continue }
            guard values[name] == nil else { throw .usage("\(place): \(name) is repeated") }
            if name != Defaults.retired { try ConfigurationFile.check(name, value, at: place) }
            values[name] = value
        }
    }

    /// - Returns: Nil where there is no file.
    /// - Throws: As ``init(_:named:)``; a failure for a file that cannot be read.
    init?(at path: String) throws(CommandError) {
        let bytes: [UInt8]
        do throws(SystemError) {
            let file = try OwnedDescriptor(path, O_RDONLY | O_NOCTTY | O_NONBLOCK)
            guard try file.status().st_mode & S_IFMT == S_IFREG else {
                throw SystemError(EINVAL)
            }
            guard let read = try file.readAll(limit: Defaults.limit) else { throw SystemError(EFBIG) }
            bytes = read
        } catch {
            if let (link, target) = Paths.danglingLink(in: path) {
                throw .failure(
                    .input,
                    "\(Escaping.name(link)) is a link to \(Escaping.name(target)), which is not there; make that, or delete the link"
                )
            }
            if [ENOENT, ENOTDIR].contains(error.number) { return nil }
            throw .failure(.input, "\(Escaping.name(path)) cannot be read: \(error)")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .usage("\(Escaping.name(path)) is not valid UTF-8")
        }
        try self.init(text, named: path)
    }

    func value(of name: String) -> String? { values[name] }

    var text: String { lines.map { $0 + "\n" }.joined() }

    /// Sets a value in its line, or in a new one at the end; nil takes the line away.
    mutating func set(_ name: String, _ value: String?) {
        values[name] = value
        let place = lines.firstIndex { (try? ConfigurationFile.entry($0, at: ""))??.name == name }
        let line = value.map { "\(name) = \($0)" }
        switch (place, line) {
        case (let place?, let line?): lines[place] = line
        case (let place?, nil): lines.remove(at: place)
        case (nil, let line?): lines.append(line)
        case (nil, nil): break
        }
    }

    /// - Throws: A usage error for an unknown name, and a value that its option does not take.
    static func check(_ name: String, _ value: String, at place: String) throws(CommandError) {
        guard let setting = Defaults.named(name) else {
            let hint = Suggestion.hint(name, Defaults.all.map(\.option.name))
            throw .usage("\(place): there is no setting \(Escaping.name(name))" + hint)
        }
        if let complaint = setting.option.kind?.complaint(value) ?? setting.complaint(value) {
            throw .usage("\(place): \(name) \(complaint)")
        }
    }

    /// What a line sets; nil for an empty one and a comment. A value may stand between double quotes, which keep its
    /// spaces.
    private static func entry(_ line: String, at place: String) throws(CommandError) -> (name: String, value: String)? {
        let text = trimmed(line[...])
        if text.isEmpty || text.hasPrefix("#") { return nil }
        guard let sign = text.firstIndex(of: "=") else {
            throw .usage("\(place): a setting is written NAME = VALUE")
        }
        var value = trimmed(text[text.index(after: sign)...])
        if value.count >= 2, value.hasPrefix("\""), value.hasSuffix("\"") {
            value = String(value.dropFirst().dropLast())
        }
        return (trimmed(text[..<sign]), value)
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text
        while let first = text.first, first.isWhitespace { text.removeFirst() }
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return String(text)
    }
}
