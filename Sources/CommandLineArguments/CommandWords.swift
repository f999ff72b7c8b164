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
}
