internal import VaultFormat

extension DatabasePages {
    /// Which tree is walked through.
    enum Kind { case main, records, freePages }

    /// What a walk through a tree came upon.
    struct Walk {
        var kind = Kind.main
        /// Whether values that lie in pages of their own are only looked for: the body is not called with them then.
        var skipsLargeValues = false
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
        _ tree: Tree, _ kind: Kind, skippingLargeValues: Bool = false,
        _ body: (RawSpan, RawSpan) throws(VaultError) -> Void
    ) throws(VaultError) -> Walk {
        var walk = Walk(kind: kind, skipsLargeValues: skippingLargeValues)
        // The free list's flags hold the environment's own: integer keys, no folder.
        let isPlain = kind == .freePages ? tree.flags & ~0x4008 == 0 && tree.flags & 8 != 0 : tree.flags == 0
        if !isPlain { walk.problems += 1 }
        if tree.root != DatabasePages.noPage { try visit(tree.root, Place(), &walk, body) }
        return walk
    }

    /// Where in a tree a page is: which keys it may have follows from the branches above it.
    private struct Place {
        var depth = 1
        var lowest: Key?
        /// The first key of what follows.
        var end: Key?
    }

    /// Takes a run of pages, each for the first time.
    private mutating func claim(_ page: UInt64, count: Int = 1) -> Bool {
        guard page >= 2, page < endOfUse, count >= 1, UInt64(count) <= endOfUse - page else { return false }
        let run = Int(page)..<Int(page) + count
        for index in run where isVisited[index] { return false }
        for index in run { isVisited[index] = true }
        return true
    }

    private mutating func visit(
        _ number: UInt64, _ place: Place, _ walk: inout Walk,
        _ body: (RawSpan, RawSpan) throws(VaultError) -> Void
    ) throws(VaultError) {
        guard place.depth <= DatabasePages.deepest, claim(number) else {
            walk.problems += 1
            return
        }
        let bytes = try file.read(pageSize, at: Int(number) * pageSize)
        guard let page = Page(bytes, number, &extents) else {
            walk.problems += 1
            return
        }
        // In a read-only walk, entries that cannot be found by their key are still read.
        if !page.isOrdered(walk.kind, from: place.lowest, to: place.end) { walk.problems += 1 }
        switch page.kind {
        case .branch:
            walk.branchPages += 1
            // A branch of one child is what LMDB asserts not to have.
            if page.nodes.count < 2 { walk.problems += 1 }
            for index in page.nodes.indices {
                let below = Place(
                    depth: place.depth + 1, lowest: index == 0 ? place.lowest : page.key(index),
                    end: index + 1 == page.nodes.count ? place.end : page.key(index + 1))
                try visit(page.child(page.nodes[index]), below, &walk, body)
            }
        case .leaf:
            walk.leafPages += 1
            if walk.depth ?? place.depth != place.depth || page.nodes.isEmpty { walk.problems += 1 }
            walk.depth = walk.depth ?? place.depth
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
        guard let first = try claimRun(of: node, in: page, &walk) else {
            walk.problems += 1
            return
        }
        if walk.skipsLargeValues { return }
        let run = try file.read(DatabasePages.headerSize + node.size, at: Int(first) * pageSize)
        guard run.count == DatabasePages.headerSize + node.size else {
            walk.problems += 1
            return
        }
        try page.bytes.withRawSpan { bytes throws(VaultError) in
            try run.withRawSpan { run throws(VaultError) in
                try body(bytes.extracting(node.key), run.extracting(DatabasePages.headerSize..<run.byteCount))
            }
        }
    }

    /// The first of the pages that a value lies in, all of them taken; nil when they cannot be the value's.
    ///
    /// There may be more than the value needs: one that is replaced within a transaction by a shorter one keeps its
    /// pages.
    mutating func claimRun(of node: Page.Node, in page: Page, _ walk: inout Walk) throws(VaultError) -> UInt64? {
        // All numbers of pages fit into one entry of the free list.
        let most = walk.kind == .freePages ? 8 * (Int(min(lastPage, mostPages)) + 2) : DatabasePages.largestValue
        let first = page.bytes.withRawSpan { $0.integer(at: node.value.lowerBound, as: UInt64.self) ?? 0 }
        guard node.size <= most, first >= 2, first < UInt64(pages) else { return nil }
        let header = try file.read(DatabasePages.headerSize, at: Int(first) * pageSize)
        let count = header.withRawSpan { header -> Int? in
            guard header.integer(at: 0, as: UInt64.self) == first, header.integer(at: 10, as: UInt16.self) == 0x04
            else { return nil }
            return header.integer(at: 12, as: UInt32.self).map(Int.init)
        }
        guard let count, count >= runLength(node.size), count <= runLength(most), claim(first, count: count) else {
            return nil
        }
        walk.overflowPages += UInt64(count)
        return first
    }

    private func runLength(_ size: Int) -> Int { (DatabasePages.headerSize + size + pageSize - 1) / pageSize }
}
