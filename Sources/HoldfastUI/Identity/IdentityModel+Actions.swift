internal import BetterAuth
internal import BetterAuthMessages
public import Holdfast

extension IdentityModel {
    /// What is wrong with an address, or with the name of an identity, that its owner typed: to be said before a phrase
    /// is shown for it.
    package nonisolated static func problem(server: String, identity: String? = nil) -> IdentityProblem? {
        if (try? ServerAddress(server)) == nil { return .invalidAddress }
        if let identity, IdentityID(identity) == nil { return .invalidIdentity }
        return nil
    }

    /// What is wrong with a device name or container that the user entered; shown before the passcode is asked for.
    package nonisolated static func problem(device: String? = nil, container: String? = nil) -> IdentityProblem? {
        if let device, DeviceID(device) == nil { return .invalidDevice }
        if let container, (try? LinkContainer(parsing: Array(container.utf8))) == nil { return .invalidContainer }
        return nil
    }

    /// Makes an account whose phrase was shown, at the server of this address.
    public func create(at server: String) async {
        await spend(.create, server) { client, _, hash throws(IdentityError) in
            let account = try await client.createAccount(recovery: hash)
            return .identity(.created, digest: account.identity.rawBytes)
        }
    }

    /// Replaces the recovery phrase by the one that was shown.
    /// - Parameter passcode: The vault's, typed when the words were on paper: an open vault is not enough. Nil for a
    ///   vault without one: the device's owner is asked.
    package func changeRecovery(passcode: consuming SecretBytes? = nil) async {
        await spend(.changeRecovery, nil, by: OwnersWord(passcode)) {
            client, proof, hash throws(IdentityError) in
            try await client.changeRecovery(to: hash, proof: proof.take())
            return nil
        }
    }

    /// Recovers an account with the current phrase; the new phrase that was shown replaces it.
    package func recover(_ identity: String, at server: String, phrase old: consuming SecretBytes) async {
        guard let identity = IdentityID(identity) else { return end(.recover, .invalidIdentity) }
        let began = drops
        let key: SoftwareSigningKey
        do { key = try await IdentityModel.recoveryKey(of: old, derivation, vault: lock.app.vault) } catch {
            return end(.recover, error)
        }
        guard began == drops else { return end(.recover, .locked) }
        await spend(.recover, server) { client, _, hash throws(IdentityError) in
            let account = try await client.recoverAccount(identity, with: key, successor: hash)
            return .identity(.recovered, digest: account.identity.rawBytes)
        }
    }

    /// Makes the link container of this device for an account.
    package func makeContainer(for identity: String, at server: String) async {
        guard let identity = IdentityID(identity) else { return end(.makeContainer, .invalidIdentity) }
        let began = drops
        await run(.makeContainer, server) { [weak self] client, _ throws(IdentityError) in
            let container = try await client.makeLinkContainer(for: identity)
            await self?.show(container: container.bytes, began)
            return nil
        }
    }

    /// Lets the device join that shows this container.
    /// - Parameters:
    ///   - container: What the device shows.
    ///   - passcode: As for ``delete(passcode:)``.
    package func link(_ container: String, passcode: consuming SecretBytes? = nil) async {
        guard let container = try? LinkContainer(parsing: Array(container.utf8)) else {
            return end(.link, .invalidContainer)
        }
        await run(.link, by: OwnersWord(passcode)) { client, proof throws(IdentityError) in
            .device(.linked, digest: try await client.link(container, proof: proof.take()).rawBytes)
        }
    }

    /// Removes a device from the account; if it is this one, it forgets the account.
    /// - Parameters:
    ///   - device: Its name.
    ///   - passcode: As for ``delete(passcode:)``.
    package func unlink(_ device: String, passcode: consuming SecretBytes? = nil) async {
        guard let device = DeviceID(device) else { return end(.unlink, .invalidDevice) }
        await run(.unlink, by: OwnersWord(passcode)) { client, proof throws(IdentityError) in
            try await client.unlink(device, proof: proof.take())
            return .device(.unlinked, digest: device.rawBytes)
        }
    }

    /// Brings the device's next key into use.
    package func rotate() async {
        await run(.rotate) { client, _ throws(IdentityError) in
            try await client.rotate()
            let account = try await client.credentials().account
            return account.map { .identity(.rotated, digest: $0.identity.rawBytes) }
        }
    }

    /// Opens a session. On a device that waits to be linked this finds out whether it was.
    public func openSession() async {
        await run(.openSession) { client, _ throws(IdentityError) in
            _ = try await client.openSession()
            return nil
        }
    }

    /// Refreshes the session.
    package func refreshSession() async {
        await run(.refreshSession) { client, _ throws(IdentityError) in
            _ = try await client.refreshSession()
            return nil
        }
    }

    /// Ends the session: its keys are erased. Nothing is sent.
    public func endSession() async {
        await run(.endSession) { client, _ throws(IdentityError) in
            try await client.endSession()
            return nil
        }
    }

    /// Posts compact JSON, signed with the session's key; ``answer`` has what came back, once its signature was
    /// verified.
    /// - Parameters:
    ///   - path: As `/foo/bar`. Neither it nor the server is signed.
    ///   - json: The request's content, compact JSON.
    ///   - target: The app server; nil where it is the identity's own.
    public func request(_ path: String, _ json: String, at target: String? = nil) async {
        guard ServerAddress.isPath(path), let data = try? ApplicationData(json: json) else {
            return end(.request, .invalidRequest)
        }
        var address: ServerAddress?
        if let target {
            guard let given = try? ServerAddress(target) else { return end(.request, .invalidAddress) }
            address = given
        }
        let (began, server) = (drops, address)
        answer = nil
        await run(.request) { [weak self] client, _ throws(IdentityError) in
            let answer: ApplicationData = try await client.request(path, at: server, data)
            await self?.show(answer: answer.bytes, began)
            return nil
        }
    }

    /// Comes to an end with what was sent earlier and not answered.
    public func settle() async {
        await run(.settle) { client, _ throws(IdentityError) in
            try await client.settle()
            return nil
        }
    }

    /// Deletes the account, for all its devices.
    /// - Parameter passcode: The vault's, because an open vault is not enough; nil where it has none, and the device's
    ///   owner is asked.
    public func delete(passcode: consuming SecretBytes? = nil) async {
        let vault = lock.app.vault
        await run(.delete, by: OwnersWord(passcode)) { client, proof throws(IdentityError) in
            let account = try await client.credentials().account
            try await client.deleteAccount(proof: proof.take())
            try? vault.forgetIdentityPhrase()
            return account.map { .identity(.deleted, digest: $0.identity.rawBytes) }
        }
    }

    /// Forgets the account on this device.
    /// - Parameter passcode: The vault's, because an open vault is not enough; nil where it has none, and the device's
    ///   owner is asked.
    package func erase(passcode: consuming SecretBytes? = nil) async {
        let vault = lock.app.vault
        await run(.erase, by: OwnersWord(passcode)) { client, proof throws(IdentityError) in
            try await client.erase(proof: proof.take())
            try? vault.forgetIdentityPhrase()
            return nil
        }
    }

    private func show(container: [UInt8], _ began: Int) {
        if began == drops { self.container = String(decoding: container, as: UTF8.self) }
    }

    private func show(answer: [UInt8], _ began: Int) {
        if began == drops { self.answer = String(decoding: answer, as: UTF8.self) }
    }
}
