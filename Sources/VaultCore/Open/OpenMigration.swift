internal import Cryptography
internal import SecretMemory
internal import Synchronization
package import OpenStorage
internal import VaultFormat
internal import VaultHeader
internal import VaultLog
package import VaultStorage

extension OpenCompartment {
    /// What an unlock took in from the open compartment.
    package struct Migration: Sendable, Hashable {
        /// Items that are in the inbox now and were not before.
        package var moved = 0
        /// Items that an earlier unlock had taken in already.
        package var known = 0
        /// Items that wait for the next unlock: there were more than one takes.
        package var left = 0
        /// Unreadable places in the database, or items sealed to another key.
        package var unreadable = 0
        /// The items are not the ones that Holdfast left there: some are missing, added, or older.
        package var isAltered = false
        /// What was unreadable has been renamed, so that the compartment can be used again.
        package var isSetAside = false
        /// The file with the vault's public key.
        package var publicKey = OpenPublicKeyState.unavailable
        /// Why nothing was taken in, or why it could not be removed afterwards; it is tried again at the next unlock.
        package var problem: VaultError?

        /// Nothing that the owner should hear of.
        package var isUneventful: Bool {
            moved == 0 && left == 0 && unreadable == 0 && !isAltered && !isSetAside && problem == nil
                && publicKey != .replaced && publicKey != .wrong
        }
    }
}

extension Vault {
    /// The collection where what was written while locked waits for its owner.
    package static let inboxCollection = "inbox"

    /// Moves what lies in the open compartment to the inbox. Never throws: whatever is there, the vault is unlocked.
    func adoptOpenItems() {
        guard let vault = try? gate.enter() else { return }
        defer { gate.leave() }
        var report = OpenCompartment.Migration()
        report.publicKey = OpenPublicKey.repair(vault.keys.keybag, of: vault.keys.vault, in: home)
        // In nearly every unlock this one look is all.
        if home.exists(OpenFiles.database) {
            do throws(VaultError) {
                try adopt(vault, &report)
            } catch { report.problem = error }
        }
        // Whatever follows in the log follows this: its state may be written later.
        if report.moved > 0 {
            log.append(.inboxMigrated(count: UInt32(clamping: report.moved)), begin: nil, waits: false)
        }
        open.state.withLock { $0.lastMigration = report }
    }

    /// What one unlock takes in at most; the rest follows at the next one.
    private static let mostAtOnce = OpenCompartment.Quota.standard
    /// A process that keeps the lock longer must not delay an unlock.
    private static let patience = 1000

    private func adopt(
        _ vault: UnlockedVault, _ report: inout OpenCompartment.Migration
    ) throws(VaultError) {
        guard let lock = try lockOpen(vault.keys.vault, patience: Vault.patience) else { return }
        open.close()
        do throws(VaultError) {
            guard let key = try lock.read() else {
                return open.removeDatabase()  // what a killed beginning or emptying left
            }
            try adopt(vault, lock, key, &report)
        } catch let error where error.code == .damaged || error.code == .newerVersion || error.code == .tooLarge {
            report.unreadable += 1
            try open.setAside(lock)
            report.isSetAside = true
        }
    }

    /// A link or the like in the place of the key's file is moved out of the way.
    private func lockOpen(_ id: VaultID, patience: Int) throws(VaultError) -> LockedOpenKey? {
        do throws(VaultError) {
            return try LockedOpenKey.lock(in: home, vault: id, creating: true, patience: patience)
        } catch let error where error.code == .damaged {
            home.removeAnything(OpenFiles.damagedKey)
            try home.rename(OpenFiles.key, to: OpenFiles.damagedKey)
            return try LockedOpenKey.lock(in: home, vault: id, creating: true, patience: patience)
        }
    }

    private func adopt(
        _ vault: UnlockedVault, _ lock: borrowing LockedOpenKey, _ key: borrowing SecretBytes,
        _ report: inout OpenCompartment.Migration
    ) throws(VaultError) {
        var contents = try OpenContents(key, vault: vault.keys.vault, in: home)
        report.isAltered = contents.isAltered
        report.unreadable = contents.unreadable
        let mark = try RecordReader(vault.keys.records, vault.database).root().mark
        let choice = OpenChoice(contents.entries, after: mark, most: Vault.mostAtOnce)
        report.known = choice.known
        if let mark = choice.mark {
            let stored = try store(choice.range, mark, &contents, vault)
            report.moved = stored.moved
            report.unreadable += stored.unreadable
        }
        report.left = choice.left
        // Before this the mark is on the disk: a kill in between leaves items that are known again.
        if choice.left > 0 { return }
        if report.unreadable > 0 {
            try open.setAside(lock)
            report.isSetAside = true
        } else {
            try lock.erase()
            open.removeDatabase()
        }
    }

