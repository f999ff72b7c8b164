internal import CLMDB
internal import Synchronization
internal import SystemCalls

/// One of the databases in a home.
package struct DatabaseName: Sendable {
    package let file: String
    /// The most bytes that records can take.
    package let limit: Int
    /// How many bytes more than it has a database can take before its map has to grow.
    package let room: Int

    package static var protected: DatabaseName { DatabaseName(file: "vault.mdb", limit: 64 << 30, room: usualRoom) }

    package init(file: String, limit: Int, room: Int) {
        self.file = file
        self.limit = limit
        self.room = room
    }

    #if os(Linux) && !canImport(Darwin)
    private static let chosenRoom = Atomic<Int>(1 << 30)
    private static var usualRoom: Int { chosenRoom.load(ordering: .relaxed) }

    /// Has databases that this process opens from now on begin with so much room. For tests: with little they grow all
    /// the time.
    package static func chooseRoom(_ bytes: Int) { chosenRoom.store(bytes, ordering: .relaxed) }
    #else
    /// A phone gives a process a few gigabytes of address space.
    private static let usualRoom = 256 << 20

    /// There is no choice here.
    package static func chooseRoom(_ bytes: Int) {}
    #endif
}

/// One LMDB environment, at most one per file and process: a second one would drop the first one's file locks.
///
/// The map is read-only for us (no `MDB_WRITEMAP`). LMDB believes the offsets in a page, so it reads a state only after
/// ``look(at:isFront:)``; a file that another program changes meanwhile can still end this process. Where it copies
/// pages into memory of its own, to write or to compact them, it would also write over what lies behind that memory; it
/// gets to do so only after ``checkPages(before:)`` or ``DatabaseLease/checkPages()``. The lock file, which programs of
/// one user share, is trusted where LMDB has its own locks.
@safe package final class DatabaseEnvironment: @unchecked Sendable {  // LMDB environments are thread-safe
    let name: DatabaseName
    let handle: OpaquePointer
    let trees: DatabaseTrees
    let isReadOnly: Bool
    let exclusion: DatabaseExclusion
    /// Pages that the file was seen to have by a writer. It never becomes shorter while writers keep to their lock.
    let seenPages = Atomic<UInt64>(0)
    /// The state whose pages have been checked, or were written by this process from such ones.
    let checkedState = Atomic<UInt64>(.max)
    /// The one that is being committed: readers see it before ``checkedState`` says so.
    let comingState = Atomic<UInt64>(.max)
    /// As ``checkedState``, looked at for those who read: a writer looks again, before LMDB writes.
    let readState = Atomic<UInt64>(.max)
    /// The state whose first pages were looked at, which is enough for the main tree.
    let frontState: Atomic<UInt64>
    /// States that LMDB must not read.
    let damagedStates = DamagedStates()
    private let identity: FileStatus
    private var users = 1

    private static let open = Mutex<[DatabaseEnvironment]>([])

    /// Opens the home's database, or shares the environment that this process has open for it.
    /// - Parameter locks: Those of one that is not open yet.
    /// - Throws: `busy` when another process has a database with our own locks for long; `damaged`, `outOfMemory`, and
    ///   what the system says.
    package static func acquire(
        _ name: DatabaseName, in home: HomeDirectory, locks: DatabaseLocks = .inUse
    ) throws(VaultError) -> DatabaseLease {
        guard let opened = try home.openFile(name.file, O_RDONLY) else {
            throw .damaged("\(name.file) is missing")
        }
        let identity = try opened.status()
        if let shared = open.withLock({ share(identity, of: $0) }) { return shared }
        // Before that: a thread of ours that uses it is not waited for.
        if locks == .own { try wait(for: opened) }
        var file: DurableFile? = consume opened
        return try open.withLock { open throws(VaultError) in
            if let shared = share(identity, of: open) { return shared }
            guard let file = file.take() else { throw .heldElsewhere }
            let environment = try DatabaseEnvironment(name, in: home, file: file, locks: locks)
            open.append(environment)
            return DatabaseLease(environment)
        }
    }

    private static func share(_ identity: FileStatus, of open: [DatabaseEnvironment]) -> DatabaseLease? {
        guard let shared = open.first(where: { $0.identity.isSameFile(as: identity) }) else { return nil }
        shared.users += 1
        return DatabaseLease(shared)
    }

    /// Waits until no other process uses the database.
    private static func wait(for file: borrowing DurableFile) throws(VaultError) {
        try file.lock(
            exclusive: true, patience: DatabaseExclusion.patience, orBusy: VaultError.heldElsewhere.reason)
    }

    /// LMDB opens its lock file by name and writes to it: a link planted there would lead it anywhere. It is looked at
    /// and not opened, because closing any descriptor of it would drop the locks that LMDB has on it in this process.
    /// - Returns: The file; nil where there is none yet.
    private static func lockFile(_ name: DatabaseName, _ home: HomeDirectory) throws(VaultError) -> FileStatus? {
        var status = stat()
        let file = "\(name.file)-lock"
        guard unsafe fstatat(home.descriptor, file, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .damaged("\(file) is not a regular file") }
        guard status.st_nlink <= 1 else { throw .hardLinked(file) }
        return FileStatus(status)
    }

    /// Makes the file of a new vault, with an empty tree of records. It is flushed to the disk with the next commit.
    package static func create(
        _ name: DatabaseName, in home: HomeDirectory, locks: DatabaseLocks = .inUse
    ) throws(VaultError) {
        guard let file = try home.openFile(name.file, O_RDWR | O_CREAT | O_EXCL) else { return }
        if locks == .own { try wait(for: file) }
        let environment = try DatabaseEnvironment(name, in: home, file: file, locks: locks, isNew: true)
        environment.close()
    }

    /// Ends one lease; the last one closes.
    fileprivate func release() {
        DatabaseEnvironment.open.withLock { open in
            users -= 1
            guard users == 0 else { return }
            open.removeAll { $0 === self }
            close()
        }
    }

    private func close() { unsafe mdb_env_close(handle) }

    /// - Parameter file: With our own locks it is locked.
    private init(
        _ name: DatabaseName, in home: HomeDirectory, file: consuming DurableFile, locks: DatabaseLocks,
        isNew: Bool = false
    ) throws(VaultError) {
        let path = home.pathForLibraries(name.file)
        let identity = try file.status()
        let lockFile = try DatabaseEnvironment.lockFile(name, home)
        self.name = name
        self.identity = identity
        if !isNew && identity.size < UInt64(2 * DatabasePages.smallestPage) {
            throw .damaged("\(name.file) is too short")
        }
        frontState = Atomic(isNew ? .max : try DatabaseEnvironment.checkFront(of: name, in: home))
        var readOnly = false
        let own = locks == .own ? UInt32(MDB_NOLOCK) : 0
        let flags = own | (isNew ? UInt32(MDB_NOSYNC) : 0)
        let used = identity.size
        var opened = try unsafe DatabaseEnvironment.openHandle(name, path, used, file, flags: flags)
        // A new database that cannot be written is treated as absent.
        if unsafe !isNew && (opened.status == EROFS || opened.status == EACCES) {
            unsafe mdb_env_close(opened.handle)
            readOnly = true
            let flags = own | UInt32(MDB_RDONLY)
            unsafe opened = try DatabaseEnvironment.openHandle(name, path, used, file, flags: flags)
            if unsafe opened.status == EROFS || opened.status == EACCES {
                // Where nothing can be written, no lock file can be made; but then there are no writers either.
                unsafe mdb_env_close(opened.handle)
                let flags = UInt32(MDB_RDONLY | MDB_NOLOCK)
                unsafe opened = try DatabaseEnvironment.openHandle(name, path, used, file, flags: flags)
            }
        }
        guard unsafe opened.status == 0 else {
            unsafe mdb_env_close(opened.handle)
            throw unsafe .database(opened.status, "opening \(name.file)")
        }
        unsafe handle = opened.handle
        isReadOnly = readOnly
        do throws(VaultError) {
            try unsafe DatabaseEnvironment.checkIdentity(opened.handle, identity)
            // The file there now is the one that was created or opened: it was not replaced in between.
            let lockFileNow = try DatabaseEnvironment.lockFile(name, home)
            guard lockFile == nil || lockFileNow.map({ lockFile?.isSameFile(as: $0) == true }) ?? false else {
                throw VaultError(.busy, "the database's lock was replaced while it was opened")
            }
            unsafe DatabaseFile.noteNoReads(opened.handle)
            try unsafe DatabaseFile.checkExtent(
                opened.handle, readOnly: readOnly, isLocked: locks == .own)
            if !isNew { try unsafe DatabaseFile.checkMetaPages(opened.handle) }
            trees = try unsafe DatabaseTrees(opened.handle, creating: isNew)
        } catch {
            unsafe mdb_env_close(opened.handle)
            throw error
        }
        unsafe exclusion = DatabaseExclusion(opened.handle, file, name, locks)
        var dead: Int32 = 0
        unsafe mdb_reader_check(handle, &dead)  // slots of killed readers would keep old pages alive
        exclusion.letGo()
    }

    /// LMDB went by the path; it must have found the file that we looked at.
    private static func checkIdentity(_ handle: OpaquePointer, _ identity: FileStatus) throws(VaultError) {
        var descriptor: Int32 = -1
        var status = stat()
        unsafe mdb_env_get_fd(handle, &descriptor)
        try system("examining the database") { unsafe fstat(descriptor, &status) }
        guard FileStatus(status).isSameFile(as: identity) else {
            throw VaultError(.busy, "the database was replaced while it was opened")
        }
    }

    /// Opens it with the largest map that the system gives.
    private static func openHandle(
        _ name: DatabaseName, _ path: String, _ used: UInt64, _ file: borrowing DurableFile, flags: UInt32
    ) throws(VaultError) -> (handle: OpaquePointer, status: Int32) {
        let opened = try unsafe DatabaseMap.first(for: name, used: used, file) {
            size throws(VaultError) -> (handle: OpaquePointer, status: Int32)? in
            var environment: OpaquePointer?
            let made = unsafe mdb_env_create(&environment)
            guard made == 0, let environment = unsafe environment else {
                throw .database(made, "preparing the database")
            }
            unsafe mdb_env_set_mapsize(environment, size)
            unsafe mdb_env_set_maxdbs(environment, 1)  // the records
            let all = flags | UInt32(MDB_NOSUBDIR) | UInt32(MDB_NOTLS)
            let status = unsafe mdb_env_open(environment, path, all, 0o600)
            if status != ENOMEM { return unsafe (environment, status) }
            unsafe mdb_env_close(environment)
            return nil
        }
        guard let opened = unsafe opened else { throw .noAddressSpace }
        return unsafe opened
    }
}

