internal import Holdfast
internal import SecretMemory
internal import SystemCalls

/// A folder of mode 0700 for one text in an editor, with what the editor puts beside it. In memory where the system has
/// such a place; every file in it is overwritten and removed at the end. What a killed command left is removed by the
/// next one.
final class EditFolder {
    private static let prefix = "holdfast-edit-"
    private static let file = "item.txt"
    private let path: String
    private let descriptor: OwnedDescriptor
    /// Whether the folder is in memory, not on a disk.
    let isInMemory: Bool

    /// - Parameter runtime: The user's runtime folder, where there is one.
    init(runtime: String?) throws(CommandError) {
        // A library that is missing would end the process later, and leave the text there.
        CLibraries.load()
        let candidates = [runtime, "/dev/shm"].compactMap(\.self).filter(Folder.isInMemory)
        isInMemory = !candidates.isEmpty
        let parent = candidates.first ?? EditFolder.variable("TMPDIR") ?? "/tmp"
        EditFolder.removeLeftovers(parent)
        let (path, number) = try EditFolder.make(in: parent)
        self.path = path
        descriptor = OwnedDescriptor(owning: number)
    }

    /// A new folder that this process holds locked. Another `edit` may take one that is not locked yet for a leftover
    /// and remove it; then the next one is made.
    private static func make(in parent: String) throws(CommandError) -> (path: String, descriptor: Int32) {
        for _ in 0..<100 {
            var template = Array("\(parent)/\(prefix)XXXXXX".utf8CString)
            guard unsafe mkdtemp(&template) != nil else {
                throw .failure(.system, "making a folder in \(Escaping.name(parent)): \(SystemError.last)")
            }
            let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let folder = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard folder >= 0 else { continue }
            var (own, there) = (stat(), stat())
            if flock(folder, LOCK_EX | LOCK_NB) == 0, unsafe fstat(folder, &own) == 0, unsafe lstat(path, &there) == 0,
                own.isSameFile(as: there)
            {
                return (path, folder)
            }
            close(folder)
        }
        throw .failure(.system, "another program keeps removing folders of ours in \(Escaping.name(parent))")
    }

    deinit { EditFolder.remove(path) }

    /// Says where the text is on a disk.
    func warn() {
        guard !isInMemory else { return }
        Output.note(
            "WARNING: there is no folder in memory; the text is on the disk while you edit it, and may stay there after it was "
                + "overwritten")
    }

    /// The path of the text.
    var textPath: String { path + "/" + EditFolder.file }

    /// Writes the text anew.
    /// - Throws: A failure with the system's words, as for a full disk.
    func write(_ text: RawSpan) throws(CommandError) {
        let file = unsafe open(textPath, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw .failure(.output, "the text for the editor: \(SystemError.last)") }
        defer { close(file) }
        try Descriptors.write(text, to: file)
    }

    /// Reads the text again.
    /// - Throws: `tooLong`; a failure if the editor left no file there.
    func read() throws(CommandError) -> SecretBuffer {
        let file = unsafe open(textPath, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { throw .failure(.input, "the edited text: \(SystemError.last)") }
        defer { close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .failure(.input, "the edited text is not a regular file")
        }
        var text = SecretBuffer(limit: ItemText.limit)
        var piece = try secret(65_536)
        while true {
            let got = try piece.withMutableBytes { bytes throws(CommandError) in
                try Descriptors.read(file, into: &bytes)
            }
            if got == 0 { return text }
            do throws(SecretMemoryError) {
                try piece.withBytes { bytes throws(SecretMemoryError) in try text.append(bytes.extracting(0..<got)) }
            } catch {
                if case .invalidSize = error {
                    throw .failure(.tooLong, "the edited text is longer than an entry can be")
                }
                throw CommandError(error)
            }
        }
    }

    private static func variable(_ name: String) -> String? {
        guard let value = unsafe getenv(name), unsafe value.pointee == CChar(UInt8(ascii: "/")) else { return nil }
        return unsafe String(validatingCString: value)
    }

    /// Folders of commands that were killed: those that nobody holds locked, of this user.
    private static func removeLeftovers(_ parent: String) {
        for name in Folder.names(parent) where name.hasPrefix(prefix) {
            let path = parent + "/" + name
            var status = stat()
            guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == getuid() else {
                continue
            }
            let folder = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard folder >= 0 else { continue }
            if flock(folder, LOCK_EX | LOCK_NB) == 0 { remove(path) }
            close(folder)
        }
    }

    /// Overwrites and removes what is in a folder, then the folder.
    private static func remove(_ path: String) {
        for name in Folder.names(path) {
            let file = path + "/" + name
            var status = stat()
            guard unsafe lstat(file, &status) == 0 else { continue }
            if status.st_mode & S_IFMT == S_IFDIR {
                remove(file)
                continue
            }
            if status.st_mode & S_IFMT == S_IFREG { overwrite(file, Int(status.st_size)) }
            unsafe unlink(file)
        }
        unsafe rmdir(path)
    }

    private static func overwrite(_ path: String, _ size: Int) {
        let file = unsafe open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { return }
        defer { close(file) }
        let zeros = [UInt8](repeating: 0, count: 65_536)
        var rest = size
        while rest > 0 {
            let written = unsafe SystemCalls.write(file, zeros, min(rest, zeros.count))
            guard written > 0 else { break }
            rest -= written
        }
        fsync(file)
    }
}
