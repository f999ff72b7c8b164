public import BetterAuthMessages

extension BetterAuthClient {
    /// Makes an account with this device as its first. The recovery phrase must have been shown to its owner before.
    ///
    /// Where an earlier creation was not answered, that one is finished instead, with its own phrase.
    /// - Parameter recovery: The hash of the recovery key.
    /// - Throws: ``IdentityError``; `accountExists` without changing anything.
    public func createAccount(recovery: RecoveryHash) async throws(IdentityError) -> Account {
        try await stage(.create) { _ throws(IdentityError) in
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
        // The message could be used again for ever (protocol.md 12.6).
        guard Derivations.standard.recoveryHash(of: recoveryKey.publicKey) != successor else {
            throw IdentityError(.wrongPhrase, "the new recovery phrase is the one that is used up")
        }
        let account = try await stage(.recover, replacing: identity) { earlier throws(IdentityError) in
            // The same keys as those of an earlier, unconfirmed recovery: whichever took effect, they are the device's
            // keys, and an unsigned refusal costs no key.
            let (current, next) =
                if let earlier { (earlier.current, earlier.next) } else { try self.pair() }
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
            let hashes = (earlier?.recoveryHashes ?? []).filter { $0 != successor }
            let account = Account(
                identity: identity, device: device, current: current, next: next, recoveryHashes: hashes + [successor])
            return StagedAccount(kind: .recover, account: account, message: message)
        }
        guard account.recoveryHashes != [successor] else { return account }
        // It was an earlier recovery that took effect, with its own successor, or it cannot be told which. The phrase
        // that was shown last is the one that has to open.
        do throws(IdentityError) { try await changeRecovery(to: successor) } catch {
            throw error.adding(
                "the identity is recovered, and its recovery phrase is not the new one yet: change it again")
        }
        guard let changed = try await credentials().account else { throw IdentityError.undecided }
        return changed
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
        _ make: (Account?) throws(IdentityError) -> StagedAccount
    ) async throws(IdentityError) -> Account {
        try await exclusively { () async throws(IdentityError) in
            var credentials = try load()
            if let account = credentials.account, account.identity != identity { throw IdentityError.accountExists }
            var earlier: Account?
            if let staged = credentials.staged, staged.kind != .link {
                let isSame = staged.kind == kind && (kind == .create || staged.account.identity == identity)
                guard isSame else { throw IdentityError.unconfirmed }
                if let unsettled = try await settleStaged(&credentials) {
                    // One that does not get through makes room for another try, of a recovery with another phrase.
                    guard kind == .recover, unsettled.isServerThere || unsettled.error.code == .refused else {
                        throw unsettled.error
                    }
                    earlier = staged.account
                } else if let account = credentials.account {
                    return account
                }
            }
            let old = credentials
            credentials.staged = try make(earlier)
            try save(credentials, insteadOf: old)
            if let unsettled = try await settleStaged(&credentials, wasSent: false) { throw unsettled.error }
            guard let account = credentials.account else { throw IdentityError.undecided }
            return account
        }
    }

    /// Sends what is staged, again with the same bytes, and looks whether the account is there.
    /// - Returns: Why it is not known to be; what is staged stays then. Nil where it is, or nothing was staged.
    func settleStaged(
        _ credentials: inout Credentials, wasSent: Bool = true
    ) async throws(IdentityError) -> UnsettledAccount? {
        guard let staged = credentials.staged else { return nil }
        var failure: IdentityError?
        if staged.kind != .link {
            var result = await send(staged, &credentials)
            if result.isUnanswered, !wasSent { result = await send(staged, &credentials) }
            if case .confirmed = result {
                try promote(staged, nil, &credentials)
                return nil
            }
            failure = result.failure
            if case .absent(let error) = result { return UnsettledAccount(error: error, isServerThere: false) }
        }
        // Servers that remember no answers refuse the second request: a session tells whether the first was heard.
        switch try await probe(staged.account, with: staged.account.current, &credentials) {
        case .accepted(let session):
            try promote(staged, session, &credentials)
            return nil
        case .refused(let error), .unclear(let error):
            return UnsettledAccount(error: failure ?? error, isServerThere: true)
        case .absent(let error): return UnsettledAccount(error: failure ?? error, isServerThere: false)
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
    /// - Parameter session: What its key opened; nil where the newest request itself was answered.
    private func promote(
        _ staged: StagedAccount, _ session: Session?, _ credentials: inout Credentials
    ) throws(IdentityError) {
        let old = credentials
        let account = staged.account
        credentials.account = Account(
            identity: account.identity, device: account.device, current: account.current, next: account.next,
            recoveryHashes: session == nil ? account.recoveryHashes.suffix(1) : account.recoveryHashes)
        credentials.staged = nil
        credentials.pending = nil
        credentials.session = session
        credentials.drills = staged.kind == .link ? DrillState() : .begun(now())
        try save(credentials, insteadOf: old)
        notify(.confirmed(staged.kind))
    }
}

/// An account that no server is known to have.
struct UnsettledAccount: Sendable {
    /// What came back in place of an answer.
    let error: IdentityError
    /// Its challenge was signed, so it was the request or the key that did not get through.
    let isServerThere: Bool
}

extension ExchangeResult {
    /// No answer.
    fileprivate var isUnanswered: Bool {
        switch self {
        case .lost, .absent: true
        case .confirmed, .refused, .rejected: false
        }
    }
}

extension IdentityError {
    package static let accountExists = IdentityError(
        .accountExists, "this device has an identity already; nothing was changed")
    static let unconfirmed = IdentityError(
        .accountExists, "an identity is being created or recovered, and the server has not confirmed it yet")
}
