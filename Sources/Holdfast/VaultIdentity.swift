public import BetterAuth
internal import BetterAuthMessages
internal import SecretMemory
public import VaultCore
internal import VaultStorage

/// The identity of this device, with its credentials in a vault. It has every operation of
/// ``BetterAuth/BetterAuthClient``; each one that could permanently take the identity away needs a ``VaultCore/Proof``
/// of the same vault and uses it up.
///
/// Anyone in front of the unlocked device can act for its owner until it is locked. They cannot link their own device,
/// unlink the owner's, set their own recovery phrase, or delete the account. Nor can they make the account's keys sign
/// for their own server: an operation throws `otherServer` where the account is kept elsewhere, for a rotation that is
/// passed on to the real server ends the account there (its path is not signed).
public struct VaultIdentity: Sendable {
    let client: BetterAuthClient
    let store: VaultCredentials
    let vault: Vault
    let server: String

    /// - Parameters:
    ///   - vault: Where the credentials rest.
    ///   - keys: Makes and uses this device's keys.
    ///   - server: The server of the identity.
    ///   - trust: How its response key is known.
    ///   - now: The time in UTC.
    ///   - notify: Called with notices to show the user; it must not call back into the client.
    package init(
        in vault: Vault, keys: any DeviceKeys, transport: any Transport, server: ServerAddress, trust: ResponseTrust,
        now: @escaping @Sendable () -> Timestamp = { .now },
        notify: @escaping @Sendable (IdentityNotice) -> Void = { _ in }
    ) {
        self.vault = vault
        self.server = server.description
        store = VaultCredentials(in: vault)
        client = BetterAuthClient(
            store: store, keys: keys, transport: transport, server: server, trust: trust, now: now, notify: notify)
    }

    /// What is known of the identity, without asking the server.
    /// - Throws: As ``BetterAuth/BetterAuthClient/status()``.
    public func status() async throws(IdentityError) -> IdentityStatus { try await client.status() }

    // MARK: What anyone in front of the unlocked vault may do

    /// As ``BetterAuth/BetterAuthClient/createAccount(recovery:)``. There is no account yet that could be taken.
    public func createAccount(recovery: RecoveryHash) async throws(IdentityError) -> Account {
        try requireServer()
        return try await client.createAccount(recovery: recovery)
    }

    /// As ``BetterAuth/BetterAuthClient/recoverAccount(_:with:successor:)``. The current phrase is the proof: anyone
    /// who has it does not need this device.
    public func recoverAccount(
        _ identity: IdentityID, with recoveryKey: any SigningKey, successor: RecoveryHash
    ) async throws(IdentityError) -> Account {
        try requireServer()
        return try await client.recoverAccount(identity, with: recoveryKey, successor: successor)
    }

    /// As ``BetterAuth/BetterAuthClient/makeLinkText(for:)``. The device that lets this one join asks for the proof.
    public func makeLinkText(for identity: IdentityID) async throws(IdentityError) -> String {
        try requireServer()
        return try await client.makeLinkText(for: identity)
    }

    /// As ``BetterAuth/BetterAuthClient/rotate()``.
    /// - Throws: As there; `otherServer`.
    public func rotate() async throws(IdentityError) {
        try requireServer()
        try await client.rotate()
    }

    /// As ``BetterAuth/BetterAuthClient/openSession()``. After the vault got new keys it also brings the device's next
    /// keys into use, so that what was derived from the old ones, or lay under them, is worth nothing to a copy.
    /// - Throws: As there; `otherServer`.
    public func openSession() async throws(IdentityError) -> Session {
        try requireServer()
        let session = try await client.openSession()
        await renewKeys()
        return session
    }

    /// As ``BetterAuth/BetterAuthClient/refreshSession()``.
    /// - Throws: As there; `otherServer`.
    public func refreshSession() async throws(IdentityError) -> Session {
        try requireServer()
        return try await client.refreshSession()
    }

    /// As ``BetterAuth/BetterAuthClient/endSession()``.
    public func endSession() async throws(IdentityError) {
        try requireServer()
        try await client.endSession()
    }

    /// As ``BetterAuth/BetterAuthClient/request(_:at:_:answer:trust:)``.
    public func request<Answer: ApplicationBody>(
        _ path: String, at target: ServerAddress? = nil, _ body: some ApplicationBody,
        answer: Answer.Type = Answer.self, trust: ResponseTrust? = nil
    ) async throws(IdentityError) -> Answer {
        try requireServer()
        return try await client.request(path, at: target, body, answer: answer, trust: trust)
    }

    /// As ``BetterAuth/BetterAuthClient/settle()``: what it finishes was proved when it was begun.
    /// - Throws: As there; `otherServer`.
    public func settle() async throws(IdentityError) {
        try requireServer()
        try await client.settle()
    }

    /// Comes to an end with an earlier change of the recovery phrase; requests of another kind may keep waiting.
    package func settleRecovery() async throws(IdentityError) {
        try requireServer()
        try await client.settleRecovery()
    }

    // MARK: What needs its owner

    /// Lets another device join the account.
    /// - Parameters:
    ///   - text: What the other device made with ``makeLinkText(for:)``.
    ///   - proof: A fresh proof; it is used up.
    /// - Returns: The device that joined.
    /// - Throws: `proofExpired`; `otherServer`; as ``BetterAuth/BetterAuthClient/link(_:)``.
    public func link(_ text: String, proof: consuming Proof) async throws(IdentityError) -> DeviceID {
        try redeem(proof)
        return try await client.link(text)
    }

