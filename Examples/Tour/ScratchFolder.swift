internal import Holdfast
internal import HoldfastCommand
internal import SystemCalls

/// A new folder in `$TMPDIR` or `/tmp`, for its maker alone.
struct ScratchFolder: Sendable {
    let path: String

    init() throws(CommandError) {
        var parent = "/tmp"
        if let value = unsafe getenv("TMPDIR"), let text = unsafe String(validatingCString: value), text.hasPrefix("/")
        {
            parent = text
        }
        var template = Array((parent + "/holdfast-tour-XXXXXX").utf8CString)
        let made = unsafe template.withUnsafeMutableBufferPointer { buffer -> String? in
            guard let base = buffer.baseAddress, unsafe mkdtemp(base) != nil else { return nil }
            return unsafe String(validatingCString: base)
        }
        guard let made else { throw .failure(.init(word: "scratch"), "a folder in \(parent): \(SystemError.last)") }
        path = made
    }

    /// Removes the folder and all that is in it. Tries again if a step that was not waited for is still writing there.
    func remove() {
        for _ in 0..<5 where !Folder.remove(path) {}
    }
}

/// Walks folders; links are seen as themselves and never followed.
enum Folder {
    /// Every plain file below `path`.
    static func files(below path: String) -> [String] {
        entries(of: path).flatMap { entry in
            isFolder(entry) ? files(below: entry) : [entry]
        }
    }

    /// - Returns: Whether it is gone.
    @discardableResult
    static func remove(_ path: String) -> Bool {
        for entry in entries(of: path) {
            if isFolder(entry) {
                remove(entry)
            } else {
                unsafe unlink(entry)
            }
        }
        return unsafe rmdir(path) == 0 || errno == ENOENT
    }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private static func entries(of path: String) -> [String] {
        guard let folder = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(folder) }
        var entries: [String] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(validatingCString: $0) }
            }
            if let name, name != ".", name != ".." { entries.append(path + "/" + name) }
        }
        return entries.sorted()
    }
}
