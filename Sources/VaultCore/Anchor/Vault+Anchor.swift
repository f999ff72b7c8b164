internal import KeyStores
package import SecretMemory
internal import VaultFormat

extension Vault {
    /// Has the key store of the settings hold the header's generation and the ledger's count from now on.
    /// - Throws: As ``unlock(passcode:spending:evenIfDamaged:)``, `hardwareUnavailable`.
    package func anchorGeneration(
        passcode: borrowing SecretBytes, spending attempt: consuming BurnedAttempt
    ) throws(VaultError) {
        guard let anchor = settings.anchor else { throw .noAnchor }
        let verified = try verify(passcode, spending: &attempt)
        var header = attempt.header.header
        guard !header.flags.contains(.generationAnchored) else { return }
        header.flags.insert(.generationAnchored)
        let next = AnchoredState(generation: header.generation + 1, attempts: attempt.ledgerSequence)
        // First the store: a header that says it is anchored and is not would need the phrase.
        try noteAnchor(of: header.vault)
        do throws(VaultError) {
            try keyStore { () throws(KeyStoreError) in try anchor.hold(next, of: header.vault) }
        } catch {
            sweepHardware(afterFailing: attempt.header)
            throw error
        }
        try replace(&attempt, with: header, noting: nil, verified.keys) { covered throws(VaultError) in
            try verified.keys.headerKeys.mac(covered)
        }
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
            held = try keyStore { () throws(KeyStoreError) in try anchor.state(of: header.vault) }
        } catch {
            // A chip that does not answer keeps nobody out who has never used it.
            guard isAnchored else { return }
            throw error
        }
        if case .rolledBack(let what) = AnchorVerdict(isAnchored: isAnchored, held: held, present: present) {
            throw .rollback(what)
        }
    }

    /// Makes the key store follow: after each burned attempt and each new header.
    func updateAnchor(_ header: Header, ledger: UInt64) throws(VaultError) {
        guard header.flags.contains(.generationAnchored) else { return }
        guard let anchor = settings.anchor else { throw .noAnchor }
        try keyStore { () throws(KeyStoreError) in
            try anchor.advance(
                to: AnchoredState(generation: header.generation, attempts: ledger), of: header.vault)
        }
    }

    /// The phrase opened the vault: whatever the key store held, the present home counts from now on.
    func resetAnchor(_ header: Header) throws(VaultError) {
        guard let anchor = settings.anchor else { return }
        let attempts = try AttemptLedger.sequence(in: home, vault: header.vault)
        try keyStore { () throws(KeyStoreError) in
            guard header.flags.contains(.generationAnchored) else { return try anchor.release(header.vault) }
            try anchor.hold(AnchoredState(generation: header.generation, attempts: attempts), of: header.vault)
        }
    }

    /// Writes a header under a burned attempt, lets the key store follow, and lets go of what only the old one names.
    ///
    /// The header is what counts: an anchor that could not be written is one behind, which the next unlock makes good.
    func replace(
        _ attempt: inout BurnedAttempt, with header: Header, noting event: LogEvent?, _ keys: UnlockedKeys,
        authenticate: ([UInt8]) throws(VaultError) -> [UInt8]
    ) throws(VaultError) {
        let generation = attempt.header.header.generation
        defer {
            // Also when only the second copy could not be written: the change is made then.
            if let event, attempt.header.header.generation > generation {
                note(Success(event, after: attempt.budgetBefore), keys)
            }
        }
        do throws(VaultError) {
            try noteHardware(of: attempt.header.header, and: header)
            try attempt.header.replace(header, authenticate: authenticate)
        } catch {
            sweepHardware(afterFailing: attempt.header, header)
            throw error
        }
        try? updateAnchor(attempt.header.header, ledger: attempt.ledgerSequence)
        sweepHardware(attempt.header.header)
    }
}

extension VaultError {
    static let noAnchor = VaultError(
        .hardwareUnavailable,
        "this vault's generation is held in a key store that cannot be asked; use the recovery phrase (holdfast recover)"
    )

    static func rollback(_ what: String) -> VaultError {
        VaultError(
            .rollbackSuspected,
            "this home looks put back to an earlier state (\(what)); use the recovery phrase (holdfast recover)")
    }
}
