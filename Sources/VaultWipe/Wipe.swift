internal import Cryptography
package import KeyStores
package import VaultFormat
package import VaultHeader
package import VaultStorage
internal import SystemCalls

/// Destroys a vault, from wherever an earlier run was stopped (constructions.md 9).
///
/// It begins from state: a mark in the header's place, or a ledger at its limit under a header with self-destruct on.
/// The caller holds the header's lock, so that one process does it and the others find it done. Order: the keys, which
/// makes everything else unreadable in constant time; what hardware holds; counts, keys and settings beside them;
/// content; what apps registered; a look at what is left; the receipt; its key; the journal; the header's name.
package struct Wipe {
    package let home: HomeDirectory
    package let registered: [any WipeTarget]
    package let mark: WipeMark
    private var hardware: HardwareTarget
    /// What could not be done, in words, without the names of the targets.
    private var problems: [String] = []

    /// - Parameter owner: What this home's wipe key shows; nil where there is none, and hardware is left as it is.
    package init(_ home: HomeDirectory, _ settings: VaultSettings, _ mark: WipeMark, _ owner: HardwareOwner?) {
        self.home = home
        registered = settings.wipeTargets
        hardware = HardwareTarget(home, settings, owner, mark.cause)
        self.mark = mark
    }

    /// How a run ended.
    package struct Ending {
        /// Signed, and in the home, unless writing it was a problem.
        package let receipt: WipeReceipt?
        package let isFinished: Bool
        package let error: VaultError
    }

    // MARK: Keys

    /// Replaces the first copy of the header: from here on the wipe is begun, and whatever slots are left in the second
    /// copy go with ``run(_:)``.
    package static func begin(_ mark: WipeMark, _ header: borrowing DurableFile) throws(VaultError) {
        try place(mark, 0, header)
    }

    /// - Complexity: constant, whatever the vault holds.
    package static func eraseKeys(_ mark: WipeMark, _ header: borrowing DurableFile) throws(VaultError) {
        for index in 0..<2 { try place(mark, index, header) }
    }

    /// A header that has another name elsewhere, which may be another vault's, is not written to: one of its own, with
    /// the mark, takes its place. What the other name stands for is left as it is, and the receipt says so.
    /// - Returns: The new header, locked; nil where it need not be replaced.
    private static func detach(
        _ mark: WipeMark, _ header: borrowing DurableFile, in home: HomeDirectory
    ) throws(VaultError) -> DurableFile? {
        guard try header.links() > 1 else { return nil }
        try home.clear(HeaderFile.part)
        guard let own = try home.openFile(HeaderFile.part, O_RDWR | O_CREAT | O_EXCL) else {
            throw .damaged("\(HeaderFile.part) cannot be created")
        }
        try own.lock(exclusive: true, orBusy: "another process holds \(HeaderFile.part)")
        try eraseKeys(mark, own)
        try home.putInPlace(HeaderFile.part, as: HeaderFile.name)
        return own
    }

    /// A copy that is the mark already is flushed and not written again: tearing it would undo what holds.
    private static func place(_ mark: WipeMark, _ index: Int, _ header: borrowing DurableFile) throws(VaultError) {
        // Without looking at it, a planted second name would have another vault's keys destroyed.
        guard try header.links() <= 1 else { throw .hardLinked(HeaderFile.name) }
        let bytes = mark.encoded(checksum: HeaderFile.checksum)
        if try header.read(WipeMark.size, at: index * WipeMark.size) != bytes {
            try header.write(bytes, at: UInt64(index * WipeMark.size))
        }
        try header.synchronize()
    }

    /// A fault may pass; with the keys still there nothing else is worth as much.
    private mutating func eraseKeys(_ header: borrowing DurableFile) -> Bool {
        for isLast in [false, true] {
            do throws(VaultError) {
                try Wipe.eraseKeys(mark, header)
                return true
            } catch { if isLast { problems.append(error.reason) } }
        }
        return false
    }

    // MARK: All of it

    /// Erases everything and tells how that went. Never throws: what cannot be done now is done at a later start.
    package consuming func run(_ header: borrowing DurableFile) -> Ending {
        var wipe = self
        let links = (try? header.links()) ?? 1
        guard links > 1 else { return wipe.runAll(header) }
        // Noted before: a header that was replaced no longer shows that it was not overwritten.
        var journal = wipe.plan()
        wipe.set(&journal, 0, .removed, count: 1)
        try? WipeJournalFile.save(&journal, in: wipe.home)
        do throws(VaultError) {
            if let own = try Wipe.detach(wipe.mark, header, in: wipe.home) { return wipe.runAll(own) }
        } catch { wipe.problems.append(error.reason) }
        return wipe.runAll(header)
    }

    private mutating func runAll(_ header: borrowing DurableFile) -> Ending {
        hardware.add((try? header.read(Header.fileSize, at: 0)).flatMap(HeaderFile.left))
        let keysErased = eraseKeys(header)
        var journal = plan()
        if keysErased, let receipt = finishedReceipt(of: journal.items) { return finish(receipt, header) }
        try? WipeJournalFile.save(&journal, in: home)  // it only remembers; nothing waits for it
        let wasReplaced = journal.items.first?.result == .removed
        set(&journal, 0, keysErased ? (wasReplaced ? .removed : .erased) : .failed, count: 1)
        for index in journal.items.indices.dropFirst() {
            // With the mark not yet in place, the ledger is what says that there is a wipe to be finished.
            let isNeeded = !keysErased && journal.items[index].target.description == HomeTarget.ledger
            guard !isNeeded else { continue }
            let before = journal
            erase(&journal, index)
            if journal != before { try? WipeJournalFile.save(&journal, in: home) }
        }
        do throws(VaultError) { try home.synchronize() } catch { problems.append(error.reason) }
        let before = journal
        for index in journal.items.indices.dropFirst() where journal.items[index].result.isFinal {
            if !isErased(journal.items[index].target) { journal.items[index].result = .failed }
        }
        if journal != before { try? WipeJournalFile.save(&journal, in: home) }
        do throws(VaultError) {
            let receipt = try sign(journal.items)
            try WipeReceiptFile.write(receipt, in: home)
            guard receipt.isComplete else { return unfinished(receipt) }
            return finish(receipt, header)
        } catch {
            problems.append(error.reason)
            return unfinished(nil)
        }
    }

    /// A receipt that an earlier run of this very wipe signed when all was done; then only the last steps are missing.
    ///
    /// Anybody can sign one that says less. So it must tell of every target, which is then looked for again, and must
    /// be of the key that waits here, if that has not gone yet.
    private func finishedReceipt(of items: [WipeItem]) -> WipeReceipt? {
        guard let receipt = WipeReceiptFile.read(in: home), receipt.isComplete, receipt.vault == mark.vault,
            receipt.begun == mark.begun, receipt.cause == mark.cause,
            Set(items.map(\.target)).isSubset(of: receipt.items.map(\.target)),
            receipt.items.allSatisfy({ isErased($0.target) })
        else { return nil }
        if let key = try? ReceiptKeyFile.load(in: home, vault: mark.vault), key.publicBytes != receipt.key {
            return nil
        }
        return receipt
    }

    /// Every target with what earlier runs did: the keys first, then the home's, then those of apps. What is known here
    /// comes before what the journal alone names: filled with other names, it must not push anything out.
    private mutating func plan() -> WipeJournal {
        var earlier: WipeJournal?
        do throws(VaultError) {
            earlier = try WipeJournalFile.read(in: home, vault: mark.vault)
        } catch { problems.append("\(error.reason), so targets that apps registered may be unknown") }
        var journal = WipeJournal(vault: mark.vault, sequence: earlier?.sequence ?? 0)
        var ids = [HomeTarget.keys, HardwareTarget.id].compactMap { WipeTargetID($0) } + HomeTarget.all.map(\.id)
        for id in ((try? WipeTargetID.all(of: registered)) ?? []) + (earlier?.items.map(\.target) ?? [])
        where id.isOfApp && !ids.contains(id) && ids.count < WipeJournal.maximumItems {
            ids.append(id)
        }
        journal.items = ids.map { id in earlier?.items.first { $0.target == id } ?? WipeItem(id) }
        return journal
    }

    private func set(_ journal: inout WipeJournal, _ index: Int, _ result: WipeResult, count: UInt32) {
        guard journal.items.indices.contains(index) else { return }
        journal.items[index].result = result
        journal.items[index].count = count
    }

    /// Erases one target. What an earlier run erased counts as that when nothing is there now.
    private mutating func erase(_ journal: inout WipeJournal, _ index: Int) {
        let item = journal.items[index]
        let (result, count): (WipeResult, UInt32)
        if item.target.description == HardwareTarget.id {
            do throws(VaultError) {
                (result, count) = try hardware.erase()
            } catch {
                problems.append(error.reason)
                return journal.items[index].result = .failed
            }
        } else if let target = HomeTarget.all.first(where: { $0.id == item.target }) {
            do throws(VaultError) {
                (result, count) = try target.erase(in: home)
            } catch {
                problems.append(error.reason)
                return journal.items[index].result = .failed
            }
        } else if item.result.isFinal && isErased(item.target) {
            return  // an app's, and done
        } else if let target = registered.first(where: { $0.identifier == item.target.description }) {
            do {
                (result, count) = (.erased, UInt32(clamping: try target.erase()))
            } catch { return journal.items[index].result = .failed }
        } else {
            return  // no program here knows what it is: it waits
        }
        if result == .absent && item.result.isFinal { return }
        set(&journal, index, result, count: item.count &+ count)
    }

    private func isErased(_ id: WipeTargetID) -> Bool {
        if id.description == HomeTarget.keys { return true }  // read back by finish
        if id.description == HardwareTarget.id { return hardware.isErased }
        if let target = HomeTarget.all.first(where: { $0.id == id }) {
            return (try? target.isErased(in: home)) == true
        }
        guard let target = registered.first(where: { $0.identifier == id.description }) else { return true }
        return (try? target.isErased()) == true
    }

    // MARK: Ends

    private func sign(_ items: [WipeItem]) throws(VaultError) -> WipeReceipt {
        let names = try home.names(in: ".")
        let key = try receiptKey()
        let receipt = WipeReceipt(
            vault: mark.vault, cause: mark.cause, begun: mark.begun, ended: WipeMark.now(), items: items,
            strangers: UInt32(clamping: names.count { !HomeTarget.knownNames.contains($0) }),
            keyOrigin: key.origin, key: key.publicBytes)
        return try receipt.signed(by: key)
    }

    /// The stored key. Where there is none, one for this receipt alone, which the receipt says.
    private func receiptKey() throws(VaultError) -> ReceiptKey {
        if let key = try? ReceiptKeyFile.load(in: home, vault: mark.vault) { return key }
        return try ReceiptKey.generate(.wipe)
    }

    /// The steps after the signature. The header goes last: until then every start comes here again.
    private mutating func finish(_ receipt: WipeReceipt, _ header: borrowing DurableFile) -> Ending {
        do throws(VaultError) {
            let copy = mark.encoded(checksum: HeaderFile.checksum)
            guard try header.read(Header.fileSize, at: 0) == copy + copy else {
                throw .damaged("the header still holds something else than the mark")
            }
            hardware.forgetDestruction()
            try ReceiptKeyFile.destroy(in: home)
            for name in [WipeJournalFile.name, WipeJournalFile.part, WipeReceiptFile.part, HeaderFile.part] {
                _ = try home.erase(name, overwriting: false)
            }
            try home.synchronize()
            try home.unlink(HeaderFile.name)
            try home.synchronize()
        } catch {
            problems.append(error.reason)
            return unfinished(receipt)
        }
        // The key that the mark was recognised by goes after the mark; a start that still finds it removes it.
        do throws(VaultError) {
            for name in WipeKeyFile.names { _ = try home.erase(name, overwriting: false) }
            try home.synchronize()
        } catch {
            problems.append(error.reason)
            return unfinished(receipt)
        }
        return Ending(receipt: receipt, isFinished: true, error: .wiped(receipt, in: home))
    }

    private func unfinished(_ receipt: WipeReceipt?) -> Ending {
        let left = receipt?.items.filter { !$0.result.isFinal }.map { "\($0.target) (\($0.result.name))" } ?? []
        var text = "this vault is being destroyed\(mark.cause.why)"
        if !left.isEmpty { text += "; not erased yet: \(left.joined(separator: ", "))" }
        for problem in [problems.first, hardware.problem].compactMap({ $0 }) { text += "; \(problem)" }
        return Ending(
            receipt: receipt, isFinished: false,
            error: VaultError(.wiped, text + "; the wipe continues at the next start", remainingAttempts: 0))
    }
}

extension LockedHeader {
    /// Puts the mark in the first copy's place. Where that fails the copy is put back: nothing has begun then.
    package borrowing func beginWipe(_ mark: WipeMark) throws(VaultError) {
        do throws(VaultError) {
            try Wipe.begin(mark, file)
        } catch {
            restoreFirstCopy()
            throw VaultError(error.code, "\(error.reason); nothing was erased")
        }
    }
}
