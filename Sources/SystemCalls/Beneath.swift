/// The one way to open what lies beneath a vault's folder (constructions.md 1.5).
///
/// Anyone who can write to the folder can put anything under the name of a file: a link that leads elsewhere, a second
/// name of another file, a pipe that never responds. So each part of a path is opened separately and never through a
/// link, nothing blocks, and what was opened is checked before use: a file must be a regular one and have this one
/// name.
package struct Beneath: Sendable {
    private let folder: Int32

    /// - Parameter folder: The descriptor of the open folder, which outlives this value.
    package init(_ folder: Int32) { self.folder = folder }

    /// Opens a regular file.
    /// - Parameters:
    ///   - path: Its name, behind the names of the folders that it lies in.
    ///   - flags: As for `openat`. With `O_CREAT` the file is made for its owner alone.
    ///   - evenIfLinked: Whether the file may have another name elsewhere; only for what is read and not believed.
    /// - Returns: Its descriptor, which the caller closes.
    package func file(_ path: String, _ flags: Int32, evenIfLinked: Bool = false) throws(BeneathError) -> Int32 {
        guard let slash = path.lastIndex(of: "/") else { return try file(named: path, flags, evenIfLinked) }
        let parent = try folder(String(path[..<slash]))
        defer { close(parent) }
        return try Beneath(parent).file(named: String(path[path.index(after: slash)...]), flags, evenIfLinked)
    }

    /// Opens a folder for reading.
    /// - Parameter path: Its name, behind the names of the folders that it lies in; "." for the folder itself.
    /// - Returns: Its descriptor, which the caller closes.
    package func folder(_ path: String) throws(BeneathError) -> Int32 {
        guard let slash = path.firstIndex(of: "/") else { return try folder(named: path) }
        let first = try folder(named: String(path[..<slash]))
        defer { close(first) }
        return try Beneath(first).folder(String(path[path.index(after: slash)...]))
    }

    private func file(named name: String, _ flags: Int32, _ evenIfLinked: Bool) throws(BeneathError) -> Int32 {
        // Emptied below, when it is known what it is.
        let file = try open(name, flags & ~O_TRUNC, otherwise: .notRegular)
        do throws(BeneathError) {
            var status = stat()
            guard unsafe fstat(file, &status) == 0 else { throw .system(errno) }
            guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular }
            // None: it was just removed, which callers notice by its lock or its name.
            guard evenIfLinked || status.st_nlink <= 1 else { throw .hardLinked }
            guard flags & O_TRUNC == 0 || ftruncate(file, 0) == 0 else { throw .system(errno) }
            return file
        } catch {
            close(file)
            throw error
        }
    }

    private func folder(named name: String) throws(BeneathError) -> Int32 {
        try open(name, O_RDONLY | O_DIRECTORY, otherwise: .notFolder)
    }

    private func open(_ name: String, _ flags: Int32, otherwise: BeneathError) throws(BeneathError) -> Int32 {
        guard !name.isEmpty, name != "..", !name.utf8.contains(0) else { throw .system(EINVAL) }
        while true {
            let opened = unsafe openat(folder, name, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0o600)
            if opened >= 0 { return opened }
            switch errno {
            case EINTR: continue
            case ENOENT: throw .notThere
            case ELOOP: throw .link
            case ENOTDIR: throw isLink(name) ? .link : .notFolder
            // What a pipe without a reader, a socket, a device without a driver and a folder answer.
            case ENXIO, ENODEV, EOPNOTSUPP, EISDIR: throw otherwise
            case let number: throw .system(number)
            }
        }
    }

    /// A link is no folder either, and is told so; this decides a message only.
    private func isLink(_ name: String) -> Bool {
        var status = stat()
        return unsafe fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }
}
