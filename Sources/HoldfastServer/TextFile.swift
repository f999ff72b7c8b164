internal import CommandLineArguments
internal import SystemCalls

/// Files that the command line names.
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
