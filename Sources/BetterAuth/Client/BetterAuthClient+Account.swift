public import BetterAuthMessages

extension BetterAuthClient {
    /// Makes an account with this device as its first. The recovery phrase must have been shown to its owner before.
    ///
    /// Where an earlier creation was not answered, that one is finished instead, with its own phrase.
    /// - Parameter recovery: The hash of the recovery key.
    /// - Throws: ``IdentityError``; `accountExists` without changing anything.
    public func createAccount(recovery: RecoveryHash) async throws(IdentityError) -> Account {
        try await stage(.create) { () throws(IdentityError) in
            let (current, next) = try self.pair()
            let hash = Derivations.standard.rotationHash(of: next.publicKey)
            let account = Account(
                identity: Derivations.standard.identity(current.publicKey, hash, recovery),
                device: Derivations.standard.device(current.publicKey, hash), current: current, next: next,
                recoveryHashes: [recovery])
            let message = try identityCall {
                try SignedMessage(
                    CreateAccount.Request(
                        nonce: .random(),
                        authentication: AccountAuthentication(
                            device: account.device, identity: account.identity, publicKey: current.publicKey,
                            recoveryHash: recovery, rotationHash: hash)),
                    signedBy: AnySigningKey(keys.signer(current))
                ).bytes
            }
            return StagedAccount(kind: .create, account: account, message: message)
        }
    }

    /// Takes the account back with its recovery key: all its devices are revoked, and this one is registered.
    ///
    /// - Parameters:
    ///   - identity: The account's.
    ///   - recoveryKey: From the phrase that counted so far.
    ///   - successor: The hash of the next recovery key, whose phrase must have been shown to its owner before.
    /// - Throws: ``IdentityError``; `accountExists` where this device has an account of another identity.
    public func recoverAccount(
        _ identity: IdentityID, with recoveryKey: any SigningKey, successor: RecoveryHash
    ) async throws(IdentityError) -> Account {
        // The message could be used again for ever (protocol, section 12, item 6).
        guard Derivations.standard.recoveryHash(of: recoveryKey.publicKey) != successor else {
            throw IdentityError(.wrongPhrase, "the new recovery phrase is the one that is used up")
        }
        return try await stage(.recover, replacing: identity) { () throws(IdentityError) in
            let (current, next) = try self.pair()
            let hash = Derivations.standard.rotationHash(of: next.publicKey)
            let device = Derivations.standard.device(current.publicKey, hash)
            let message = try identityCall {
                try SignedMessage(
                    RecoverAccount.Request(
                        nonce: .random(),
                        authentication: RecoveryAuthentication(
                            device: device, identity: identity, publicKey: current.publicKey, recoveryHash: successor,
                            recoveryKey: recoveryKey.publicKey, rotationHash: hash)),
                    signedBy: AnySigningKey(recoveryKey)
                ).bytes
            }
            let account = Account(
                identity: identity, device: device, current: current, next: next, recoveryHashes: [successor])
            return StagedAccount(kind: .recover, account: account, message: message)
        }
    }

    /// Makes what another device of the account needs to let this one join. Asked again, it is the same container.
    /// - Throws: ``IdentityError``; `accountExists`.
    package func makeLinkContainer(for identity: IdentityID) async throws(IdentityError) -> LinkContainer {
        try await exclusively { () async throws(IdentityError) in
            var credentials = try load()
            guard credentials.account == nil else { throw IdentityError.accountExists }
            if let staged = credentials.staged {
                guard staged.kind == .link else { throw IdentityError.unconfirmed }
                if staged.account.identity == identity {
                    return try identityCall { try LinkContainer(parsing: staged.message) }
                }
            }
            let old = credentials
            let (current, next) = try pair()
            let hash = Derivations.standard.rotationHash(of: next.publicKey)
            let device = Derivations.standard.device(current.publicKey, hash)
            let container = try identityCall {
                try LinkContainer(
                    LinkContainerPayload(
                        authentication: RotationAuthentication(
                            device: device, identity: identity, publicKey: current.publicKey, rotationHash: hash)),
                    signedBy: AnySigningKey(keys.signer(current)))
            }
            let account = Account(
                identity: identity, device: device, current: current, next: next, recoveryHashes: [])
            credentials.staged = StagedAccount(kind: .link, account: account, message: container.bytes)
            try save(credentials, insteadOf: old)
            return container
        }
    }

