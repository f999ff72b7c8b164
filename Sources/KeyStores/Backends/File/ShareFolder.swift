internal import SystemCalls

/// The folder that shares lie in as files. A link in its place is refused, because it could lead elsewhere.
struct ShareFolder: Sendable {
    /// Where it is.
    let path: String

    /// The folder that it lies in.
    var above: String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// - Parameter making: Whether it is made where it is not there, for its user alone.
    /// - Returns: Its descriptor, which the caller closes.
    /// - Throws: ``KeyStoreError``: `notFound` where it is not there.
    func open(making: Bool = false) throws(KeyStoreError) -> Int32 {
        let home = unsafe SystemCalls.open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard home >= 0 else {
            throw errno == ENOENT ? ShareFolder.notThere : ShareFolder.failure("opening the share's folder")
        }
        defer { close(home) }
        let name = path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
        if making {
            if unsafe mkdirat(home, name, 0o700) == 0 {
                // A share is lost with the name of its folder.
                guard fsync(home) == 0 else { throw ShareFolder.failure("making the share's folder") }
            } else if errno != EEXIST {
                throw ShareFolder.failure("making the share's folder")
            }
        }
        do throws(BeneathError) { return try Beneath(home).folder(name) } catch {
            if error == .notThere { throw ShareFolder.notThere }
            throw ShareFolder.failure(error, "opening the share's folder")
        }
    }

    /// Makes sure that it can be written, or made.
    func probe() throws(KeyStoreError) {
        do throws(KeyStoreError) {
            let parent = try open()
            defer { close(parent) }
            if unsafe faccessat(parent, ".", W_OK | X_OK, 0) == 0 { return }
            throw ShareFolder.failure("writing into the share's folder")
        } catch {
            guard error.code == .notFound, unsafe access(above, W_OK | X_OK) == 0 else {
                throw KeyStoreError(error.code == .notFound ? .unavailable : error.code, error.reason)
            }
        }
    }

    /// Removes it where nothing is left in it.
    func removeIfEmpty() { unsafe rmdir(path) }

    private static let notThere = KeyStoreError(.notFound, "the share's folder is not there")

    static func failure(_ error: BeneathError, _ doing: String) -> KeyStoreError {
        switch error {
        case .notThere: return KeyStoreError(.notFound, "the share's file is not there")
        case .link: return KeyStoreError(.damaged, "\(doing): it is a link")
        case .notRegular, .notFolder: return KeyStoreError(.damaged, "\(doing): something else lies in its place")
        case .hardLinked:
            return KeyStoreError(
                .hardLinked,
                "the share's file has a second name on this disk (a hard link), through which another program could "
                    + "change it")
        case .system(let number):
            errno = number
            return failure(doing)
        }
    }

    /// What the last call of the system said.
    static func failure(_ doing: String) -> KeyStoreError {
        let number = errno
        let code: KeyStoreError.Code = [EACCES, EPERM, EROFS, ENOENT].contains(number) ? .unavailable : .failure
        return KeyStoreError(code, "\(doing): \(SystemError(number))")
    }
}
