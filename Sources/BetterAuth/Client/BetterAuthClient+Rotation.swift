public import BetterAuthMessages

extension BetterAuthClient {
    /// Brings the device's next key into use.
    /// - Throws: ``IdentityError``; `undecided` and `unreachable` where it is not known whether the server did it,
    ///   which the next operation finds out.
    public func rotate() async throws(IdentityError) {
        try await rotateChain(.rotate, rotation)
    }

    /// A plain rotation.
    var rotation: MakeMessage {
        { nonce, authentication, signer in
            try SignedMessage(
                RotateDevice.Request(nonce: nonce, authentication: authentication), signedBy: signer
            ).bytes
        }
    }

    /// Lets another device join the account.
    /// - Parameter container: What the other device shows.
    /// - Returns: The device that joined.
    /// - Throws: ``IdentityError/Code/invalidContainer`` before anything is sent, else as ``rotate()``.
    package func link(_ container: LinkContainer) async throws(IdentityError) -> DeviceID {
        let linked = container.payload.authentication
        guard (try? Derivations.standard.check(device: linked.device, linked.publicKey, linked.rotationHash)) != nil,
            let key = try? VerificationKey(linked.publicKey), key.isValid(container)
        else { throw IdentityError(.invalidContainer, "the link container is damaged or was changed") }
        try await rotateChain(.link(linked.device)) { nonce, authentication, signer throws in
            guard linked.identity == authentication.identity else {
                throw IdentityError(.invalidContainer, "the device asks to join another identity than this one")
            }
            guard linked.device != authentication.device else {
                throw IdentityError(.invalidContainer, "this is the container of this very device")
            }
            return try SignedMessage(
                LinkDevice.Request(nonce: nonce, authentication: authentication, container: container),
                signedBy: signer
            ).bytes
        }
        return linked.device
    }

    /// Takes a device out of the account. Where it is this one, its credentials are erased once the server agreed.
    public func unlink(_ device: DeviceID) async throws(IdentityError) {
        let own = try await credentials().account?.device
        try await rotateChain(device == own ? .leave : .unlink(device)) { nonce, authentication, signer in
            try SignedMessage(
                UnlinkDevice.Request(nonce: nonce, authentication: authentication, device: device), signedBy: signer
            ).bytes
        }
    }

    /// Replaces the recovery key. The new phrase must have been shown to its owner before.
    /// - Parameter recovery: The hash of the new key.
    public func changeRecovery(to recovery: RecoveryHash) async throws(IdentityError) {
        try await rotateChain(.changeRecovery(recovery)) { nonce, authentication, signer in
            try SignedMessage(
                ChangeRecoveryKey.Request(
                    nonce: nonce,
                    authentication: AccountAuthentication(
                        device: authentication.device, identity: authentication.identity,
                        publicKey: authentication.publicKey, recoveryHash: recovery,
                        rotationHash: authentication.rotationHash)), signedBy: signer
            ).bytes
        }
    }

    /// Ends the account, with all its devices, and erases this device's credentials once the server agreed.
    public func deleteAccount() async throws(IdentityError) {
        try await rotateChain(.delete) { nonce, authentication, signer in
            try SignedMessage(
                DeleteAccount.Request(nonce: nonce, authentication: authentication), signedBy: signer
            ).bytes
        }
    }

    typealias MakeMessage = (NonceText, RotationAuthentication, AnySigningKey) throws -> [UInt8]

    /// Writes a rotation down, sends it, and sees it through.
    private func rotateChain(_ effect: RotationEffect, _ make: MakeMessage) async throws(IdentityError) {
        try await exclusively { () async throws(IdentityError) in
            var credentials = try load()
            let settled = try await settle(&credentials)
            // Asked for again, because the answer was lost: it is done now.
            if case .done(effect) = settled, effect != .rotate { return }
            guard let account = credentials.account else { throw IdentityError.noAccount }
            if case .blocked(let chain) = settled, credentials.pending?.requests.last?.effect == effect {
                throw chain.error
            }
            try put(effect, account, make, &credentials)
            switch try await seeThrough(&credentials, wasSent: false) {
            case .done: return
            case .otherwise(let error): throw error
            case .blocked(let chain): throw chain.error
            }
        }
    }

