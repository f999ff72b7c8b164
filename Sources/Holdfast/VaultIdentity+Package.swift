public import BetterAuth
package import BetterAuthMessages
internal import Synchronization
package import VaultCore
internal import VaultHeader
package import VaultStorage

// What our own user interfaces need beside what an app has: the whole of what is stored, to show it, and what its owner
// decides alone.
extension VaultIdentity {
    /// What a vault holds of an identity; empty credentials where it holds none.
    /// - Throws: ``BetterAuth/IdentityError``: `locked`, `damaged`, `newerVersion`.
    package static func credentials(in vault: Vault) throws(IdentityError) -> Credentials {
        try BetterAuthClient.load(VaultCredentials(in: vault))
    }

    /// What is stored.
    package func credentials() async throws(IdentityError) -> Credentials { try await client.credentials() }

    /// As ``link(_:proof:)``, of a container that was read already.
    package func link(_ container: LinkContainer, proof: consuming Proof) async throws(IdentityError) -> DeviceID {
        try await link(String(decoding: container.bytes, as: UTF8.self), proof: proof)
    }

    /// As ``makeLinkText(for:)``.
    package func makeLinkContainer(for identity: IdentityID) async throws(IdentityError) -> LinkContainer {
        try requireServer()
        return try await client.makeLinkContainer(for: identity)
    }

    /// The authority that an account trusts for its server's response key.
    package enum Trust: Sendable, Hashable {
        /// This key and no chain; or, where it is nil, the next one that the server names, where no chain is trusted.
        case key(PublicKeyText?)
        /// What this key chain endorses.
        case chain(TrustedKeyChain)
    }

    /// Remembers the server that this was created with, and its trusted key.
    /// - Parameters:
    ///   - trust: Nil to trust as before.
    ///   - proof: A fresh proof; it is used up.
    package func move(trusting trust: Trust?, proof: consuming Proof) async throws(IdentityError) {
        try use(proof)
        try await remember(trust)
    }

    /// As ``move(trusting:proof:)`` on a device that has no account yet: there is nothing that could be taken away.
    /// - Throws: `accountExists`.
    package func begin(trusting trust: Trust) async throws(IdentityError) {
        guard try BetterAuthClient.load(store).account == nil else {
            throw IdentityError(.accountExists, "this device has an identity already; nothing was changed")
        }
        try await remember(trust)
    }

    private func remember(_ trust: Trust?) async throws(IdentityError) {
        let server = server
        // Whatever is saved names the server that it was saved for.
        try await client.update { credentials in
            switch trust {
            case nil: return
            case .chain(let chain): credentials.keyChain = chain
            case .key(let key):
                credentials.firstKeys.removeAll { $0.server == server }
                guard let key else { return }
                credentials.firstKeys.append(FirstKey(server: server, key: key))
                credentials.keyChain = nil
            }
        }
    }

    /// Records the state of the recovery drills.
    package static func setDrills(_ drills: DrillState, in vault: Vault) throws(IdentityError) {
        let store = VaultCredentials(in: vault)
        var credentials = try BetterAuthClient.load(store)
        credentials.drills = drills
        do { try store.save(credentials.encoded()) } catch { throw IdentityError(error) }
    }

    /// Forgets what a vault holds of an identity, also what cannot be read, and destroys its keys, without a server.
    /// - Parameter proof: A fresh proof; it is used up.
    package static func erase(
        in vault: Vault, _ keys: any DeviceKeys, proof: consuming Proof
    ) throws(IdentityError) {
        do throws(VaultError) { try vault.redeem(proof) } catch { throw IdentityError(error) }
        try BetterAuthClient.erase(VaultCredentials(in: vault), keys)
    }
}

extension VaultIdentity {
    /// Whether a key of this device was made before the vault got its present keys: a copy of the home with an old
    /// header may hold it, or what authorises a chip to use it.
    package static func isRotationDue(_ credentials: Credentials, in vault: Vault) throws(IdentityError) -> Bool {
        guard let account = credentials.account else { return false }
        do throws(VaultError) {
            let epoch = try vault.identityEpoch
            return [account.current, account.next].contains { KeyHandle.epoch(of: $0) != epoch }
        } catch { throw IdentityError(error) }
    }

    /// Brings keys into use that were made under the vault's present ones: two rotations, since the next key is an old
    /// one too. The vault then forgets what the old ones hung on. What fails now is tried again at the next session.
    func renewKeys() async {
        for isLast in [false, false, true] {
            guard let credentials = try? await credentials(), credentials.pending == nil,
                let isDue = try? VaultIdentity.isRotationDue(credentials, in: vault)
            else { return }
            if !isDue { return _ = try? vault.forgetOldIdentityKeys() }
            if isLast { return }
            do throws(IdentityError) { try await client.rotate() } catch { return }
        }
    }
}

extension IdentityError.Code {
    /// The proof that the user is present is too old, or belongs to another opening of the vault; nothing was changed.
    /// Ask for the passcode again.
    public static let proofExpired = IdentityError.Code(.proofExpired)
    /// The identity is kept at another server than the one that was named; `VaultIdentity.moveServer(proof:)` changes
    /// that.
    public static let otherServer = IdentityError.Code(.otherServer)
}

extension IdentityError {
    /// What a vault threw.
    package init(_ error: VaultError) {
        switch error.code {
        case .locked, .keysChanged, .assuranceTooLow: self.init(.locked, error.reason)
        case .damaged: self.init(.damaged, error.reason)
        case .proofExpired: self.init(.proofExpired, error.reason)
        case .outOfMemory: self.init(.outOfMemory, error.reason)
        case .unexpected: self.init(.unexpected, error.reason)
        default: self.init(.storage, error.reason)
        }
    }
}

/// Lets only one process at a time change the identity of a vault: two at once would overwrite each other's changes.
/// Ends with the object, and with the process.
package final class IdentityTurn: Sendable {
    private let lock: FileLock?

    /// Nil while another process has its turn. Where there is no home that can be written, what comes next says so.
    /// - Parameter home: The vault's folder.
    /// - Throws: `damaged` and `hardLinked` if something else is in the place of the lock file, which would then
    ///   exclude no one.
    package init?(in home: String) throws(VaultError) {
        do throws(VaultError) {
            guard let lock = try HomeDirectory(path: home).lock(IdentityMark.lock) else { return nil }
            self.lock = lock
        } catch {
            if error.code == .damaged || error.code == .hardLinked { throw error }
            lock = nil
        }
    }
}

/// Carries a proof into work of another task, where it is taken out once.
package final class ProofCarrier: Sendable {
    private let proof: Mutex<Proof?>

    package init(_ proof: consuming Proof) { self.proof = Mutex(proof) }

    /// The proof.
    /// - Throws: `notPending` for the second caller.
    package func take() throws(VaultError) -> Proof {
        guard let proof = proof.withLock({ $0.take() }) else {
            throw VaultError(.notPending, "the proof was used already; one proof allows one change")
        }
        return proof
    }
}
