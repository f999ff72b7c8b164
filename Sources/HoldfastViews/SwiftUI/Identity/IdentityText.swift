#if canImport(SwiftUI)
internal import HoldfastUI
internal import SwiftUI

/// Keys of the identity's words in `Localizable.strings`.
enum IdentityText {
    static func key(_ state: IdentityFacts.State) -> LocalizedStringKey {
        switch state {
        case .ready: "identity.state.ready"
        case .unconfirmed: "identity.state.unconfirmed"
        case .linking: "identity.state.linking"
        case .created: "identity.state.created"
        case .authenticated: "identity.state.authenticated"
        }
    }

    /// What to say when an action ended; nil where only its problem is said.
    static func said(_ outcome: IdentityModel.Outcome, _ news: [IdentityNews]) -> LocalizedStringKey? {
        let known = news.compactMap(key).last
        return outcome.problem == nil ? known ?? done(outcome.action) : known
    }

    static func done(_ action: IdentityAction) -> LocalizedStringKey {
        switch action {
        case .create: "identity.done.create"
        case .recover: "identity.done.recover"
        case .makeContainer: "identity.done.makeContainer"
        case .link: "identity.done.link"
        case .unlink: "identity.done.unlink"
        case .rotate: "identity.done.rotate"
        case .openSession: "identity.done.openSession"
        case .refreshSession: "identity.done.refreshSession"
        case .endSession: "identity.done.endSession"
        case .request: "identity.done.request"
        case .settle: "identity.done.settle"
        case .changeRecovery: "identity.done.changeRecovery"
        case .drill: "identity.done.drill"
        case .delete: "identity.done.delete"
        case .erase: "identity.done.erase"
        }
    }

    /// What became known on the way; nil where the page says it all the time.
    static func key(_ news: IdentityNews) -> LocalizedStringKey? {
        switch news {
        case .trustedFirstKey: nil
        case .settled: "identity.news.settled"
        case .abandoned: "identity.news.abandoned"
        }
    }

    static func key(_ problem: IdentityProblem) -> LocalizedStringKey {
        switch problem {
        case .proof(let problem): ProblemText.key(problem)
        case .proofExpired: "identity.problem.proofExpired"
        case .otherServer: "identity.problem.otherServer"
        case .noAccount: "identity.problem.noAccount"
        case .accountExists: "identity.problem.accountExists"
        case .noSession: "identity.problem.noSession"
        case .refused: "identity.problem.refused"
        case .unreachable: "identity.problem.unreachable"
        case .untrusted: "identity.problem.untrusted"
        case .undecided: "identity.problem.undecided"
        case .invalidContainer: "identity.problem.invalidContainer"
        case .invalidIdentity: "identity.problem.invalidIdentity"
        case .invalidDevice: "identity.problem.invalidDevice"
        case .invalidRequest: "identity.problem.invalidRequest"
        case .wrongPhrase: "identity.problem.wrongPhrase"
        case .drillFailed: "identity.problem.drillFailed"
        case .vaultPhrase: "identity.problem.vaultPhrase"
        case .invalidAddress: "identity.problem.invalidAddress"
        case .locked: "identity.problem.locked"
        case .busy: "identity.problem.busy"
        case .keyUnavailable: "identity.problem.keyUnavailable"
        case .keysLost: "identity.problem.keysLost"
        case .damaged: "identity.problem.damaged"
        case .newerVersion: "identity.problem.newerVersion"
        case .outOfMemory: "problem.outOfMemory"
        case .other: "identity.problem.other"
        }
    }
}

/// What is asked in a sheet from below.
enum IdentitySheet: Int, Identifiable {
    case create, recover, join, link, unlink, changeRecovery, drill, request, erase, delete

    var id: Int { rawValue }

    /// What ends the sheet when it was done.
    var action: IdentityAction {
        switch self {
        case .create: .create
        case .recover: .recover
        case .join: .makeContainer
        case .link: .link
        case .unlink: .unlink
        case .changeRecovery: .changeRecovery
        case .drill: .drill
        case .request: .request
        case .erase: .erase
        case .delete: .delete
        }
    }

    /// Whether the passcode is required: an unlocked vault is not enough for what could permanently take an identity
    /// away.
    var needsProof: Bool { [.link, .unlink, .changeRecovery, .erase, .delete].contains(self) }

    /// Whether it ends something for good.
    var isDestructive: Bool { [.unlink, .erase, .delete].contains(self) }

    /// Whether it stays when it was done, for what is to be seen then.
    var stays: Bool { self == .join || self == .request }

    /// Whether a new recovery phrase belongs to it.
    var needsPhrase: Bool { [.create, .recover, .changeRecovery].contains(self) }

    var title: LocalizedStringKey {
        switch self {
        case .create: "identity.create"
        case .recover: "identity.recover"
        case .join: "identity.join"
        case .link: "identity.link"
        case .unlink: "identity.unlink"
        case .changeRecovery: "identity.changeRecovery"
        case .drill: "identity.drill"
        case .request: "identity.request"
        case .erase: "identity.erase"
        case .delete: "identity.delete"
        }
    }

    var advice: LocalizedStringKey {
        switch self {
        case .create: "identity.create.advice"
        case .recover: "identity.recover.advice"
        case .join: "identity.join.advice"
        case .link: "identity.link.advice"
        case .unlink: "identity.unlink.advice"
        case .changeRecovery: "identity.changeRecovery.advice"
        case .drill: "identity.drill.advice"
        case .request: "identity.request.advice"
        case .erase: "identity.erase.advice"
        case .delete: "identity.delete.advice"
        }
    }
}
#endif
