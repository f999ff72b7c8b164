internal import Cryptography
internal import SecretMemory
internal import VaultFormat
internal import VaultStorage

extension Vault {
    /// Recovery of a vault that opens without asking, whether its share is lost or not: whoever gives it a passcode wants to be
    /// asked. It gets new keys, and the device's slot goes; a slot whose share is lost would stop every start.
    /// - Returns: Nil for another vault, and for one whose header was changed by something else: the other way mends that.
    /// - Throws: As ``recover(phrase:newPasscode:hardware:)``; the vault is locked then.
    func recoverAtDevice(
        _ phrase: borrowing RecoveryPhrase, _ newPasscode: borrowing SecretBytes, _ hardware: HardwareDecision?
    ) throws(VaultError) -> Recovery? {
        guard !settings.opensOnly, try HeaderFile.read(in: home).deviceSlot != nil else { return nil }
        let proof: Proof
        do throws(VaultError) { proof = try unlockProving(phrase: phrase) } catch {
            if error.code == .damaged { return nil }
            throw error
        }
        do throws(VaultError) {
            // A copy that was restored has let go of its slot with this unlock.
            let header = try HeaderFile.read(in: home)
            guard header.deviceSlot != nil else { return nil }
            try finishRekey()
            var wish = LevelWish(.secret)
            wish.passcode = try newPasscode.copied()
            wish.phrase = try phrase.copied()
            wish.hardware = hardware
            try change(to: wish, proving: proof)
            return Recovery(
                headerWasAltered: false, hardwareWasDropped: false, pinWasRemoved: header.pinSlot != nil, asksNow: true)
        } catch {
            lock()
            throw error
        }
    }
}

extension RecoveryPhrase {
    fileprivate borrowing func copied() throws(VaultError) -> RecoveryPhrase {
        let text = try withText { text throws(VaultError) in
            try secretMemory(SecretBytes(copying: text))
        }
        do throws(RecoveryPhraseError) { return try RecoveryPhrase(parsing: text) } catch {
            throw VaultError(.malformedPhrase, "\(error)")
        }
    }
}
