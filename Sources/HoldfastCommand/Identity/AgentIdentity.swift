internal import AgentMessages
internal import BetterAuth
internal import BetterAuthMessages
internal import Holdfast
internal import HoldfastAgent

/// What the agent does with the identity in its vault, towards the server and with the trust that are remembered there:
/// a client names neither, so that no program has the identity's keys sign for a server of its own.
struct AgentIdentity: IdentityService {
    func perform(
        _ call: IdentityCall, json: [UInt8], in vault: Vault, notify: @escaping @Sendable (String) -> Void
    ) throws(VaultError) -> IdentityOutcome {
        do throws(CommandError) {
            return try outcome(of: call, json, vault, notify)
        } catch { throw VaultError(error.code, error.what) }
    }

    private func outcome(
        of call: IdentityCall, _ json: [UInt8], _ vault: Vault, _ notify: @escaping @Sendable (String) -> Void
    ) throws(CommandError) -> IdentityOutcome {
        let turn = try IdentityWork.turn(in: vault.home.path)
        defer { withExtendedLifetime(turn) {} }
        let credentials = try identityCall { try VaultIdentity.credentials(in: vault) }
        guard call.action != .status else { return .report(try IdentityReport(credentials, in: vault)) }
        guard let text = credentials.server else {
            throw .usage("no server is set. Pass --server URL once; it is remembered")
        }
        let work = IdentityWork(vault, allowsPlain: call.allowsPlain)
        defer { for notice in work.notices.take() { notify(notice) } }
        let server = try IdentityWork.address(text, allowsPlain: call.allowsPlain)
        let client = work.client(at: server, trusting: credentials.keyChain)
        switch call.action {
        case .status: break
        case .openSession: _ = try Blocking.run { try await client.openSession() }
        case .refreshSession: _ = try Blocking.run { try await client.refreshSession() }
        case .endSession: try Blocking.run { try await client.endSession() }
        case .rotate:
            try Blocking.run { try await client.rotate() }
            if let account = credentials.account {
                vault.log.append(.identity(.rotated, digest: account.identity.rawBytes))
            }
        case .request(let request, _):
            let asked = try AppRequest(request.path, target: request.target, key: request.key, call.allowsPlain, json)
            return .answer(try Blocking.run { try await asked.send(by: client) })
        }
        return .report(
            try IdentityReport(identityCall { try VaultIdentity.credentials(in: vault) }, in: vault))
    }
}

extension IdentityReport {
    /// What is stored, without anything that is secret.
    init(_ credentials: Credentials, in vault: Vault) throws(CommandError) {
        self.init(state: credentials.state.rawValue)
        let account = credentials.account ?? credentials.staged?.account
        identity = account?.identity.description
        device = account?.device.description
        publicKey = credentials.account?.current.publicKey.description
        isInChip = account.map { $0.current.place == .chip }
        server = credentials.server
        keyChain = credentials.keyChain?.identity.description
        firstKeys = credentials.firstKeys.map { FirstKey(server: $0.server, key: $0.key.description) }
        sessionExpiry = credentials.session?.expiry.milliseconds
        refreshExpiry = credentials.session?.refreshExpiry.milliseconds
        drillDue = credentials.drills.due?.milliseconds
        isDrillDue = credentials.drills.isDue(.now)
        isUnfinished = credentials.pending != nil || credentials.staged != nil
        unfinished = credentials.pending?.requests.last?.effect.words
        isRotationDue = try identityCall { try VaultIdentity.isRotationDue(credentials, in: vault) }
    }
}
