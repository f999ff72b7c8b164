internal import BetterAuth
internal import BetterAuthMessages
internal import Cryptography
internal import Holdfast
internal import Synchronization

extension IdentityModel {
    /// Asks the server for something; returns what the security log is told of it.
    /// - Parameter proof: The proof, if the action needs one.
    typealias Body =
        @Sendable (_ client: VaultIdentity, _ proof: OwnersProof) async throws(IdentityError) -> SecurityEvent?

    func end(_ action: IdentityAction, _ problem: IdentityProblem?) {
        running = nil
        // After a lock, the result is no longer shown.
        outcome = lock.isLocked && problem != .locked ? nil : Outcome(action: action, problem: problem)
    }

    /// Runs an action with the phrase that was shown for it. Kept until the server has it: what failed is tried again
    /// with the same words.
    func spend(
        _ action: IdentityAction, _ server: String?, by word: OwnersWord = .nothing,
        _ body:
            @escaping @Sendable (
                VaultIdentity, OwnersProof, RecoveryHash
            ) async throws(IdentityError) -> SecurityEvent?
    ) async {
        guard prepared == action, running == nil else { return end(action, running == nil ? .wrongPhrase : .busy) }
        guard let hash = await IdentityModel.hash(of: copyOfPhrase(), derivation) else {
            return end(action, .wrongPhrase)
        }
        let isDone = await run(action, server, by: word) { client, proof throws(IdentityError) in
            try await body(client, proof, hash)
        } then: { [weak self] in
            await self?.rememberPhrase()
        }
        guard isDone else { return }
        phrase = nil
        prepared = nil
    }

    private func rememberPhrase() async {
        await IdentityModel.remember(copyOfPhrase(), lock.app.vault)
    }

    private func copyOfPhrase() -> SecretBytes? {
        switch phrase {
        case .none: nil
        case .some(let phrase): phrase.withText { try? SecretBytes(copying: $0) }
        }
    }

    /// - Parameters:
    ///   - word: How the action is proved, if it needs that; checked when it is the action's turn, so that the proof is
    ///     as fresh as can be.
    ///   - then: What belongs to it once the server did it.
    /// - Returns: Whether the server did it.
    @discardableResult
    func run(
        _ action: IdentityAction, _ server: String? = nil, by word: OwnersWord = .nothing,
        _ body: @escaping Body, then: () async -> Void = {}
    ) async -> Bool {
        guard running == nil else { return false }
        guard !lock.isLocked else {
            end(action, .locked)
            return false
        }
        guard let text = server ?? facts.server, let address = try? ServerAddress(text) else {
            end(action, .invalidAddress)
            return false
        }
        running = action
        outcome = nil
        let (began, vault) = (drops, lock.app.vault)
        let notices = NoticeList()
        let client = connect(vault, address) { notices.append($0) }
        let problem = await IdentityModel.perform(client, vault, lock.app.lock, word, dialog, body)
        if problem == nil { await then() }
        await load()
        if began == drops { news += notices.all.compactMap(IdentityNews.init) }
        end(action, problem)
        return problem == nil
    }

    @concurrent
    private nonisolated static func perform(
        _ client: VaultIdentity, _ vault: Vault, _ lock: AppLock, _ word: OwnersWord, _ dialog: OwnerDialog,
        _ body: Body
    ) async -> IdentityProblem? {
        let turn: IdentityTurn
        do throws(IdentityProblem) { turn = try await IdentityModel.turn(in: vault) } catch { return error }
        defer { withExtendedLifetime(turn) {} }
        let proof: OwnersProof
        do throws(VaultError) { proof = try await OwnersProof(word, vault, lock, dialog) } catch {
            return .proof(VaultProblem(error))
        }
        do throws(IdentityError) {
            if let event = try await body(client, proof) { vault.log.append(event) }
            return nil
        } catch { return IdentityProblem(error) }
    }

    /// Waits for another process that changes the identity, for a while.
    /// - Throws: `busy`; what lies in the place of the lock, in words.
    nonisolated static func turn(in vault: Vault) async throws(IdentityProblem) -> IdentityTurn {
        for _ in 0..<50 {
            do throws(VaultError) {
                if let turn = try IdentityTurn(in: vault.home.path) { return turn }
            } catch { throw .other(reason: error.reason) }
            try? await Task.sleep(for: .milliseconds(100))
        }
        throw .busy
    }

    /// The key of a phrase that its owner typed: a second and more.
    @concurrent
    nonisolated static func recoveryKey(
        of text: consuming SecretBytes, _ derivation: RecoveryDerivation, vault: Vault
    ) async throws(IdentityProblem) -> SoftwareSigningKey {
        let key: SoftwareSigningKey
        do {
            let phrase = try IdentityPhrase(parsing: text)
            if isVaultPhrase(phrase, vault) { throw IdentityProblem.vaultPhrase }
            key = try phrase.recoveryKey(derivation)
        } catch let problem as IdentityProblem { throw problem } catch { throw .wrongPhrase }
        return key
    }

    /// Whether the user entered the vault's phrase instead of the identity's.
    private nonisolated static func isVaultPhrase(_ phrase: borrowing IdentityPhrase, _ vault: Vault) -> Bool {
        guard let own = try? phrase.asRecoveryPhrase() else { return false }
        return vault.isVaultPhrase(own)
    }

    @concurrent
    private nonisolated static func hash(
        of text: consuming SecretBytes?, _ derivation: RecoveryDerivation
    ) async -> RecoveryHash? {
        switch text {
        case .none: return nil
        case .some(let text):
            guard let key = try? IdentityPhrase(parsing: text).recoveryKey(derivation) else { return nil }
            return Derivations.standard.recoveryHash(of: key.publicKey)
        }
    }

    /// The server has it: from now on drills ask for it, and typed in the vault's place it is recognised.
    @concurrent
    private nonisolated static func remember(
        _ text: consuming SecretBytes?, _ vault: Vault
    ) async {
        guard let text = text.take(), let phrase = try? IdentityPhrase(parsing: text),
            let own = try? phrase.asRecoveryPhrase(), let spots = try? SpotCheck.make(for: own)
        else { return }
        try? vault.setIdentityPhrase(own)
        guard let turn = try? await turn(in: vault) else { return }
        defer { withExtendedLifetime(turn) {} }
        try? VaultIdentity.setDrills(.begun(.now, spots: spots), in: vault)
    }
}

extension IdentityProblem: Error {}

/// Notices of an operation, from whatever thread it runs on.
private final class NoticeList: Sendable {
    private let list = Mutex<[IdentityNotice]>([])
    func append(_ notice: IdentityNotice) { list.withLock { $0.append(notice) } }
    var all: [IdentityNotice] { list.withLock { $0 } }
}
