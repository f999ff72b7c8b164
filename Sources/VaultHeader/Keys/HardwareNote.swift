internal import Cryptography
package import KeyStores
package import SecretMemory
package import VaultFormat
package import VaultStorage
internal import SystemCalls

/// Distinguishes notes written with the vault's master key from all others.
package final class NoteKey: Sendable {
    private let key: SecretBytes
    private let prefix: [UInt8]

    /// - Parameter prefix: What tells the tags of this key from anything else that it could authenticate.
    package init(_ key: consuming SecretBytes, before prefix: [UInt8] = []) {
        self.key = key
        self.prefix = prefix
    }

    package func tag(_ covered: [UInt8]) throws(VaultError) -> [UInt8] {
        let covered = prefix + covered
        return try crypto { () throws(CryptographyError) in
            try unsafe HMACSHA256.authenticate(covered.span.bytes, key: key).bytes
        }
    }

    package func isValid(_ tag: [UInt8], for covered: [UInt8]) -> Bool {
        let covered = prefix + covered
        return unsafe HMACSHA256.isValid(tag.span.bytes, for: covered.span.bytes, key: key)
    }
}

/// What lies in hardware and key stores while the header changes from one to another, or while the vault is destroyed:
/// a process that is killed in between leaves it to the next one, which lets go of all that the header does not name.
///
/// The file is no secret and opens nothing. It is written before the hardware has anything, and replaced as a whole. At
/// an unlock it counts only where its tag is of the present master key; a wipe, which has no such key, reads it as it
/// is. In both it says no more than where to look: what is found there goes only if it shows in itself that it was made
/// for the home whose wipe key lies here.
package struct HardwareNote: Sendable, Hashable {
    /// Shares in a chip that counts attempts.
    package var shares: [HardwareObject] = []
    /// The homes whose generation is held, or about to be.
    package var anchors: [HardwareOwner] = []
    /// The change of the level that is under way.
    package var move: PendingNote.Move?
    /// Revocable shares of the header before.
    package var leaving: [ShareItem] = []
    /// Revocable shares of the header after.
    package var coming: [ShareItem] = []
    /// Revocable shares that no header names any more.
    package var owed: [ShareItem] = []
    /// Whose tags proved it, of a note that was read with one key: it is not written.
    package var provedBy = Side.both

    /// The header before, the header after, or both where they have one master key.
    package enum Side: Sendable, Hashable {
        case before, after, both

        /// - Parameter tags: Which of the note's tags are right; of one alone both headers have it.
        init?(_ tags: [Bool]) {
            switch (tags.first ?? false, tags.last ?? false) {
            case (true, true): self = .both
            case (true, false): self = .before
            case (false, true): self = .after
            case (false, false): return nil
            }
        }
    }

    /// What follows from the revocable shares in it, once the header is known to be genuine: those of the side that the
    /// header is not on are owed to their stores from then on.
    /// - Returns: The change of the level that the note shows to have been made.
    package mutating func settle(_ header: Header) -> PendingNote.Move? {
        let named = header.shareItems
        var finished: PendingNote.Move?
        switch PendingDecision(form, named: named, isBefore: provedBy != .after, isAfter: provedBy != .before) {
        case .undo(let gone): owed += gone.filter { !owed.contains($0) }
        case .finish(let gone):
            owed += gone.filter { !owed.contains($0) }
            if let move, move.to == header.level { finished = move }
        case .ignore: break
        }
        (move, leaving, coming, provedBy) = (nil, [], [], .both)
        owed.removeAll(where: named.contains)
        return finished
    }

    package static let name = "hardware.pending"
    private static let part = "hardware.pending.part"
    /// A note that this vault did not write, kept for inspection.
    package static let refused = "hardware.pending.refused"
    /// Every name that it can have.
    package static let names = [name, part]

    package var isEmpty: Bool { form.isEmpty }

    package init() {}

    /// What a header names, but for the shares of ``Header/shareItems``.
    package init(of header: Header) {
        shares = header.slots.compactMap(\.hardwareObject)
        anchors = header.flags.contains(.generationAnchored) ? [header.owner] : []
    }

    /// Takes in what another one has; of two shares with one name the later says more.
    package mutating func add(_ other: HardwareNote) {
        shares.removeAll { share in other.shares.contains { $0.name == share.name } }
        shares += other.shares
        anchors += other.anchors.filter { !anchors.contains($0) }
        move = other.move ?? move
        leaving += other.leaving.filter { !leaving.contains($0) }
        coming += other.coming.filter { !coming.contains($0) }
        owed += other.owed.filter { !owed.contains($0) }
    }

    // MARK: On the disk

    /// What is there, whoever wrote it; nil if there is no note, empty if it is not a note or cannot be read.
    package static func read(in home: HomeDirectory) -> HardwareNote? {
        do throws(VaultError) { return try stored(in: home)?.note } catch { return HardwareNote() }
    }

    /// What is noted, with its tags, for a caller that has another way to prove it.
    package static func unproved(
        in home: HomeDirectory
    ) throws(VaultError) -> (note: HardwareNote, covered: [UInt8], tags: [[UInt8]])? {
        guard let file = try home.openFile(name, O_RDONLY),
            let parsed = try? PendingNote.parse(file.read(PendingNote.maximumSize, at: 0))
        else { return nil }
        return (HardwareNote(parsed.note), parsed.covered, parsed.tags)
    }

    /// A second name takes nothing from a note: its tag says whose it is, and it is only ever replaced.
    private static func stored(
        in home: HomeDirectory
    ) throws(VaultError) -> (note: HardwareNote, side: (NoteKey) -> Side?)? {
        let bytes: [UInt8]
        do throws(VaultError) {
            guard let file = try home.openFile(name, O_RDONLY, evenIfLinked: true) else { return nil }
            bytes = try file.read(PendingNote.maximumSize, at: 0)
        } catch {
            guard error.code == .damaged else { throw error }
            return (HardwareNote(), { _ in nil })  // no file at all
        }
        guard let parsed = try? PendingNote.parse(bytes) else { return (HardwareNote(), { _ in nil }) }
        return (HardwareNote(parsed.note), { key in Side(parsed.tags.map { key.isValid($0, for: parsed.covered) }) })
    }

    /// What this vault noted; nil where there is nothing. A note that was not written with one of these keys names
    /// nothing that is let go of: it is put aside.
    /// - Throws: What reading can throw: it is not known then what is noted, and no other note may take its place.
    package static func genuine(in home: HomeDirectory, _ keys: [NoteKey]) throws(VaultError) -> HardwareNote? {
        guard let stored = try stored(in: home) else { return nil }
        if let side = keys.lazy.compactMap(stored.side).first {
            var note = stored.note
            note.provedBy = side
            return note
        }
        do throws(VaultError) { try home.rename(name, to: refused) } catch { home.remove(name) }
        return nil
    }

    /// Adds to what is noted; what was noted before a change of the master key is noted under both. Durable when it
    /// returns.
    /// - Parameter keys: Of the master keys that the header before and the one after are under.
    package static func add(_ more: HardwareNote, in home: HomeDirectory, _ keys: [NoteKey]) throws(VaultError) {
        let present = try genuine(in: home, keys)
        guard !more.isEmpty || present != nil && keys.count > 1 else { return }
        var note = present ?? HardwareNote()
        note.add(more)
        try note.write(in: home, keys)
    }

    /// Durable when it returns; before that the old one is there.
    /// - Parameter keys: The home that may act on it at an unlock; none for a wipe, which does not know it.
    package func write(in home: HomeDirectory, _ keys: [NoteKey]) throws(VaultError) {
        let bytes = try encoded(keys)
        guard let file = try home.openFile(HardwareNote.part, O_RDWR | O_CREAT) else {
            throw .damaged("\(HardwareNote.part) cannot be created")
        }
        try file.truncate(to: 0)
        try file.write(bytes, at: 0)
        try file.synchronize()
        try home.rename(HardwareNote.part, to: HardwareNote.name)
        try home.synchronize()
    }

    package static func remove(in home: HomeDirectory) { for name in names { home.remove(name) } }

    private func encoded(_ keys: [NoteKey]) throws(VaultError) -> [UInt8] {
        let form = form
        let covered = form.covered
        var tags: [[UInt8]] = []
        for key in keys { tags.append(try key.tag(covered)) }
        do throws(FormatError) {
            return try form.encoded(tags: tags)
        } catch {
            throw VaultError(.hardwareFull, "the chip still holds too many old shares that it could not remove")
        }
    }
}

extension HardwareNote {
    /// As the file says it.
    package init(_ form: PendingNote) {
        shares = form.shares.map { HardwareObject(name: $0.name, data: $0.object) }
        anchors = form.anchors.map { HardwareOwner(vault: $0.vault, home: $0.home) }
        move = form.move
        leaving = form.leaving
        coming = form.coming
        owed = form.owed
    }

    private var form: PendingNote {
        var form = PendingNote()
        form.shares = shares.map { PendingNote.ChipShare(name: $0.name, object: $0.data) }
        form.anchors = anchors.map { PendingNote.Anchor(vault: $0.vault, home: $0.home) }
        form.move = move
        form.leaving = leaving
        form.coming = coming
        form.owed = owed
        return form
    }
}

extension Slot {
    /// What the share of a counted slot is found by; nil where it has none.
    package var hardwareObject: HardwareObject? {
        if kind == .pin { return PINSlot(self)?.object }
        guard kind.isCounted, flags.contains(.hardwareShare) else { return nil }
        return HardwareObject(name: hardwareName, data: kindData)
    }
}

extension Header {
    /// The revocable shares that its slots name.
    package var shareItems: [ShareItem] { slots.compactMap(\.shareItem) }
}
