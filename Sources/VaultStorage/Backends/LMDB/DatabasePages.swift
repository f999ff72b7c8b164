internal import Cryptography
internal import VaultFormat
internal import SystemCalls

/// Reads a database file of LMDB's format (0.9, data version 1) without LMDB, which believes what a file says and can
/// end the process over it.
///
/// For a file that anybody may have written: every offset is checked, no page is visited twice, and so the work and the
/// memory are bounded by the size of the file. The reader must have the lock that keeps writers out.
package struct DatabasePages: ~Copyable {
    /// One tree of pages: the main one, the one of the records, or the one of the free pages.
    struct Tree {
        static let size = 48
        let flags: UInt16
        let depth: Int
        let branchPages, leafPages, overflowPages, entries, root: UInt64

        /// Bytes of its pages, as it says.
        func usedBytes(pageSize: Int) -> Int {
            [branchPages, leafPages, overflowPages].reduce(0) { sum, pages in
                // Of three numbers that anybody may have written, none overflows the sum.
                sum + Int(clamping: min(pages, UInt64(Int32.max))) * pageSize
            }
        }
    }

    let file: DurableFile
    let pageSize: Int
    /// Whole pages in the file.
    let pages: Int
    let free: Tree
    let main: Tree
    /// The last page that the database has; the file may lack some at its end.
    let lastPage: UInt64
    /// The number of the transaction whose state this is.
    package let transaction: UInt64
    /// Whether both first pages are such as LMDB writes. It takes some that are not, and would then read another state.
    private let hasBothStates: Bool
    /// No database of the size limit has more pages.
    let mostPages: UInt64
    var isVisited: [Bool]
    /// The first number that no page in use may have.
    var endOfUse: UInt64
    /// See ``Page``.
    var extents: [UInt16]

    static let noPage = UInt64.max
    static let headerSize = 16
    static let deepest = 24
    /// A database has the pages of the system that made it, wherever it is opened.
    static let smallestPage = 4096
    private static let largestPage = 65536
    /// No value of ours is larger.
    static let largestValue = 2 << 20

    /// Takes the newer of the two states that the file may hold.
    /// - Parameter wanted: The number of the transaction whose state is taken if it is there, also when it is the older
    ///   one.
    /// - Throws: `damaged` when neither can be one, or the file is larger than `limit` bytes.
    package init(_ file: consuming DurableFile, limit: UInt64, preferring wanted: UInt64? = nil) throws(VaultError) {
        let size = try file.status().size
        guard size <= limit else { throw .damaged("the database is larger than it may be") }
        var other: Meta?
        let first = try file.read(Meta.size, at: 0)
        let one = Meta(parsing: first, index: 0)
        // The second page tells where it is only by the first one's size, or, if that is gone, by being there.
        for pageSize in one.map({ [$0.pageSize] }) ?? [4096, 8192, 16384, 32768, 65536] {
            let bytes = try file.read(Meta.size, at: pageSize)
            if let meta = Meta(parsing: bytes, index: 1), meta.pageSize == pageSize { other = meta }
        }
        let hasBothStates = one != nil && other != nil
        let states = [one, other].compactMap(\.self)
        guard let newest = states.max(by: { $0.transaction < $1.transaction }) else {
            throw .damaged("the database has no page to begin with")
        }
        let meta = states.first { $0.transaction == wanted } ?? newest
        pageSize = meta.pageSize
        pages = Int(clamping: size) / meta.pageSize
        free = meta.free
        main = meta.main
        lastPage = meta.lastPage
        transaction = meta.transaction
        self.hasBothStates = hasBothStates
        mostPages = limit / UInt64(meta.pageSize)
        isVisited = [Bool](repeating: false, count: pages)
        endOfUse = UInt64(pages)
        extents = [UInt16](repeating: 0, count: meta.pageSize / 2)
        self.file = file
        forgetVisits()
    }

    mutating func forgetVisits() {
        for index in isVisited.indices { isVisited[index] = index < 2 }
        endOfUse = UInt64(pages)  // read-only walks have no in-use limit
    }

    /// Lends every entry among the records that can be reached, in key order.
    /// - Returns: The root record's value, and how many pages or entries were not as Holdfast and LMDB write them; what
    ///   hangs on them was left out.
    package mutating func forEach(
        _ body: (RawSpan, RawSpan) throws(VaultError) -> Void
    ) throws(VaultError) -> (root: [UInt8]?, problems: Int) {
        forgetVisits()
        let found = try readMain()
        guard let records = found.walk.records else { return (found.root, found.problems + 1) }
        return (found.root, try found.problems + walk(records, .records, body).problems)
    }

    /// Whether it has records, as far as its trees say it: nothing else is looked at.
    package mutating func mayHoldRecords() throws(VaultError) -> Bool {
        forgetVisits()
        // Without a tree of records: nothing is stored yet, or this cannot be determined.
        return try readMain().walk.records.map { $0.entries > 0 } ?? (main.entries > 0)
    }

    /// What the main tree holds.
    private struct Main {
        var walk = Walk()
        var root: [UInt8]?
        /// Entries under a record's key, as in the database of an unreleased build.
        var records = 0
        var strangers = 0

        /// Pages and entries that are not what they should be.
        var problems: Int { walk.problems + records + strangers }
    }

    private mutating func readMain() throws(VaultError) -> Main {
        var found = Main()
        found.walk = try walk(main, .main) { key, value throws(VaultError) in
            if RootRecord.isDatabaseKey(key), found.root == nil {
                found.root = unsafe value.withUnsafeBytes { unsafe Array($0) }
            } else if Digest(copying: key) != nil {
                found.records += 1
            } else {
                found.strangers += 1
            }
        }
        return found
    }

    /// Whether LMDB can be trusted with the file: everything in it is as LMDB writes it, no page serves twice, and none
    /// that is free is in use. Values in pages of their own are not read, only where they lie.
    /// - Parameter ownEntriesOnly: Whether entries of the main tree that Holdfast never writes are damage too; they do
    ///   LMDB no harm.
    /// - Throws: `damaged`; `newerVersion` for an unreleased build's database.
    package mutating func check(ownEntriesOnly: Bool = true) throws(VaultError) {
        forgetVisits()
        guard hasBothStates, lastPage < min(mostPages, UInt64(Int32.max)), lastPage >= 1 else {
            throw DatabasePages.notWhole
        }
        // LMDB gives out the pages behind the last one as new ones.
        endOfUse = min(UInt64(pages), lastPage + 1)
        let top = try readMain()
        guard let tree = top.walk.records else {
            let isUnreleased = top.root != nil && top.walk.problems == 0 && top.strangers == 0
            throw isUnreleased ? .unreleasedLayout : DatabasePages.notWhole
        }
        let records = try walk(tree, .records, skippingLargeValues: true) { _, _ throws(VaultError) in }
        var freed: [UInt64] = []
        let transaction = transaction
        let lists = try walk(free, .freePages) { key, value throws(VaultError) in
            guard key.byteCount == 8, let number = key.integer(at: 0, as: UInt64.self), number <= transaction,
                let count = value.integer(at: 0, as: UInt64.self), value.byteCount % 8 == 0,
                count == UInt64(value.byteCount / 8 - 1)
            else { throw DatabasePages.notWhole }
            var above = UInt64.max
            for offset in stride(from: 8, to: value.byteCount, by: 8) {
                let page = value.integer(at: offset, as: UInt64.self) ?? 0
                guard page < above else { throw DatabasePages.notWhole }
                above = page
                freed.append(page)
            }
        }
        guard (ownEntriesOnly ? top.problems : top.walk.problems) == 0, top.walk.matches(main), records.problems == 0,
            records.matches(tree), lists.problems == 0, lists.matches(free)
        else { throw DatabasePages.notWhole }
        try checkFree(freed)
    }

    /// Whether LMDB can open the file and find its trees: both first pages, the main tree, the list of free pages, and
    /// the page that the tree of the records begins with are as LMDB writes them.
    /// - Throws: `damaged`.
    mutating func checkFront() throws(VaultError) {
        forgetVisits()
        guard hasBothStates, lastPage < min(mostPages, UInt64(Int32.max)), lastPage >= 1 else {
            throw DatabasePages.notWhole
        }
        endOfUse = min(UInt64(pages), lastPage + 1)
        let top = try readMain()
        let lists = try walk(free, .freePages, skippingLargeValues: true) { _, _ throws(VaultError) in }
        guard top.walk.problems == 0, lists.problems == 0 else { throw DatabasePages.notWhole }
        if let records = top.walk.records, try !isRoot(of: records) { throw DatabasePages.notWhole }
    }

    private mutating func isRoot(of tree: Tree) throws(VaultError) -> Bool {
        guard tree.root != DatabasePages.noPage else { return true }
        guard tree.flags == 0, tree.root >= 2, tree.root < endOfUse, !isVisited[Int(tree.root)] else { return false }
        let bytes = try file.read(pageSize, at: Int(tree.root) * pageSize)
        guard let page = Page(bytes, tree.root, &extents), page.isOrdered(.records, from: nil, to: nil) else {
            return false
        }
        guard (page.kind == .leaf) == (tree.depth == 1) else { return false }
        guard page.kind == .branch else { return true }
        for node in page.nodes where try !isPage(page.child(node)) { return false }
        return true
    }

    /// Whether a branch or a leaf begins at this number, as far as its header says.
    private func isPage(_ number: UInt64) throws(VaultError) -> Bool {
        guard number >= 2, number < endOfUse else { return false }
        return try file.read(DatabasePages.headerSize, at: Int(number) * pageSize).withRawSpan { header in
            header.integer(at: 0, as: UInt64.self) == number
                && [0x01, 0x02].contains(header.integer(at: 10, as: UInt16.self) ?? 0)
        }
    }

    /// What the file begins with: changes with each commit.
    static func front(of file: borrowing DurableFile) throws(VaultError) -> [UInt8] {
        try file.read(largestPage + Meta.size, at: 0)
    }

    /// Whether pages that are said to be free are: LMDB writes into them next.
    private mutating func checkFree(_ freed: [UInt64]) throws(VaultError) {
        var beyond: Set<UInt64> = []
        for page in freed {
            guard page >= 2, page <= lastPage else { throw DatabasePages.notWhole }
            if page >= UInt64(pages) {
                guard beyond.insert(page).inserted else { throw DatabasePages.notWhole }
            } else {
                guard !isVisited[Int(page)] else { throw DatabasePages.notWhole }
                isVisited[Int(page)] = true
            }
        }
    }

    static let notWhole = VaultError.damaged("the pages of the database do not fit together")
}

