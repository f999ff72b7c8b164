package import Cryptography
internal import DeviceOwner
internal import KeyStores
package import SecretMemory
package import VaultFormat
internal import VaultHeader
internal import VaultWipe
package import VaultStorage
internal import SystemCalls

extension Vault {
    /// What a deliberate wipe did.
    public struct WipeReport: Sendable {
        /// Signed; nil when not even that could be written, and is made at the next start.
        package let receipt: WipeReceipt?
        /// Where it lies.
        public let receiptPath: String
        /// Whether everything is erased. Otherwise the next start continues.
        public let isFinished: Bool
        /// What happened, in words.
        package let summary: String
    }

    /// The key that will sign a receipt.
    public struct WipeReceiptKey: Sendable, Hashable {
        /// The public half, 66 hexadecimal digits.
        public let publicKey: String
        /// Where it comes from.
        package let origin: WipeReceipt.KeyOrigin
    }

    /// Destroys the vault: its keys first, in constant time, then everything else of it. Nothing brings it back but a
    /// copy made before. Locked afterwards.
    ///
    /// - Parameters:
    ///   - passcode: The passcode.
    ///   - attempt: Spent on it.
    ///   - announce: Told the key that the receipt will be verified with, before anything is erased; what it throws
    ///     stops the wipe.
    /// - Throws: As ``unlock(passcode:spending:evenIfDamaged:)``; what writing can throw, with nothing erased. Once
    ///   erasing has begun nothing is thrown any more.
    package func wipe(
        passcode: borrowing SecretBytes, spending attempt: consuming BurnedAttempt,
        announce: (WipeReceiptKey) throws(VaultError) -> Void
    ) throws(VaultError) -> WipeReport {
        let verified = try verify(passcode, spending: &attempt)
        return try wipe(
            attempt.header, ownKey(attempt.header.header, verified.standing, verified.keys.headerKeys), announce)
    }

    /// As ``wipe(passcode:spending:announce:)`` with the recovery phrase.
    /// - Throws: `wrongPhrase`, `damaged`; what writing can throw, with nothing erased.
    package func wipe(
        phrase: borrowing RecoveryPhrase, announce: (WipeReceiptKey) throws(VaultError) -> Void
    ) throws(VaultError) -> WipeReport {
        let locked = try LockedHeader(in: home)
        let keys = try HeaderKeys(master: unwrap(phrase, locked.header), vault: locked.header.vault)
        // An altered header does not save the vault; what hardware holds is found by what lies here then.
        guard keys.authenticates(locked.header) else { return try wipe(locked, nil, announce) }
        let standing = standing(of: locked.header, [keys.noteKey])
        return try wipe(locked, ownKey(locked.header, standing, keys), announce)
    }

    /// As ``wipe(passcode:spending:announce:)``, with the strongest way that is there: the device's owner, or nobody
    /// where nobody is asked.
    /// - Throws: `proofTooWeak`, `proofExpired`, `movedElsewhere`; what writing can throw, with nothing erased.
    package func wipe(
        proving proof: consuming Proof, canAskOwner: Bool, announce: (WipeReceiptKey) throws(VaultError) -> Void
    ) throws(VaultError) -> WipeReport {
        guard let opening = gate.current else { throw .locked }
        let way = proof.way
        let master = try proof.redeem(for: opening, at: settings.clock.now())
        let locked = try LockedHeader(in: home)
        let keys = try HeaderKeys(master: master, vault: locked.header.vault)
        guard keys.authenticates(locked.header) else { throw .movedElsewhere }
        guard RequiredProof(RequiredProof.Facts(locked.header, canAskOwner: canAskOwner)).ways.contains(way) else {
            throw .proofTooWeak
        }
        let standing = standing(of: locked.header, [keys.noteKey])
        return try wipe(locked, ownKey(locked.header, standing, keys), announce)
    }

    /// This home's key as the header has it, back in its place should another one have been planted since it was looked
    /// at.
    private func ownKey(
        _ header: Header, _ standing: HomeStanding, _ keys: borrowing HeaderKeys
    ) -> WipeKey? {
        guard standing == .own else { return nil }
        do throws(VaultError) {
            let key = try keys.ownWipeKey(of: header)
            if WipeKeyFile.owner(in: home, vault: header.vault) != key.owner { try WipeKeyFile.write(key, in: home) }
            return key
        } catch { return nil }
    }

