package import KeyStores
package import SecretMemory
internal import VaultFormat
internal import VaultHeader
package import VaultStorage

extension Vault {
    /// Has the key store of the settings hold the header's generation and the ledger's count from now on.
    /// - Throws: As ``unlock(passcode:spending:evenIfDamaged:)``, `hardwareUnavailable`.
    package func anchorGeneration(
        passcode: borrowing SecretBytes, spending attempt: consuming BurnedAttempt
    ) throws(VaultError) {
        guard settings.anchor != nil else { throw .noAnchor }
        let verified = try verifyForChange(passcode, spending: &attempt)
        var header = attempt.header.header
        guard !header.flags.contains(.generationAnchored) else { return }
        try claim(&header, verified.standing, verified.keys.headerKeys)
        do throws(VaultError) {
            header.flags.insert(.generationAnchored)
            try holdAnchor(of: header, after: attempt, noting: [verified.keys.headerKeys.noteKey])
        } catch {
            sweepHardware(
                afterFailing: attempt.header, nil, of: header.owner, verified.keys.headerKeys.noteKey)
            throw error
        }
        try replace(&attempt, with: header, noting: nil, verified.keys) { covered throws(VaultError) in
            try verified.keys.headerKeys.mac(covered)
        }
    }

    /// Has the generation of a header held that is about to be written, and that is the first one anchored for this
    /// home. First the store: a header that says it is anchored and is not would need the phrase. It is noted before
    /// that.
    func holdAnchor(
        of header: Header, after attempt: borrowing BurnedAttempt, noting keys: [NoteKey]
    ) throws(VaultError) {
        guard let anchor = settings.anchor else { throw .noAnchor }
        var note = HardwareNote()
        note.anchors = [header.owner]
        try HardwareNote.add(note, in: home, keys)
        let next = AnchoredState(generation: attempt.header.header.generation + 1, attempts: attempt.ledgerSequence)
        try keyStore { () throws(KeyStoreError) in try anchor.hold(next, of: header.owner) }
    }

    /// Before an attempt is burned: an old home is no place to guess in.
    /// - Throws: `rollbackSuspected`, `hardwareUnavailable`.
    func checkAnchor(_ header: Header, ledger: UInt64) throws(VaultError) {
        let isAnchored = header.flags.contains(.generationAnchored)
        guard let anchor = settings.anchor else {
            if isAnchored { throw .noAnchor }
            return
        }
        let present = AnchoredState(generation: header.generation, attempts: ledger)
        let held: AnchoredState?
        do throws(VaultError) {
            held = try keyStore { () throws(KeyStoreError) in try anchor.state(of: header.owner) }
        } catch {
            // A chip that does not respond does not block a vault that never used it.
            guard isAnchored else { return }
            throw error
        }
        if case .rolledBack(let what) = AnchorVerdict(isAnchored: isAnchored, held: held, present: present) {
            throw .rollback(what)
        }
    }

    /// Makes the key store know of a burned attempt, before the header is known to be genuine: only where the store
    /// holds something for a home whose wipe key lies here. A copy without one, or a folder that names another vault,
    /// writes nothing.
    func advanceAnchor(_ header: Header, ledger: UInt64) throws(VaultError) {
        guard header.flags.contains(.generationAnchored) else { return }
        guard let anchor = settings.anchor else { throw .noAnchor }
        guard let owner = owner(of: header) else { return }
        try keyStore { () throws(KeyStoreError) in
            try anchor.advance(to: AnchoredState(generation: header.generation, attempts: ledger), of: owner)
        }
    }

    /// Makes the key store follow a header that is genuine and this home's own.
    func followAnchor(_ header: Header, ledger: UInt64) throws(VaultError) {
        guard header.flags.contains(.generationAnchored) else { return }
        guard let anchor = settings.anchor else { throw .noAnchor }
        let owner = header.owner
        try keyStore { () throws(KeyStoreError) in
            let state = AnchoredState(generation: header.generation, attempts: ledger)
            let held = try anchor.state(of: owner)
            try anchor.hold(state.withAttempts(atLeast: held?.attempts ?? 0), of: owner)
        }
    }

