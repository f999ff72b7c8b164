internal import VaultFormat

extension DatabasePages {
    /// Which tree is walked through.
    enum Kind { case main, records, freePages }

    /// What a walk through a tree came upon.
    struct Walk {
        var kind = Kind.main
        /// The tree that hangs on the main one.
        var records: Tree?
        var branchPages: UInt64 = 0
        var leafPages: UInt64 = 0
        var overflowPages: UInt64 = 0
        var entries: UInt64 = 0
        /// The depth of the first leaf; the others must have the same.
        var depth: Int?
        var problems = 0

        func matches(_ tree: Tree) -> Bool {
            branchPages == tree.branchPages && leafPages == tree.leafPages && overflowPages == tree.overflowPages
                && entries == tree.entries && depth ?? 0 == tree.depth
        }
    }

    mutating func walk(
        _ tree: Tree, _ kind: Kind, _ body: (RawSpan, RawSpan) throws(VaultError) -> Void
    ) throws(VaultError) -> Walk {
        var walk = Walk(kind: kind)
        // The free list's flags hold the environment's own: integer keys, no folder.
        let isPlain = kind == .freePages ? tree.flags & ~0x4008 == 0 && tree.flags & 8 != 0 : tree.flags == 0
        if !isPlain { walk.problems += 1 }
        if tree.root != DatabasePages.noPage { try visit(tree.root, depth: 1, &walk, body) }
        return walk
    }

    /// Takes a run of pages, each for the first time.
    private mutating func take(_ page: UInt64, count: Int = 1) -> Bool {
        guard page >= 2, page < UInt64(pages), count >= 1, count <= pages - Int(page) else { return false }
        let run = Int(page)..<Int(page) + count
        guard !isVisited[run].contains(true) else { return false }
        for index in run { isVisited[index] = true }
        return true
    }

    private mutating func visit(
        _ number: UInt64, depth: Int, _ walk: inout Walk, _ body: (RawSpan, RawSpan) throws(VaultError) -> Void
    ) throws(VaultError) {
        guard depth <= DatabasePages.deepest, take(number) else {
            walk.problems += 1
            return
        }
        let bytes = try file.read(pageSize, at: Int(number) * pageSize)
        guard let page = Page(bytes, number) else {
            walk.problems += 1
            return
        }
        switch page.kind {
        case .branch:
            walk.branchPages += 1
            // A branch of one child is what LMDB asserts not to have.
            if page.nodes.count < 2 { walk.problems += 1 }
            for node in page.nodes { try visit(page.child(node), depth: depth + 1, &walk, body) }
        case .leaf:
            walk.leafPages += 1
            if walk.depth ?? depth != depth || page.nodes.isEmpty { walk.problems += 1 }
            walk.depth = walk.depth ?? depth
            for node in page.nodes {
                walk.entries += 1
                try visit(node, of: page, &walk, body)
            }
        }
    }

    private mutating func visit(
        _ node: Page.Node, of page: Page, _ walk: inout Walk, _ body: (RawSpan, RawSpan) throws(VaultError) -> Void
    ) throws(VaultError) {
        if node.isTree {
            guard walk.kind == .main, walk.records == nil, let tree = page.tree(node) else {
                walk.problems += 1
                return
            }
            walk.records = tree
            return
        }
        if !node.isLarge {
            return try page.bytes.withRawSpan { bytes throws(VaultError) in
                try body(bytes.extracting(node.key), bytes.extracting(node.value))
            }
        }
        let first = page.bytes.withRawSpan { $0.integer(at: node.value.lowerBound, as: UInt64.self) ?? 0 }
        let count = (DatabasePages.headerSize + node.size + pageSize - 1) / pageSize
        guard node.size <= DatabasePages.largestValue, take(first, count: count) else {
            walk.problems += 1
            return
        }
        walk.overflowPages += UInt64(count)
        let run = try file.read(DatabasePages.headerSize + node.size, at: Int(first) * pageSize)
        let isRight = run.withRawSpan { run in
            run.byteCount == DatabasePages.headerSize + node.size && run.integer(at: 0, as: UInt64.self) == first
                && run.integer(at: 10, as: UInt16.self) == 0x04 && run.integer(at: 12, as: UInt32.self) == UInt32(count)
        }
        guard isRight else {
            walk.problems += 1
            return
        }
        try page.bytes.withRawSpan { bytes throws(VaultError) in
            try run.withRawSpan { run throws(VaultError) in
                try body(bytes.extracting(node.key), run.extracting(DatabasePages.headerSize..<run.byteCount))
            }
        }
    }
}