/// Keeps an environment open. Every transaction has one of these, so none outlives its environment.
package final class DatabaseLease: Sendable {
    package let environment: DatabaseEnvironment
    fileprivate init(_ environment: DatabaseEnvironment) { self.environment = environment }
    deinit { environment.release() }
}

extension VaultError {
    /// An LMDB return code as one of ours.
    static func database(_ code: Int32, _ doing: String) -> VaultError {
        if code > 0 { return .system(code, doing) }
        switch code {
        case MDB_MAP_FULL: return VaultError(.diskFull, "\(doing): the database holds all the records that it can")
        case MDB_PANIC:
            // Nothing on the disk is wrong; LMDB wants its environment closed after the last page of a commit failed.
            return VaultError(
                .inputOutput, "\(doing): an earlier write to the disk failed, so the vault has to be opened again")
        case MDB_CORRUPTED, MDB_PAGE_NOTFOUND, MDB_INVALID, MDB_INCOMPATIBLE, MDB_BAD_TXN,
            MDB_CURSOR_FULL, MDB_BAD_VALSIZE:
            return .damaged("the database (\(unsafe String(cString: mdb_strerror(code))))")
        case MDB_VERSION_MISMATCH: return VaultError(.newerVersion, "\(doing): another database version")
        case MDB_READERS_FULL: return VaultError(.busy, "\(doing): too many readers at once")
        default: return VaultError(.inputOutput, "\(doing): \(unsafe String(cString: mdb_strerror(code)))")
        }
    }
}

/// Throws an LMDB return code other than success.
func database(_ doing: @autoclosure () -> String, _ call: () -> Int32) throws(VaultError) {
    let code = call()
    if code != 0 { throw .database(code, doing()) }
}