    /// Stores what was chosen, and the mark, in one transaction.
    private func store(
        _ range: ClosedRange<UInt64>, _ mark: OpenMark, _ contents: inout OpenContents, _ vault: UnlockedVault
    ) throws(VaultError) -> (moved: Int, unreadable: Int) {
        var (moved, unreadable) = (0, 0)
        var failure: VaultError?
        let inboxKeys = InboxKeys(vault.keys)
        do throws(VaultError) {
            _ = try vault.queue.perform(patience: Vault.patience, isRepeatable: true) { session throws(VaultError) in
                (moved, failure) = (0, nil)
                unreadable = try contents.forEach { fields, plaintext throws(VaultError) in
                    guard range.contains(fields.sequence) else { return }
                    try inboxKeys.open(fields, plaintext) { item, fields, plaintext throws(VaultError) in
                        let content = plaintext.extracting(fields.contentOffset..<plaintext.byteCount)
                        do throws(VaultError) {
                            try session.adopt(item, fields, content)
                        } catch {
                            failure = error  // of the vault, not of the item
                            throw VaultError(.inputOutput, "nothing was taken in")
                        }
                        moved += 1
                    }
                }
                session.set(openMark: mark)
            }
        } catch { throw failure ?? error }
        return (moved, unreadable)
    }
}

/// The vault's private keys for what was sealed to it, made when the first item needs them.
final class InboxKeys {
    private final class Box {
        let key: InboxKey
        init(_ key: consuming InboxKey) { self.key = key }
    }

    private let keys: UnlockedKeys
    private var made: [UInt32: Box] = [:]

    init(_ keys: UnlockedKeys) { self.keys = keys }

    /// Lends an item of the open compartment as it was written, opened where it was sealed.
    /// - Throws: `damaged` for what is none, or was sealed to another key; what `body` throws.
    func open(
        _ fields: RecordFields, _ plaintext: RawSpan,
        _ body: (RecordLabel, RecordFields, RawSpan) throws(VaultError) -> Void
    ) throws(VaultError) {
        switch fields.kind {
        case .inline: try InboxKeys.read(fields, plaintext, wasSealed: false, body)
        case .sealed:
            let item = plaintext.extracting(fields.contentOffset..<plaintext.byteCount)
            guard let epoch = SealedItem.epoch(of: item), keys.keybag.inboxEpochs.contains(epoch) else {
                throw .damagedRecord
            }
            let opened = try SealedItem.open(item, with: key(epoch).key, vault: keys.vault)
            try opened.withBytes { plaintext throws(VaultError) in
                let fields = try RecordReader.fields(plaintext)
                guard fields.kind == .inline else { throw .damagedRecord }
                try InboxKeys.read(fields, plaintext, wasSealed: true, body)
            }
        case .file, .inbox: throw .damagedRecord
        }
    }

    private static func read(
        _ fields: RecordFields, _ plaintext: RawSpan, wasSealed: Bool,
        _ body: (RecordLabel, RecordFields, RawSpan) throws(VaultError) -> Void
    ) throws(VaultError) {
        guard let record = RecordReader.name(fields, plaintext),
            plaintext.byteCount - fields.contentOffset <= Vault.largestInlineValue
        else { throw .damagedRecord }
        try body(RecordLabel(record: record, wasSealed: wasSealed), fields, plaintext)
    }

    private func key(_ epoch: UInt32) throws(VaultError) -> Box {
        if let box = made[epoch] { return box }
        let box = Box(try InboxKey(seed: keys.keybag.key(.inbox, epoch: epoch), vault: keys.vault))
        made[epoch] = box
        return box
    }
}

extension WriteSession {
    /// Puts an item of the open compartment into the inbox, under its own name where that is free there.
    mutating func adopt(_ label: RecordLabel, _ fields: RecordFields, _ content: RawSpan) throws(VaultError) {
        var attempt = 1
        while true {
            let name = try InboxName.candidate(label.record.name, attempt)
            let draft = RecordDraft(
                collection: Vault.inboxCollection, name: name, kind: .inbox, origin: .open, label: label,
                created: fields.created, now: fields.modified)
            do throws(VaultError) {
                return try put(draft, content: content)
            } catch {
                guard error.code == .recordExists else { throw error }
            }
            attempt += 1
        }
    }
}