    /// The phrase opened the vault: whatever the key store held, the current home is valid from now on. A home whose
    /// header is another one's leaves it to that one.
    /// - Parameter standing: As it was found when the header's MAC had been checked.
    func resetAnchor(_ header: Header, _ standing: HomeStanding) throws(VaultError) {
        guard let anchor = settings.anchor, standing == .own else { return }
        let owner = header.owner
        let attempts = try AttemptLedger.sequence(in: home, vault: header.vault)
        try keyStore { () throws(KeyStoreError) in
            guard header.flags.contains(.generationAnchored) else { return try anchor.release(owner) }
            try anchor.hold(AnchoredState(generation: header.generation, attempts: attempts), of: owner)
        }
    }

    /// Writes a header under a burned attempt, lets the key store follow, and lets go of what only the old one names.
    ///
    /// The header is what counts: an anchor that could not be written is one behind, which the next unlock makes good.
    ///
    /// - Parameters:
    ///   - header: Claimed for this home (``claim(_:_:_:)``).
    ///   - keys: Of the header that is there.
    ///   - newKeys: Of the new header, where it is under another master key; what is logged is logged with these.
    func replace(
        _ attempt: inout BurnedAttempt, with header: Header, noting event: SecurityEvent?, _ keys: UnlockedKeys,
        newKeys: UnlockedKeys? = nil, authenticate: ([UInt8]) throws(VaultError) -> [UInt8]
    ) throws(VaultError) {
        let generation = attempt.header.header.generation
        let newKey = newKeys?.headerKeys.noteKey
        let noteKeys = [keys.headerKeys.noteKey] + (newKey.map { [$0] } ?? [])
        defer {
            // Also when only the second copy could not be written: the change is made then.
            if let event, attempt.header.header.generation > generation {
                note(Success(event, after: attempt.budgetBefore), newKeys ?? keys)
            }
        }
        do throws(VaultError) {
            try noteHardware(of: attempt.header.header, and: header, noteKeys)
            // A home that was a copy until now is held under a number of its own.
            if header.flags.contains(.generationAnchored), header.home != attempt.header.header.home {
                try holdAnchor(of: header, after: attempt, noting: noteKeys)
            }
            try attempt.header.replace(header, authenticate: authenticate)
        } catch {
            // Whichever of the two is there now: with the second copy missing it is the new one.
            let isNew = attempt.header.header.generation > generation
            sweepHardware(
                afterFailing: attempt.header, header, of: header.owner, isNew ? newKey ?? noteKeys[0] : noteKeys[0])
            throw error
        }
        try? followAnchor(attempt.header.header, ledger: attempt.ledgerSequence)
        sweepHardware(attempt.header.header, of: header.owner, newKey ?? noteKeys[0])
    }
}

extension VaultError {
    static let noAnchor = VaultError(
        .hardwareUnavailable,
        "whether this vault is its newest state is kept in a key store that cannot be asked")

    static func rollback(_ what: String) -> VaultError {
        VaultError(
            .rollbackSuspected,
            "this home looks put back to an earlier state (\(what))")
    }
}

/// What comparing a home with its anchor says: a pure decision.
package enum AnchorVerdict: Sendable, Hashable {
    case current
    /// The header is one write ahead: a crash came between it and the anchor.
    case mustCatchUp
    /// The home is older than the anchor, or the two do not belong together.
    case rolledBack(String)

    /// - Parameters:
    ///   - isAnchored: What the header's flag says.
    ///   - held: What the key store has.
    ///   - present: What the home has.
    package init(isAnchored: Bool, held: AnchoredState?, present: AnchoredState) {
        switch (isAnchored, held) {
        case (false, nil): self = .current
        case (false, let held?):
            // A change that was cut off between the two: the store went ahead, or the header came back from it. Headers
            // that were written since, while the store could not be asked to let go, have reached or passed its number.
            let isNext = present.generation + 1 >= held.generation && present.attempts >= held.attempts
            self = isNext ? .current : .rolledBack("a copy from before it was anchored")
        case (true, nil):
            self = .rolledBack("its key store holds nothing for it, as on another machine or after it was cleared")
        case (true, let held?):
            if present.generation < held.generation {
                self = .rolledBack("an older header")
            } else if present.attempts < held.attempts {
                self = .rolledBack("an older attempt ledger")
            } else if present.generation > held.generation + 1 {
                self = .rolledBack("its key store is older than the header")
            } else {
                self = present.generation > held.generation ? .mustCatchUp : .current
            }
        }
    }
}
