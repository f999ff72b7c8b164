internal import CLMDB
internal import Synchronization
internal import VaultFormat

// LMDB believes the pages that it reads. So it is shown a state only if all pages of it are as LMDB writes them; any
// other state is read by ``DatabasePages``, which believes nothing, as far as it goes.
extension DatabaseEnvironment {
    /// States from this one on may have pages that LMDB must not see, unless they were looked at.
    private var firstDamaged: UInt64 { damagedStates.first.load(ordering: .relaxed) }

    /// Whether LMDB may read a state that ``look(at:isFront:)`` was called for.
    @inline(__always)
    func mayRead(_ state: @autoclosure () -> UInt64) -> Bool {
        let first = firstDamaged
        if first == .max { return true }
        let state = state()
        return state < first || isKnown(state)
    }

    /// Whether the pages of a state are known to be whole.
    @inline(__always)
    func isKnown(_ state: UInt64) -> Bool {
        checkedState.load(ordering: .relaxed) == state || readState.load(ordering: .relaxed) == state
            || comingState.load(ordering: .relaxed) == state
    }

    /// Looks at the pages of a state that a reader sees, unless that was done. One thread at a time; the others then
    /// know.
    /// - Parameter isFront: Whether the pages that lead to the main tree are enough.
    /// - Returns: False where the state is in the file no more: the reader begins anew.
    /// - Throws: `inputOutput`.
    func look(at state: UInt64, isFront: Bool) throws(VaultError) -> Bool {
        try damagedStates.isLooking.withLock { _ throws(VaultError) in
            if isKnown(state) || isFront && frontState.load(ordering: .relaxed) == state { return true }
            if damagedStates.last.load(ordering: .relaxed) == state { return true }
            do throws(VaultError) {
                var pages = try pages(preferring: state)
                guard pages.transaction == state else { return false }
                if isFront {
                    try pages.checkFront()
                    frontState.store(state, ordering: .relaxed)
                } else {
                    try check(&pages)
                    readState.store(state, ordering: .relaxed)
                }
            } catch {
                guard error.code == .damaged || error.code == .newerVersion else { throw error }
                damagedStates.last.store(state, ordering: .relaxed)
                damagedStates.first.store(min(firstDamaged, state), ordering: .relaxed)
            }
            return true
        }
    }
}

/// What was found by ``DatabaseEnvironment/look(at:isFront:)``; `max` for none.
final class DamagedStates: Sendable {
    let first = Atomic<UInt64>(.max)
    let last = Atomic<UInt64>(.max)
    let isLooking = Mutex(())
}

extension ReadTransaction {
    /// The snapshot without LMDB.
    private func pages() throws(VaultError) -> DatabasePages {
        let pages = try environment.pages(preferring: number)
        guard pages.transaction == number else { throw DatabasePages.notWhole }
        return pages
    }

    /// As ``withValue(_:in:failure:_:)``, of a state that LMDB may not read.
    @inline(never)
    func damagedValue(_ key: RawSpan, in tree: DatabaseTrees.Name) throws(VaultError) -> [UInt8]? {
        var pages = try pages()
        return try pages.value(of: key, in: tree)
    }

    /// As ``forEach(in:failure:_:)``, of a state that LMDB may not read. Where something is left out, an entry without
    /// key and value says so.
    @inline(never)
    func forEachDamaged<E: Error>(
        in tree: DatabaseTrees.Name, failure: (VaultError) -> E, _ body: (RawSpan, RawSpan) throws(E) -> Void
    ) throws(E) {
        var thrown: E?
        do throws(VaultError) {
            var pages = try pages()
            let problems = try pages.forEach(in: tree) { key, value throws(VaultError) in
                do throws(E) { try body(key, value) } catch {
                    thrown = error
                    throw DatabasePages.notWhole
                }
            }
            guard problems > 0 else { return }
        } catch {
            throw thrown ?? failure(error)
        }
        let nothing: [UInt8] = []
        try unsafe body(nothing.span.bytes, nothing.span.bytes)
    }

    /// What the trees say of themselves.
    @inline(never)
    func damagedTrees() throws(VaultError) -> (main: DatabasePages.Tree, records: DatabasePages.Tree?) {
        var pages = try pages()
        return (pages.main, try pages.treeOfRecords())
    }
}

extension DatabasePages {
    /// Lends the entries of a tree that can be reached, in key order.
    /// - Returns: How many pages or entries were not as Holdfast and LMDB write them; what hangs on them was left out.
    mutating func forEach(
        in tree: DatabaseTrees.Name, _ body: (RawSpan, RawSpan) throws(VaultError) -> Void
    ) throws(VaultError) -> Int {
        forgetVisits()
        guard tree == .records else { return try walk(main, .main, body).problems }
        guard let records = try treeOfRecords() else { return 1 }
        return try walk(records, .records, body).problems
    }

    mutating func treeOfRecords() throws(VaultError) -> Tree? {
        forgetVisits()
        return try walk(main, .main) { _, _ throws(VaultError) in }.records
    }

    /// Goes down to a key as LMDB does.
    /// - Throws: `damaged` where a page on the way is not what it should be.
    mutating func value(of key: RawSpan, in tree: DatabaseTrees.Name) throws(VaultError) -> [UInt8]? {
        let top: Tree
        switch tree {
        case .main: top = main
        case .records:
            guard let records = try treeOfRecords() else { throw DatabasePages.notWhole }
            top = records
        }
        forgetVisits()
        let key = key.copied(0..<key.byteCount)
        let wanted = Key(bytes: key, range: 0..<key.count)
        var number = top.root
        if number == DatabasePages.noPage { return nil }
        for _ in 0..<DatabasePages.deepest {
            guard number >= 2, number < UInt64(pages),
                let page = Page(try file.read(pageSize, at: Int(number) * pageSize), number, &extents)
            else { throw DatabasePages.notWhole }
            if page.kind == .leaf { return try value(of: wanted, in: page) }
            guard !page.nodes.isEmpty else { throw DatabasePages.notWhole }
            let next = page.nodes.indices.dropFirst().last { page.key($0).compare(wanted, isNumber: false) <= 0 } ?? 0
            number = page.child(page.nodes[next])
        }
        throw DatabasePages.notWhole
    }

    private mutating func value(of key: Key, in page: Page) throws(VaultError) -> [UInt8]? {
        let place = page.nodes.indices.first { page.key($0).compare(key, isNumber: false) == 0 }
        guard let node = place.map({ page.nodes[$0] }) else { return nil }
        guard !node.isTree else { throw DatabasePages.notWhole }
        if !node.isLarge { return Array(page.bytes[node.value]) }
        var walk = Walk()
        guard let first = try claimRun(of: node, in: page, &walk) else { throw DatabasePages.notWhole }
        let run = try file.read(DatabasePages.headerSize + node.size, at: Int(first) * pageSize)
        guard run.count == DatabasePages.headerSize + node.size else { throw DatabasePages.notWhole }
        return Array(run[DatabasePages.headerSize...])
    }
}
