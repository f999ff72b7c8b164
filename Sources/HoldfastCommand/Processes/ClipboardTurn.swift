internal import Holdfast
internal import SystemCalls

/// Whose turn it is on the clipboard: the keeper that copied last. Of two that keep the same value the earlier one would
/// otherwise clear what the later one has just copied. A random word in a file of the user's runtime folder; where there is
/// none, every keeper has the turn.
struct ClipboardTurn {
    private let path: String?
    private let word: [UInt8]

    /// Takes the turn. To be called before the clipboard is taken.
    init() {
        word = (try? SecureRandom.bytes(16)) ?? []
        guard !word.isEmpty, let runtime = try? HomeFolder.runtime() else {
            path = nil
            return
        }
        let folder = runtime + "/holdfast"
        _ = unsafe mkdir(folder, 0o700)
        let path = folder + "/clipboard"
        self.path = path
        let flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK
        guard let file = try? OwnedDescriptor(path, flags) else { return }
        try? word.withRawSpan { bytes throws(CommandError) in try Descriptors.write(bytes, to: file.number) }
    }

    /// Whether nobody has copied with Holdfast since; true where that cannot be known.
    var isOurs: Bool {
        guard let path, let file = try? OwnedDescriptor(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK),
            let found = try? file.readPrefix(word.count), found.count == word.count
        else { return true }
        return found == word
    }
}
