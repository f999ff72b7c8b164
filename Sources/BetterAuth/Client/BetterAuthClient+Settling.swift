internal import BetterAuthMessages

/// Where the device's chain stands after its pending requests were looked into.
enum ChainState: Sendable {
    /// It has moved, and the newest request did it.
    case done
    /// It has moved, and the newest request did not do it, or it is not known what did.
    case otherwise(IdentityError)
    /// It waits.
    case blocked(BlockedChain)
}

/// The outcome of what earlier operations left.
enum Settlement: Sendable {
    /// Nothing waits.
    case clear
    /// This took effect.
    case done(RotationEffect)
    /// It still waits.
    case blocked(BlockedChain)

    /// The chain that still waits.
    var blocked: BlockedChain? { if case .blocked(let chain) = self { chain } else { nil } }
}

/// A chain whose requests do not get through, although the server takes the device's current key.
struct BlockedChain: Sendable {
    /// What came back in place of an answer.
    let error: IdentityError
    /// What the current key opened.
    let session: Session
}

extension BetterAuthClient {
    /// Comes to an end with what earlier operations left.
    func settle(_ credentials: inout Credentials) async throws(IdentityError) -> Settlement {
        // First, because a recovery that took effect revokes the keys of the account that is there.
        if let unsettled = try await settleStaged(&credentials) {
            // It is no reason to stop with that account.
            guard credentials.account != nil, unsettled.isServerThere || unsettled.error.code == .refused else {
                throw unsettled.error
            }
        }
        guard let last = credentials.pending?.requests.last else { return .clear }
        switch try await seeThrough(&credentials, wasSent: true) {
        case .done:
            notify(.settled(last.effect))
            return .done(last.effect)
        // It was settled in another way, which was reported.
        case .otherwise: return .clear
        case .blocked(let blocked): return .blocked(blocked)
        }
    }

    /// Takes the steps that ``RotationSettlement`` decides on.
    /// - Throws: Where it is not known whether the chain has moved; what is pending stays.
    func seeThrough(_ credentials: inout Credentials, wasSent: Bool) async throws(IdentityError) -> ChainState {
        guard let account = credentials.account, let requests = credentials.pending?.requests, let first = requests.last
        else { return .done }
        var settlement = RotationSettlement(
            canSupersede: !requests.contains { $0.effect == .rotate }, wasSent: wasSent)
        var step = RotationSettlement.Step.send
        /// What came back for the request that was meant.
        var failure: IdentityError?
        /// What the current key opened.
        var opened: Session?
        while true {
            switch step {
            case .send, .supersede:
                if step == .supersede { try supersede(&credentials, account) }
                guard let request = credentials.pending?.requests.last else { return .done }
                let result = await send(request, &credentials)
                if request == first, failure?.isRefusal != true { failure = result.failure ?? failure }
                step = settlement.handle(result.event)
            case .probeNext: step = settlement.handle(try await probe(account, with: account.next, &credentials).event)
            case .probeCurrent:
                let result = try await probe(account, with: account.current, &credentials)
                if case .accepted(let session) = result { opened = session }
                step = settlement.handle(result.event)
            case .end(.confirmed): return try confirm(first.effect, failure, &credentials)
            case .end(.moved): return try move(&credentials)
            case .end(.blocked):
                guard let opened else { throw failure ?? .undecided }
                return .blocked(BlockedChain(error: failure ?? .undecided, session: opened))
            case .end(.undecided): throw failure ?? .undecided
            case .end(.unknown):
                let isEnding = requests.contains { $0.effect.endsAccount }
                throw isEnding ? .endedPerhaps : .chainUnknown
            }
        }
    }

    /// The newest request was answered; none of the others can take effect any more.
    private func confirm(
        _ meant: RotationEffect, _ failure: IdentityError?, _ credentials: inout Credentials
    ) throws(IdentityError) -> ChainState {
        let effects = credentials.pending?.requests.map(\.effect) ?? []
        let last = effects.last ?? .rotate
        try commit(last, &credentials)
        for effect in effects where effect != last && effect != .rotate { notify(.abandoned(effect)) }
        guard last != meant else { return .done }
        return .otherwise(
            (failure ?? .undecided).adding("it was not done and will not be; the device's keys are in order"))
    }

    /// The server holds the next key.
    private func move(_ credentials: inout Credentials) throws(IdentityError) -> ChainState {
        let effects = credentials.pending?.requests.map(\.effect) ?? []
        if effects.count == 1 {
            try commit(effects[0], &credentials)
            return .done
        }
        try commit(nil, &credentials)
        notify(.settledOneOf(effects))
        return .otherwise(
            IdentityError(
                .undecided, "the device's keys are in order; whether the server did more than rotate is not known"))
    }

    private func supersede(_ credentials: inout Credentials, _ account: Account) throws(IdentityError) {
        try put(.rotate, account, rotation, &credentials)
    }
}

extension IdentityError {
    /// There was a refusal, not silence.
    fileprivate var isRefusal: Bool { code == .refused || code == .notTheServer }

    fileprivate static let endedPerhaps = IdentityError(
        .chainUnknown,
        "the server accepts none of this device's keys, which is expected after what was asked of it; the keys are kept"
    )
}
