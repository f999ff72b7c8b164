internal import SystemCalls

/// The copy of a database that is kept beside it before it is brought to a later version, which no program takes back.
struct EarlierCopy {
    let path: String
    /// Whether an earlier attempt, which was ended, has made it.
    private let wasThere: Bool

    /// Makes the copy, and returns when it is whole and on the disk. What is in its name is never replaced: a copy with
    /// the same bytes is kept, and anything else is in the way.
    /// - Parameters:
    ///   - database: Claimed by this process (``SQLiteFile``), and written by nobody meanwhile.
    ///   - version: The one that it has.
    /// - Throws: ``StoreError/notCopied(_:_:)``, ``StoreError/copyInTheWay(_:)``.
    init(of database: String, version: Int) throws(StoreError) {
        path = "\(database).version-\(version)"
        let unfinished = path + ".unfinished"
        EarlierCopy.unlinkAll(unfinished)
        defer { EarlierCopy.unlinkAll(unfinished) }
        do throws(StoreError) {
            try SQLiteBackup.write(database, to: unfinished, for: database)
            try EarlierCopy.verify(unfinished, version)
        } catch {
            guard case .unavailable(let reason) = error else { throw .notCopied(path, "\(error)") }
            throw .notCopied(path, reason)
        }
        do throws(SystemError) {
            wasThere = try EarlierCopy.isThere(path)
            if !wasThere { try renameDurably(unfinished, to: path) }
        } catch { throw .notCopied(path, "\(error)") }
        guard wasThere else { return }
        do throws(SystemError) {
            let kept = try OwnedDescriptor(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
            guard try EarlierCopy.isSame(kept, OwnedDescriptor(unfinished, O_RDONLY | O_NOFOLLOW)) else {
                throw SystemError(EEXIST)
            }
            // The attempt that made it may have been ended before it was on the disk.
            try kept.synchronize()
            try OwnedDescriptor(Paths.parent(of: path), O_RDONLY | O_DIRECTORY).synchronize()
        } catch { throw .copyInTheWay(path) }
    }

    /// Removes it, unless an earlier attempt has made it: nobody needs the copy of a database that is as it was.
    func remove() {
        if !wasThere { unsafe unlink(path) }
    }

    /// What a killed attempt has left, with SQLite's journal of it.
    private static func unlinkAll(_ unfinished: String) {
        for ending in ["", "-journal"] { unsafe unlink(unfinished + ending) }
    }

    private static func verify(_ path: String, _ version: Int) throws(StoreError) {
        let connection = try SQLiteConnection(path, isWriter: false, cache: 2048)
        guard try SQLiteSchema.version(of: connection) == version else {
            throw .unavailable("the copy has another version")
        }
        let fault = try connection.prepare("PRAGMA quick_check(1)").first { row throws(StoreError) in
            String(decoding: row.bytes(0), as: UTF8.self)
        }
        guard fault == "ok" else { throw .unavailable("the copy is damaged") }
    }

    private static func isThere(_ path: String) throws(SystemError) -> Bool {
        var status = stat()
        do throws(SystemError) { try uninterrupted { unsafe lstat(path, &status) } } catch {
            guard error.number == ENOENT else { throw error }
            return false
        }
        return true
    }

    /// Whether both are regular files with the same bytes.
    private static func isSame(
        _ one: borrowing OwnedDescriptor, _ other: borrowing OwnedDescriptor
    ) throws(SystemError) -> Bool {
        let (first, second) = (try one.status(), try other.status())
        guard first.st_mode & S_IFMT == S_IFREG, first.st_size == second.st_size else { return false }
        while true {
            let bytes = try one.readPrefix(1 << 20)
            guard try other.readPrefix(1 << 20) == bytes else { return false }
            if bytes.isEmpty { return true }
        }
    }
}