    /// The first two keys of a device, in the best place that there is.
    private func pair() throws(IdentityError) -> (KeyRecord, KeyRecord) {
        let current = try identityCall { try keys.makeKey(in: nil) }
        do { return (current, try keys.makeKey(in: current.place)) } catch {
            try? keys.destroy(current)
            throw IdentityError(error)
        }
    }

    /// Writes an account down that no server knows yet, and asks the server for it.
    private func stage(
        _ kind: StagedAccount.Kind, replacing identity: IdentityID? = nil,
        _ make: () throws(IdentityError) -> StagedAccount
    ) async throws(IdentityError) -> Account {
        try await exclusively { () async throws(IdentityError) in
            var credentials = try load()
            if let account = credentials.account, account.identity != identity { throw IdentityError.accountExists }
            if let staged = credentials.staged, staged.kind != .link {
                let isSame = staged.kind == kind && (kind == .create || staged.account.identity == identity)
                guard isSame else { throw IdentityError.unconfirmed }
                do throws(IdentityError) {
                    try await settleStaged(&credentials)
                    if let account = credentials.account { return account }
                } catch {
                    // One that the server does not want makes room for another try, of a recovery with another phrase.
                    guard kind == .recover, error.code == .refused else { throw error }
                }
            }
            let old = credentials
            credentials.staged = try make()
            try save(credentials, insteadOf: old)
            try await settleStaged(&credentials, wasSent: false)
            guard let account = credentials.account else { throw IdentityError.undecided }
            return account
        }
    }

    /// Sends what is staged, again with the same bytes, and looks whether the account is there.
    /// - Throws: Unless it is; what is staged stays then.
    func settleStaged(_ credentials: inout Credentials, wasSent: Bool = true) async throws(IdentityError) {
        guard let staged = credentials.staged else { return }
        var result: ExchangeResult<EmptyBody>
        switch staged.kind {
        case .create, .recover:
            result = await send(staged, &credentials)
            if case .lost = result, !wasSent { result = await send(staged, &credentials) }
            if case .lost(let error) = result { throw error }
        case .link: result = .lost(.undecided)
        }
        if case .confirmed = result { return try promote(staged, nil, &credentials) }
        // Servers that remember no answers refuse the second request: a session tells whether the first was heard.
        switch await probe(staged.account, with: staged.account.current, &credentials) {
        case .confirmed(let session): try promote(staged, session, &credentials)
        case .lost(let error): throw error
        case .refused(let failure):
            if staged.kind == .link { throw IdentityError.refused(failure) }
            throw result.failure ?? .refused(failure)
        }
    }

    private func send(
        _ staged: StagedAccount, _ credentials: inout Credentials
    ) async -> ExchangeResult<EmptyBody> {
        staged.kind == .create
            ? await exchange(CreateAccount.self, staged.message, &credentials)
            : await exchange(RecoverAccount.self, staged.message, &credentials)
    }

    /// The server has agreed: what was staged is the account.
    private func promote(
        _ staged: StagedAccount, _ session: Session?, _ credentials: inout Credentials
    ) throws(IdentityError) {
        let old = credentials
        credentials.account = staged.account
        credentials.staged = nil
        credentials.pending = nil
        credentials.session = session
        credentials.drills = staged.kind == .link ? DrillState() : .begun(now())
        try save(credentials, insteadOf: old)
        notify(.confirmed(staged.kind))
    }
}

extension IdentityError {
    static let accountExists = IdentityError(
        .accountExists, "this device has an identity already; nothing was changed")
    static let unconfirmed = IdentityError(
        .accountExists, "an identity is being created or recovered and not confirmed yet; finish that or erase it")
}