extension DatabasePages {
    /// One page of a tree whose nodes fill it without a gap or an overlap, as LMDB keeps them.
    ///
    /// Its header: number (8), padding (2), flags (2), lower (2), upper (2), offsets of the nodes (2 each). A node: 32 low
    /// bits of size or child (4), flags or the child's next 16 bits (2), size of the key (2), key, value.
    struct Page {
        enum Kind { case branch, leaf }

        struct Node {
            let offset: Int
            let key: Range<Int>
            /// Empty in a branch.
            let value: Range<Int>
            /// Bytes of the value; it lies in pages of its own when `isLarge`.
            let size: Int
            let isLarge: Bool
            /// The value says where another tree is.
            let isTree: Bool
        }

        let bytes: [UInt8]
        let kind: Kind
        let nodes: [Node]

        init?(_ bytes: [UInt8], _ number: UInt64) {
            let parsed = bytes.withRawSpan { page -> (Kind, [Node])? in
                guard page.integer(at: 0, as: UInt64.self) == number,
                    let flags = page.integer(at: 10, as: UInt16.self), flags == 0x01 || flags == 0x02,
                    let lower = page.integer(at: 12, as: UInt16.self).map(Int.init),
                    let upper = page.integer(at: 14, as: UInt16.self).map(Int.init),
                    lower >= DatabasePages.headerSize, lower % 2 == 0, lower <= upper, upper <= page.byteCount
                else { return nil }
                let kind: Kind = flags == 0x01 ? .branch : .leaf
                var nodes: [Node] = []
                var filled = 0
                for place in stride(from: DatabasePages.headerSize, to: lower, by: 2) {
                    guard let node = Page.node(page, place, kind, upper) else { return nil }
                    filled += Page.even(node.value.upperBound - node.offset)
                    nodes.append(node)
                }
                let ends = nodes.map { ($0.offset, $0.offset + Page.even($0.value.upperBound - $0.offset)) }
                    .sorted { $0.0 < $1.0 }
                guard filled == page.byteCount - upper, zip(ends, ends.dropFirst()).allSatisfy({ $0.1 == $1.0 }),
                    ends.last.map({ $0.1 == page.byteCount }) ?? true
                else { return nil }
                return (kind, nodes)
            }
            guard let parsed else { return nil }
            self.bytes = bytes
            (kind, nodes) = parsed
        }

        private static func even(_ size: Int) -> Int { size + size & 1 }

        private static func node(_ page: RawSpan, _ place: Int, _ kind: Kind, _ upper: Int) -> Node? {
            guard let offset = page.integer(at: place, as: UInt16.self).map(Int.init), offset >= upper,
                offset % 2 == 0, let size = page.integer(at: offset, as: UInt32.self).map(Int.init),
                let flags = page.integer(at: offset + 4, as: UInt16.self),
                let keySize = page.integer(at: offset + 6, as: UInt16.self).map(Int.init), keySize <= 511
            else { return nil }
            let key = offset + 8..<offset + 8 + keySize
            if kind == .branch {
                guard key.upperBound <= page.byteCount else { return nil }
                return Node(
                    offset: offset, key: key, value: key.upperBound..<key.upperBound, size: 0, isLarge: false,
                    isTree: false)
            }
            // Flag 1: the value is the number of the first page that it is in; flag 2: it is where another tree is. What is
            // left is of databases with duplicates.
            guard flags <= 2, !key.isEmpty else { return nil }
            let value = key.upperBound..<key.upperBound + (flags == 1 ? 8 : size)
            guard value.upperBound <= page.byteCount else { return nil }
            return Node(
                offset: offset, key: key, value: value, size: size, isLarge: flags == 1, isTree: flags == 2)
        }

        /// Where the tree of the records is; nil when the node says anything else.
        func tree(_ node: Node) -> Tree? {
            bytes.withRawSpan { page in
                guard node.size == Tree.size, DatabaseTrees.isNameOfRecords(page.extracting(node.key)) else {
                    return nil
                }
                return Tree(page, at: node.value.lowerBound)
            }
        }

        func child(_ node: Node) -> UInt64 {
            bytes.withRawSpan { page in
                let low = page.integer(at: node.offset, as: UInt32.self) ?? 0
                let high = page.integer(at: node.offset + 4, as: UInt16.self) ?? 0
                return UInt64(low) | UInt64(high) << 32
            }
        }
    }
}