    /// Removes a device from the account. Where it is this one, its credentials are erased once the server agreed.
    /// - Parameters:
    ///   - device: The device that is removed.
    ///   - proof: A fresh proof; it is used up.
    /// - Throws: `proofExpired`; `otherServer`; as ``BetterAuth/BetterAuthClient/unlink(_:)``.
    public func unlink(_ device: DeviceID, proof: consuming Proof) async throws(IdentityError) {
        try redeem(proof)
        try await client.unlink(device)
    }

    /// Replaces the recovery key. Show the new phrase to the user first and make the proof afterwards, because writing
    /// 24 words down takes longer than a minute.
    /// - Parameters:
    ///   - recovery: The hash of the new key.
    ///   - proof: A fresh proof; it is used up.
    /// - Throws: `proofExpired`; `otherServer`; as ``BetterAuth/BetterAuthClient/changeRecovery(to:)``.
    public func changeRecovery(to recovery: RecoveryHash, proof: consuming Proof) async throws(IdentityError) {
        try redeem(proof)
        try await client.changeRecovery(to: recovery)
    }

    /// Ends the account, with all its devices, and erases this device's credentials once the server agreed.
    /// - Parameter proof: A fresh proof; it is used up.
    /// - Throws: `proofExpired`; `otherServer`; as ``BetterAuth/BetterAuthClient/deleteAccount()``.
    public func deleteAccount(proof: consuming Proof) async throws(IdentityError) {
        try redeem(proof)
        try await client.deleteAccount()
    }

    /// Forgets the account on this device, without telling the server, which keeps it. Without another device only the
    /// recovery phrase leads back.
    /// - Parameter proof: A fresh proof; it is used up.
    /// - Throws: `proofExpired`; as ``BetterAuth/BetterAuthClient/erase()``.
    public func erase(proof: consuming Proof) async throws(IdentityError) {
        try use(proof)
        try await client.erase()
    }

    /// Trusts the next response key that this server names, where the first one has changed; or this one, and no other.
    /// - Parameters:
    ///   - key: The only one from now on; nil for the next that the server names.
    ///   - proof: A fresh proof; it is used up.
    /// - Throws: `proofExpired`; `otherServer`; what the vault throws.
    public func replaceFirstKey(with key: PublicKeyText? = nil, proof: consuming Proof) async throws(IdentityError) {
        try redeem(proof)
        try await client.replaceFirstKey(with: key)
    }

    /// Remembers that the identity is kept at the server that this was made with, where it was another one before: the
    /// same service under a new address.
    /// - Parameter proof: A fresh proof; it is used up.
    /// - Throws: `proofExpired`; what the vault throws.
    public func moveServer(proof: consuming Proof) async throws(IdentityError) {
        try use(proof)
        try await client.update { _ in }  // whatever is saved names the server that it was saved for
    }
}

extension VaultIdentity {
    func use(_ proof: consuming Proof) throws(IdentityError) {
        do throws(VaultError) { try vault.redeem(proof) } catch { throw IdentityError(error) }
    }

    func redeem(_ proof: consuming Proof) throws(IdentityError) {
        try use(proof)
        try requireServer()
    }

    /// The account's keys must not sign for an arbitrary server: it could replay the same bytes to the real one. Asked
    /// of each operation, since whatever is saved names the server that it was saved for.
    func requireServer() throws(IdentityError) {
        let credentials = try BetterAuthClient.load(store)
        guard credentials.account != nil, let known = credentials.server, known != server else { return }
        throw IdentityError(
            .otherServer, "this identity is kept at \(known), not at \(server); nothing was sent or changed")
    }
}

extension HoldfastApp {
    /// The identity of this device, whose credentials rest in the vault and whose keys are made in the device's Secure
    /// Enclave or TPM where there is one, else in the vault. Every operation needs the open lock; operations that could
    /// permanently take the identity away need a proof as well: ``AppLockCore/AppLock/prove(passcode:)``.
    ///
    /// One at a time: two would each write what the other does not know.
    /// - Parameters:
    ///   - server: The server of the identity.
    ///   - transport: The way there.
    ///   - trust: How its response key is known.
    ///   - notify: Called with notices to show the user; it must not call back into the client.
    public func identity(
        at server: ServerAddress, over transport: any Transport, trust: ResponseTrust,
        notify: @escaping @Sendable (IdentityNotice) -> Void = { _ in }
    ) -> VaultIdentity {
        VaultIdentity(
            in: vault, keys: ChipDeviceKeys.standard(for: vault), transport: transport, server: server, trust: trust,
            notify: notify)
    }
}

/// The credentials of this device's identity inside the vault: one record in the protected compartment, in a collection
/// that is not listed and cannot be accessed by name. They come and go with the vault: locked with it, wiped with it.
///
/// Internal to this module: operations that could take the identity away go through ``VaultIdentity``, which demands a
/// proof.
struct VaultCredentials: CredentialStore {
    private let record: ReservedRecord

    init(in vault: Vault) { record = vault.identityRecord }

    func load() throws -> SecretBytes? {
        do {
            return try record.withValue { try SecretBytes(copying: $0) }
        } catch let error as VaultError {
            if error.code == .recordNotFound { return nil }
            throw IdentityError(error)
        }
    }

    func save(_ credentials: borrowing SecretBytes) throws {
        do throws(VaultError) { try record.replace(with: credentials) } catch { throw IdentityError(error) }
    }

    func erase() throws {
        do throws(VaultError) { try record.delete() } catch {
            if error.code != .recordNotFound { throw IdentityError(error) }
        }
    }
}
