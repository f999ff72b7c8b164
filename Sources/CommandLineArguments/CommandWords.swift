internal import SystemCalls

/// What stands on the command line behind the program's name.
package enum CommandWords {
    /// The words as given. `CommandLine.arguments` repairs invalid UTF-8, which would turn a name into another one.
    /// - Throws: ``UsageError`` for a word that is not valid UTF-8.
    package static func read() throws(UsageError) -> [String] {
        var words: [String] = []
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let pointer = unsafe CommandLine.unsafeArgv[index] else { break }
            guard let word = unsafe String(validatingCString: pointer) else {
                throw UsageError("argument \(index) is not valid UTF-8")
            }
            words.append(word)
        }
        return words
    }

    /// Variables of the environment whose names begin so.
    /// - Throws: ``UsageError`` for a value that is not valid UTF-8.
    package static func environment(prefix: String) throws(UsageError) -> [String: String] {
        var found: [String: String] = [:]
        var next = unsafe environ
        while let variable = unsafe next.pointee {
            unsafe next += 1
            guard unsafe strncmp(variable, prefix, prefix.utf8.count) == 0 else { continue }
            guard let text = unsafe String(validatingCString: variable), let sign = text.firstIndex(of: "=") else {
                throw UsageError("a variable of the environment with \(prefix) is not valid UTF-8")
            }
            found[String(text[..<sign])] = String(text[text.index(after: sign)...])
        }
        return found
    }
}
