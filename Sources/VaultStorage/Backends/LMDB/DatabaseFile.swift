internal import CLMDB
internal import VaultFormat
internal import SystemCalls

/// What we look at in LMDB's file ourselves, because LMDB believes it: which of the two meta pages is the newer one.
///
/// A meta page has no checksum. One flipped bit in the number of the older one would make it the newer one, and an old
/// state of the vault would be taken for the present. So the numbers must be those that LMDB writes (page i has the
/// parity of i, and they are neighbours), and the root record of the older page's tree must carry that page's number.
enum DatabaseFile {
    /// Offsets in a meta page (LMDB 0.9, 64 bit): the main tree's root page and the transaction's number.
    private static let mainRootOffset = 128
    private static let transactionOffset = 144
    private static let noPage = UInt64.max

    private struct Meta: Hashable {
        let root: UInt64
        let transaction: UInt64
    }

    /// - Throws: `damaged` when the meta pages cannot both be what LMDB wrote.
    static func checkMetaPages(_ handle: OpaquePointer) throws(VaultError) {
        var descriptor: Int32 = -1
        var statistics = MDB_stat()
        unsafe mdb_env_get_fd(handle, &descriptor)
        unsafe mdb_env_stat(handle, &statistics)
        let pageSize = Int(statistics.ms_psize)
        // Another process may commit while we look; what was seen before and after is then not the same.
        for _ in 0..<100 {
            let before = try metas(descriptor, pageSize)
            let isRight = try arePlausible(before, descriptor, pageSize)
            if isRight { return }
            guard try metas(descriptor, pageSize) != before else {
                throw .damaged("the database: its first pages do not fit together")
            }
        }
        throw VaultError(.busy, "the vault is being written without a pause")
    }

    /// Page header and LMDB's meta structure.
    private static let metaSize = 16 + 136

    /// The meta page that a transaction will overwrite, as it is now; empty when it cannot be read.
    static func metaPage(ofTransaction number: UInt64, _ handle: OpaquePointer) -> [UInt8] {
        let (descriptor, offset) = unsafe place(number, handle)
        return (try? read(descriptor, offset, metaSize)) ?? []
    }

    /// Keeps reads of the file from noting their time, which each commit would then write too. Only the file's owner
    /// may ask for that, and it changes nothing else.
    static func noteNoReads(_ handle: OpaquePointer) {
        #if os(Linux) && !canImport(Darwin)
        var descriptor: Int32 = -1
        unsafe mdb_env_get_fd(handle, &descriptor)
        let noAccessTime: Int32 = 0o1_000_000  // O_NOATIME, which does not import
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | noAccessTime)
        #endif
    }

    /// Undoes what a failed commit left of its meta page.
    static func putBack(_ page: [UInt8], ofTransaction number: UInt64, _ handle: OpaquePointer) {
        let (descriptor, offset) = unsafe place(number, handle)
        guard page.count == metaSize else { return }
        _ = unsafe page.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset)) }
        fsync(descriptor)
    }

    private static func place(_ number: UInt64, _ handle: OpaquePointer) -> (descriptor: Int32, offset: Int) {
        var descriptor: Int32 = -1
        var statistics = MDB_stat()
        unsafe mdb_env_get_fd(handle, &descriptor)
        unsafe mdb_env_stat(handle, &statistics)
        return (descriptor, Int(number % 2) * Int(statistics.ms_psize))
    }

    private static func arePlausible(_ metas: [Meta], _ descriptor: Int32, _ pageSize: Int) throws(VaultError) -> Bool {
        let first = metas[0].transaction
        let second = metas[1].transaction
        // A file that nothing was written to yet, before its first transaction.
        if first == 0 && second == 0 { return true }
        guard first % 2 == 0, second % 2 == 1, first == second &+ 1 || second == first &+ 1 else { return false }
        let older = first < second ? metas[0] : metas[1]
        guard older.root != noPage else { return older.transaction == 0 }
        // A compacted copy starts at number 1 with a root record from before.
        let number = try rootRecordNumber(descriptor, pageSize, tree: older.root)
        return number == older.transaction || older.transaction == 1
    }

    private static func metas(_ descriptor: Int32, _ pageSize: Int) throws(VaultError) -> [Meta] {
        var metas: [Meta] = []
        for index in 0..<2 {
            let page = try read(descriptor, index * pageSize, 192)
            metas.append(
                unsafe Meta(
                    root: page.span.bytes.integer(at: mainRootOffset, as: UInt64.self) ?? noPage,
                    transaction: page.span.bytes.integer(at: transactionOffset, as: UInt64.self) ?? 0))
        }
        return metas
    }

    /// The transaction number in the root record of a tree: its key is the smallest, so it is the first one of the
    /// leftmost leaf. Nil where the pages are not what they should be.
    private static func rootRecordNumber(
        _ descriptor: Int32, _ pageSize: Int, tree root: UInt64
    ) throws(VaultError) -> UInt64? {
        var page = root
        for _ in 0..<32 {
            guard page < UInt64(Int64.max) / UInt64(pageSize) else { return nil }
            let bytes = try read(descriptor, Int(page) * pageSize, pageSize)
            switch unsafe firstNode(bytes.span.bytes, page) {
            case .branch(let child): page = child
            case .leaf(let number): return number
            case .none: return nil
            }
        }
        return nil
    }

    private enum Node {
        case branch(child: UInt64)
        case leaf(number: UInt64?)
    }

    /// LMDB's page: number (8), padding (2), flags (2), lower (2), upper (2), offsets of the nodes (2 each); its node:
    /// 32 low bits of size or child (4), flags or the child's next 16 bits (2), size of the key (2), key, value.
    private static func firstNode(_ page: RawSpan, _ number: UInt64) -> Node? {
        let branch: UInt16 = 0x01
        let leaf: UInt16 = 0x02
        guard page.integer(at: 0, as: UInt64.self) == number, let flags = page.integer(at: 10, as: UInt16.self),
            let lower = page.integer(at: 12, as: UInt16.self), lower >= 18,
            let offset = page.integer(at: 16, as: UInt16.self).map(Int.init),
            let low = page.integer(at: offset, as: UInt32.self),
            let high = page.integer(at: offset + 4, as: UInt16.self),
            let keySize = page.integer(at: offset + 6, as: UInt16.self)
        else { return nil }
        if flags & branch != 0 { return .branch(child: UInt64(low) | UInt64(high) << 32) }
        let key = RootRecord.databaseKey
        guard flags & leaf != 0, keySize == key.count, page.integer(at: offset + 8, as: UInt8.self) == key[0] else {
            return nil
        }
        return .leaf(number: SealedRoot.transaction(ofValueAt: offset + 8 + key.count, size: Int(low), in: page))
    }

    private static func read(_ descriptor: Int32, _ offset: Int, _ count: Int) throws(VaultError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        try system("reading the database") {
            unsafe bytes.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, count, off_t(offset)) }
        }
        return bytes
    }

    /// Whether the disk under a database has no room for a transaction of any size.
    static func isDiskFull(_ environment: OpaquePointer?) -> Bool {
        var descriptor: Int32 = -1
        var status = statvfs()
        guard unsafe mdb_env_get_fd(environment, &descriptor) == 0, unsafe fstatvfs(descriptor, &status) == 0 else {
            return false
        }
        return UInt64(status.f_bavail) * UInt64(status.f_frsize) < 65_536
    }
}