extension DatabasePages {
    /// What the two first pages say of the trees.
    private struct Meta {
        static let size = 16 + 136
        let pageSize: Int
        let free, main: Tree
        let lastPage, transaction: UInt64

        /// Nil when it is none.
        init?(parsing bytes: [UInt8], index: UInt64) {
            let parsed = bytes.withRawSpan { page -> Meta? in
                guard page.byteCount == Meta.size, page.integer(at: 0, as: UInt64.self) == index,
                    page.integer(at: 16, as: UInt32.self) == 0xBEEF_C0DE, page.integer(at: 20, as: UInt32.self) == 1,
                    let pageSize = page.integer(at: 40, as: UInt32.self),
                    [4096, 8192, 16384, 32768, 65536].contains(pageSize),
                    let free = Tree(page, at: 40), let main = Tree(page, at: 88),
                    let lastPage = page.integer(at: 136, as: UInt64.self),
                    let transaction = page.integer(at: 144, as: UInt64.self), transaction % 2 == index
                else { return nil }
                return Meta(Int(pageSize), free, main, lastPage, transaction)
            }
            guard let parsed else { return nil }
            self = parsed
        }

        private init(_ pageSize: Int, _ free: Tree, _ main: Tree, _ lastPage: UInt64, _ transaction: UInt64) {
            (self.pageSize, self.free, self.main) = (pageSize, free, main)
            (self.lastPage, self.transaction) = (lastPage, transaction)
        }
    }
}

extension DatabasePages.Tree {
    /// Pad (4), flags (2), depth (2), pages and entries (8 each), root (8).
    init?(_ page: RawSpan, at offset: Int) {
        guard let flags = page.integer(at: offset + 4, as: UInt16.self),
            let depth = page.integer(at: offset + 6, as: UInt16.self),
            let branchPages = page.integer(at: offset + 8, as: UInt64.self),
            let leafPages = page.integer(at: offset + 16, as: UInt64.self),
            let overflowPages = page.integer(at: offset + 24, as: UInt64.self),
            let entries = page.integer(at: offset + 32, as: UInt64.self),
            let root = page.integer(at: offset + 40, as: UInt64.self)
        else { return nil }
        self.init(
            flags: flags, depth: Int(depth), branchPages: branchPages, leafPages: leafPages,
            overflowPages: overflowPages, entries: entries, root: root)
    }
}
