package import BetterAuthMessages

extension BetterAuthClient {
    /// Brings the device's next key into use.
    /// - Throws: ``IdentityError``; `undecided` and `unreachable` where it is not known whether the server did it, which
    ///   the next operation finds out.
    package func rotate() async throws(IdentityError) {
        try await rotateChain(.rotate) { nonce, authentication, signer in
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
    package func unlink(_ device: DeviceID) async throws(IdentityError) {
        let own = try await credentials().account?.device
        try await rotateChain(device == own ? .leave : .unlink(device)) { nonce, authentication, signer in
            try SignedMessage(
                UnlinkDevice.Request(nonce: nonce, authentication: authentication, device: device), signedBy: signer
            ).bytes
        }
    }

    /// Replaces the recovery key. The new phrase must have been shown to its owner before.
    /// - Parameter recovery: The hash of the new key.
    package func changeRecovery(to recovery: RecoveryHash) async throws(IdentityError) {
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
    package func deleteAccount() async throws(IdentityError) {
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
            try await settle(&credentials)
            guard let account = credentials.account else { throw IdentityError.noAccount }
            let future = try identityCall { try keys.makeKey(in: account.next.place) }
            let message: [UInt8]
            do throws(IdentityError) {
                message = try self.message(effect, account, future, make)
            } catch {
                try? keys.destroy(future)
                throw error
            }
            let old = credentials
            credentials.pending = PendingRotation(future: future, requests: [.init(effect: effect, message: message)])
            try save(credentials, insteadOf: old)
            try await seeThrough(&credentials, wasSent: false)
        }
    }

    private func message(
        _ effect: RotationEffect, _ account: Account, _ future: KeyRecord, _ make: MakeMessage
    ) throws(IdentityError) -> [UInt8] {
        // Who leaves commits to what no key ever matches.
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

    /// Comes to an end with what earlier operations left.
    func settle(_ credentials: inout Credentials) async throws(IdentityError) {
        if credentials.pending != nil {
            let requests = credentials.pending?.requests ?? []
            do throws(IdentityError) {
                try await seeThrough(&credentials, wasSent: true)
                if let last = requests.last { notify(.settled(last.effect)) }
            } catch {
                // It has come to an end all the same, in another way; that was told.
                guard credentials.pending == nil else { throw error }
            }
        }
        guard credentials.staged != nil else { return }
        let hasAccount = credentials.account != nil
        do throws(IdentityError) {
            try await settleStaged(&credentials)
        } catch {
            // A recovery that the server does not want is no reason to stop with the account that is there.
            guard hasAccount, error.code == .refused else { throw error }
        }
    }

    /// Takes the steps that ``RotationSettlement`` decides on.
    /// - Throws: Unless the newest request took effect.
    private func seeThrough(_ credentials: inout Credentials, wasSent: Bool) async throws(IdentityError) {
        guard let account = credentials.account, let first = credentials.pending?.requests.last else { return }
        var settlement = RotationSettlement(isPlain: first.effect == .rotate, wasSent: wasSent)
        var step = RotationSettlement.Step.send
        /// What the server said to the request that was meant.
        var failure: IdentityError?
        while true {
            switch step {
            case .send, .supersede:
                if step == .supersede { try supersede(&credentials, account) }
                guard let request = credentials.pending?.requests.last else { return }
                let result = await send(request, &credentials)
                if request == first, failure?.code != .refused { failure = result.failure ?? failure }
                step = settlement.handle(result.event)
            case .probeNext:
                step = settlement.handle(await probe(account, with: account.next, &credentials).event)
            case .probeCurrent:
                step = settlement.handle(await probe(account, with: account.current, &credentials).event)
            case .end(.confirmed):
                let last = credentials.pending?.requests.last?.effect ?? .rotate
                try commit(last, &credentials)
                guard last == first.effect else {
                    notify(.abandoned(first.effect))
                    throw failure ?? .undecided
                }
                return
            case .end(.moved):
                let effects = credentials.pending?.requests.map(\.effect) ?? []
                guard effects.count > 1 else { return try commit(first.effect, &credentials) }
                try commit(nil, &credentials)
                notify(.settledOneOf(effects))
                throw IdentityError(
                    .undecided, "the device's keys are in order; whether the server did more than rotate is not known")
            case .end(.refused): throw failure ?? .undecided
            case .end(.undecided): throw failure ?? .undecided
            case .end(.unknown): throw IdentityError.chainUnknown
            }
        }
    }

    private func supersede(_ credentials: inout Credentials, _ account: Account) throws(IdentityError) {
        guard let pending = credentials.pending else { return }
        let message = try message(.rotate, account, pending.future) { nonce, authentication, signer in
            try SignedMessage(
                RotateDevice.Request(nonce: nonce, authentication: authentication), signedBy: signer
            ).bytes
        }
        let old = credentials
        credentials.pending?.requests.append(.init(effect: .rotate, message: message))
        try save(credentials, insteadOf: old)
    }

    private func send(
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
    private func commit(_ effect: RotationEffect?, _ credentials: inout Credentials) throws(IdentityError) {
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