    /// - Parameter ownKey: Of this home, where the header is genuine and says so; else the one that lies here is taken.
    private func wipe(
        _ locked: borrowing LockedHeader, _ ownKey: consuming WipeKey?,
        _ announce: (WipeReceiptKey) throws(VaultError) -> Void
    ) throws(VaultError) -> WipeReport {
        let id = locked.header.vault
        // What cannot be read in its place, or has a second name, must not save the vault: then one is made for this
        // wipe.
        let isKept = ((try? receiptKey(of: id)) ?? nil) != nil
        if !isKept { _ = try ReceiptKeyFile.make(in: home, vault: id, origin: .wipe) }
        let mark: WipeMark
        let owner: HardwareOwner
        do throws(VaultError) {
            guard let key = try receiptKey(of: id) else { throw .damaged("\(ReceiptKeyFile.name) cannot be read back") }
            try announce(key)
            let wipeKey: WipeKey
            if let ownKey { wipeKey = ownKey } else { wipeKey = try WipeKeyFile.loadOrMake(in: home, vault: id) }
            (mark, owner) = (try wipeKey.mark(.owner), wipeKey.owner)
            try locked.beginWipe(mark)
        } catch {
            if !isKept { try? ReceiptKeyFile.destroy(in: home) }
            throw error
        }
        let ending = Wipe(home, settings, mark, owner).run(locked.file)
        forgetOwner(.enrollmentChanged)  // the share that this process made
        gate.close()  // not lock(): there is no log any more to write that into
        return WipeReport(
            receipt: ending.receipt, receiptPath: "\(home.path)/\(WipeReceipt.fileName)",
            isFinished: ending.isFinished, summary: ending.error.reason)
    }

    func receiptKey(of id: VaultID) throws(VaultError) -> WipeReceiptKey? {
        guard let key = try ReceiptKeyFile.load(in: home, vault: id) else { return nil }
        return WipeReceiptKey(publicKey: Hexadecimal.encode(key.publicBytes), origin: key.origin)
    }

    /// The key that waits for a wipe; nil when there is none, so that one would be made then.
    package var wipeReceiptKey: WipeReceiptKey? {
        get throws(VaultError) { try receiptKey(of: id) }
    }

    /// Whether a wipe has begun, ended or not; for a process that has the vault open while another one destroys it. Who
    /// ends the process because of it needs ``continueWipe()`` to say that nobody is at it any more.
    package var isWiped: Bool {
        guard let file = try? home.openFile(HeaderFile.name, O_RDONLY, evenIfLinked: true) else {
            return WipeReceiptFile.finished(in: home) != nil
        }
        return (try? file.read(Header.fileSize, at: 0)).flatMap { HeaderFile.genuineMark(in: $0, home) } != nil
    }

    /// How far a wipe is.
    package enum WipeProgress: Sendable, Hashable {
        /// None has begun.
        case none
        /// Another thread or process is erasing. A process that ends now may leave that to the next start.
        case running
        /// Nobody is at it any more. What could not be erased waits for the next start.
        case over
    }

    /// Ends a wipe that has begun, unless somebody is at it; waits for nobody.
    package func continueWipe() -> WipeProgress {
        guard isWiped else { return .none }
        switch Wipe.resume(in: home, settings, patience: 0) {
        case .none: return .none
        case .running: return .running
        case .over: return .over
        }
    }

    /// Returns when nobody is at a wipe any more, or the task was cancelled.
    package func waitForWipe() async {
        while continueWipe() == .running {
            // Whoever is at it may be another process, which tells nobody here.
            do { try await Task.sleep(for: .milliseconds(20)) } catch { return }
        }
    }

    /// Only the first step of a wipe, for measuring it; the next start finishes the rest.
    /// - Throws: `busy`, `readOnly`, `inputOutput`.
    package func eraseKeysOnly() throws(VaultError) {
        let locked = try LockedHeader(in: home)
        let key = try WipeKeyFile.loadOrMake(in: home, vault: locked.header.vault)
        try HardwareNote(of: locked.header).write(in: home, [])
        try Wipe.eraseKeys(key.mark(.owner), locked.file)
    }

    /// Whether a path is the vault's own folder or the one of its files.
    package func contains(folder path: String) -> Bool {
        guard let other = try? HomeDirectory(path: path) else { return false }
        if (try? home.isSameFolder(as: other)) == true { return true }
        guard let files = try? home.openFolder(FileStore.folder),
            let mine = try? files.status(),
            let theirs = try? DurableFile(owning: dup(other.descriptor), name: path).status()
        else { return false }
        return mine.isSameFile(as: theirs)
    }

    /// Whether a vault's header lies at this place, readable or not.
    package static func isVault(at path: String) -> Bool {
        (try? HomeDirectory(path: path))?.exists(HeaderFile.name) ?? false
    }

    /// The limit was reached with self-destruct on: destroys the vault now.
    /// - Returns: What to throw.
    func destroy(_ locked: borrowing LockedHeader) -> VaultError {
        let ending = Wipe.byRules(of: locked.header.vault, in: home, settings, locked.file)
        forgetOwner(.enrollmentChanged)  // the share that this process made
        gate.close()
        return ending.error
    }
}

extension Vault.Status {
    /// What follows from the next wrong passcodes, to be put behind what is said of attempts; empty while self-destruct
    /// is off.
    package var destructionWarning: String {
        AttemptBudget.warning(policy: policy, remaining: remainingAttempts, refused: refusedAttempts)
    }
}