    /// Writes a request down as the newest one: with a fresh future key, or with that of the requests that do not get
    /// through, so that whichever of them passes, the chain goes the same way.
    func put(
        _ effect: RotationEffect, _ account: Account, _ make: MakeMessage, _ credentials: inout Credentials
    ) throws(IdentityError) {
        let old = credentials
        if var pending = credentials.pending {
            if let index = pending.requests.firstIndex(where: { $0.effect == effect }) {
                pending.requests.append(pending.requests.remove(at: index))
            } else {
                // There is always room for the plain rotation, which takes the place of all of them.
                let others = pending.requests.count { $0.effect != .rotate }
                guard effect == .rotate || others < PendingRotation.mostRequests - 1 else {
                    throw IdentityError(
                        .tooLarge,
                        "\(others) requests wait for the server; none is added before one of them gets through")
                }
                let message = try self.message(effect, account, pending.future, make)
                pending.requests.append(.init(effect: effect, message: message))
            }
            credentials.pending = pending
        } else {
            let future = try identityCall { try keys.makeKey(in: account.next.place) }
            do throws(IdentityError) {
                let message = try self.message(effect, account, future, make)
                credentials.pending = PendingRotation(
                    future: future, requests: [.init(effect: effect, message: message)])
            } catch {
                try? keys.destroy(future)
                throw error
            }
        }
        try save(credentials, insteadOf: old)
    }

    private func message(
        _ effect: RotationEffect, _ account: Account, _ future: KeyRecord, _ make: MakeMessage
    ) throws(IdentityError) -> [UInt8] {
        // A device that leaves commits to a value that no key matches.
        let hash =
            effect == .leave
            ? Derivations.standard.farewellHash(of: future.publicKey)
            : Derivations.standard.rotationHash(of: future.publicKey)
        let authentication = RotationAuthentication(
            device: account.device, identity: account.identity, publicKey: account.next.publicKey, rotationHash: hash)
        return try identityCall {
            try make(.random(), authentication, AnySigningKey(keys.signer(account.next)))
        }
    }

    func send(
        _ request: PendingRotation.Request, _ credentials: inout Credentials
    ) async -> ExchangeResult<EmptyBody> {
        switch request.effect {
        case .rotate: await exchange(RotateDevice.self, request.message, &credentials)
        case .link: await exchange(LinkDevice.self, request.message, &credentials)
        case .unlink, .leave: await exchange(UnlinkDevice.self, request.message, &credentials)
        case .changeRecovery: await exchange(ChangeRecoveryKey.self, request.message, &credentials)
        case .delete: await exchange(DeleteAccount.self, request.message, &credentials)
        }
    }

    /// The chain has moved.
    /// - Parameter effect: What else happened; nil where it is not known which of several.
    func commit(_ effect: RotationEffect?, _ credentials: inout Credentials) throws(IdentityError) {
        guard let account = credentials.account, let pending = credentials.pending else { return }
        let old = credentials
        credentials.pending = nil
        if let effect, effect.endsAccount {
            credentials.account = nil
            credentials.session = nil
            credentials.drills = DrillState()
        } else {
            var hashes = account.recoveryHashes
            if case .changeRecovery(let hash) = effect {
                hashes = [hash]
                credentials.drills = .begun(now())
            } else if effect == nil {
                for request in pending.requests {
                    if case .changeRecovery(let hash) = request.effect, !hashes.contains(hash) { hashes.append(hash) }
                }
            }
            credentials.account = Account(
                identity: account.identity, device: account.device, current: account.next, next: pending.future,
                recoveryHashes: hashes)
        }
        try save(credentials, insteadOf: old)
    }
}
