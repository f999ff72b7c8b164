internal import CLMDB
internal import Synchronization
internal import SystemCalls

extension DatabaseEnvironment {
    /// Looks at the pages that LMDB goes by when it opens a file, which it believes. Takes some ten microseconds.
    /// - Returns: The number of the state that was looked at.
    /// - Throws: `damaged`, with nothing opened; `busy`, `inputOutput`.
    static func checkFront(of name: DatabaseName, in home: HomeDirectory) throws(VaultError) -> UInt64 {
        for _ in 0..<100 {
            guard let file = try home.openFile(name.file, O_RDONLY), let again = try home.openFile(name.file, O_RDONLY)
            else { throw .damaged("\(name.file) is missing") }
            let before = try DatabasePages.front(of: again)
            do throws(VaultError) {
                var pages = try DatabasePages(file, limit: UInt64(name.limit))
                try pages.checkFront()
                return pages.transaction
            } catch {
                // Another process may have committed meanwhile, and written pages anew.
                guard error.code == .damaged, try DatabasePages.front(of: again) != before else { throw error }
            }
        }
        throw VaultError(.busy, "the vault is being written without a pause")
    }

    /// Sees to it that LMDB, which trusts pages, writes to none that anybody else may have made.
    ///
    /// All of them are looked at, not only those on the way to a key: LMDB takes pages from the list of free ones,
    /// moves nodes between neighbours that depend on what it wrote before, and frees what a value leaves; whether a
    /// page serves twice only the whole tells. What this process then commits is made of checked pages, so it is done
    /// once, and again after another process has committed. It takes about two microseconds a page, and reads no large
    /// value.
    ///
    /// - Parameter transaction: The number of the writing transaction that has begun and done nothing yet.
    /// - Throws: `damaged`; `inputOutput`.
    func checkPages(before transaction: UInt64) throws(VaultError) {
        let state = transaction &- 1
        guard checkedState.load(ordering: .relaxed) != state else { return }
        var pages = try pages()
        // The state that LMDB began with must be the one that is looked at.
        guard pages.transaction == state else { throw DatabasePages.notWhole }
        try check(&pages)
        checkedState.store(state, ordering: .relaxed)
    }

    /// Notes a commit of a transaction that began with checked pages.
    func noteCommit(_ transaction: UInt64) { checkedState.store(transaction, ordering: .relaxed) }

    func check(_ pages: inout DatabasePages) throws(VaultError) {
        var statistics = MDB_stat()
        unsafe mdb_env_stat(handle, &statistics)
        guard pages.pageSize == Int(statistics.ms_psize) else { throw DatabasePages.notWhole }
        try pages.check(ownEntriesOnly: false)
    }

    /// The file that LMDB has open, as it is now.
    /// - Parameter wanted: The state that is taken if it is there; else the newer one.
    func pages(preferring wanted: UInt64? = nil) throws(VaultError) -> DatabasePages {
        var descriptor: Int32 = -1
        unsafe mdb_env_get_fd(handle, &descriptor)
        let copy = try system("reading the database") { fcntl(descriptor, F_DUPFD_CLOEXEC, 0) }
        return try DatabasePages(
            DurableFile(owning: copy, name: name.file), limit: UInt64(name.limit), preferring: wanted)
    }
}

extension DatabaseLease {
    /// Looks at every page of the state that a reader sees now, while others keep writing.
    /// - Throws: `damaged` when LMDB must not copy or change these pages; `busy`, `inputOutput`.
    package func checkPages() throws(VaultError) {
        let snapshot = try ReadTransaction(self)
        for _ in 0..<100 {
            // No page of a snapshot is written anew while a reader has it. A commit is in the file some milliseconds
            // before readers begin with it, hence the reader's own state, which only the commit after that overwrites.
            try snapshot.begin()
            defer { snapshot.park() }
            var pages = try environment.pages(preferring: snapshot.number)
            if pages.transaction == snapshot.number { return try environment.check(&pages) }
        }
        throw VaultError(.busy, "the vault is being written without a pause")
    }
}
