#if canImport(LocalAuthentication)
internal import Foundation
internal import LocalAuthentication
internal import Security
internal import Synchronization
internal import VaultFormat

/// The device owner, confirmed by LocalAuthentication: a finger or a face, or the device's passcode.
///
/// Each look and each attempt has a context of its own. One that was used twice would open without asking.
struct SystemOwner: OwnerBackend {
    let step: OwnerStep
    let words: OwnerAuthenticator.Words

    /// Another finger or face is a change; another device passcode is set by someone who knows the current one.
    var hasEnrollment: Bool { step == .biometrics }

    func capability() -> OwnerCapability {
        let context = LAContext()
        defer { context.invalidate() }
        var error: NSError?
        if unsafe context.canEvaluatePolicy(step.policy, error: &error) { return .available }
        // Known after the question. A finger needs no permission: its sensor is below a closed lid, for instance.
        if let error, isCode(.biometryNotAvailable, error), [.faceID, .opticID].contains(context.biometryType) {
            return .denied("this app may not use the device's sensor")
        }
        return OwnerVerdict(error, step).capability
    }

    func enrollment() -> OwnerEnrollment? {
        let context = LAContext()
        defer { context.invalidate() }
        var error: NSError?
        guard unsafe context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &error),
            let state = context.domainState.biometry.stateHash, !state.isEmpty
        else { return nil }
        return OwnerEnrollment(["domain-state \(state.map(SystemOwner.hex).joined())"])
    }

    private static func hex(_ byte: UInt8) -> String {
        String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }

    func confirm(
        _ conversation: any OwnerConversation, until deadline: UInt64, onNonMatch: () -> Bool
    ) -> OwnerVerdict {
        let attempt = SystemAttempt(words, step, for: conversation)
        let (verdict, wantsOther) = attempt.run(step, conversation.cancellation, until: deadline)
        if wantsOther, conversation.offersOther { conversation.requestOther() }
        // The system allows three tries and reports only the end: one prompt, one non-match.
        if case .refused = verdict, step == .biometrics { _ = onNonMatch() }
        return verdict
    }
}

/// One attempt and its context. As the proof of a confirmed owner it lends the context to a key store, and ends it when
/// the release ends.
///
/// Unchecked, because the context promises nothing: it is set up in `init`, may be asked and ended from any thread, and
/// is otherwise used by the one who holds the release.
package final class SystemAttempt: OwnerProof, @unchecked Sendable {
    private let context = LAContext()
    private let reason: String

    init(_ words: OwnerAuthenticator.Words, _ step: OwnerStep, for conversation: any OwnerConversation) {
        // An empty one raises an exception.
        reason = conversation.reason.flatMap { $0.isEmpty ? nil : $0 } ?? words.reason
        context.localizedCancelTitle = words.cancel
        // The way down is the fallback policy's business, not the prompt's: the app's button is there only where the
        // policy has another step. A prompt for the passcode keeps its own, which may be what leads to it.
        context.localizedFallbackTitle = step == .biometrics && !conversation.offersOther ? "" : nil
        context.localizedReason = reason
    }

    deinit { context.invalidate() }

    /// Lends the context to a key store. It prompts no more: what it was not confirmed for stays locked.
    package func withContext<R: ~Copyable, E: Error>(_ body: (AnyObject) throws(E) -> R) throws(E) -> R {
        context.interactionNotAllowed = true
        return try body(context)
    }

    /// Prompts, and waits for the system, a cancel by the user, or the timeout.
    /// - Returns: The verdict, and whether the user pressed the button for another way.
    fileprivate func run(
        _ step: OwnerStep, _ cancellation: Cancellation, until deadline: UInt64
    ) -> (OwnerVerdict, Bool) {
        let reply = SystemReply()
        guard reply.signal.isPossible else { return (.impossible(.missing("no descriptor can be had")), false) }
        guard !cancellation.isCancelled else { return (.cancelled, false) }
        // The reply holds neither this nor the context: one that comes too late must not keep them alive.
        let answer = { @Sendable (isConfirmed: Bool, error: (any Error)?) in
            reply.give(
                isConfirmed ? .confirmed : OwnerVerdict(error, step),
                !isConfirmed && error.map { isCode(.userFallback, $0 as NSError) } == true)
        }
        if let rule = step.rule {
            context.evaluateAccessControl(rule, operation: .useItem, localizedReason: reason, reply: answer)
        } else {
            context.evaluatePolicy(step.policy, localizedReason: reason, reply: answer)
        }
        let end = Cancellation.wait([reply.signal, cancellation], until: deadline)
        if end !== reply.signal {
            context.invalidate()
            // The prompt goes away at once, and its reply is not waited for: it can only say that it was ended.
            return (end == nil ? .timedOut : .cancelled, false)
        }
        let (verdict, wantsOther) = reply.take() ?? (.impossible(.missing("the system gave no answer")), false)
        if case .confirmed = verdict { return (.confirmed(proof: self), false) }
        return (verdict, wantsOther)
    }
}

/// What the system said, from its thread to the one that waits.
private final class SystemReply: Sendable {
    /// Told when there is a verdict.
    let signal = Cancellation()
    private let verdict = Mutex<(OwnerVerdict, Bool)?>(nil)

    func give(_ new: OwnerVerdict, _ wantsOther: Bool) {
        verdict.withLock { $0 = (new, wantsOther) }
        signal.cancel()
    }

    func take() -> (OwnerVerdict, Bool)? { verdict.withLock { $0.take() } }
}

private func isCode(_ code: LAError.Code, _ error: NSError) -> Bool {
    error.domain == LAErrorDomain && LAError.Code(rawValue: error.code) == code
}

extension OwnerStep {
    /// What asks for the device's passcode alone, as the items do that it releases. The policy for the device's owner
    /// takes a face or a finger first where there is one, and a Mac's takes a watch: with neither such an item is
    /// released. Nil where the policy is right: it has the button for another way, and releases what biometrics do.
    fileprivate var rule: SecAccessControl? {
        guard self == .devicePasscode else { return nil }
        var error: Unmanaged<CFError>?
        let rule = unsafe SecAccessControlCreateWithFlags(
            kCFAllocatorDefault, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, .devicePasscode, &error)
        unsafe error?.release()
        return rule
    }

    fileprivate var policy: LAPolicy {
        switch self {
        case .biometrics: .deviceOwnerAuthenticationWithBiometrics
        case .devicePasscode: .deviceOwnerAuthentication
        }
    }
}

extension OwnerVerdict {
    /// What an error of the system means. Only `authenticationFailed` is a refusal; no other error means that the wrong
    /// person tried.
    init(_ error: (any Error)?, _ step: OwnerStep) {
        // By domain and number: what is bridged to `LAError` differs between Foundations.
        guard let error = error.map({ $0 as NSError }), error.domain == LAErrorDomain,
            let code = LAError.Code(rawValue: error.code)
        else {
            self = .impossible(.missing("the system answered something unknown"))
            return
        }
        switch code {
        case .authenticationFailed: self = .refused
        // The button for another way ends the prompt too; who offered it hears of it.
        case .userCancel, .userFallback: self = .cancelled
        case .systemCancel: self = .impossible(.busy("the system ended the prompt"))
        case .appCancel: self = .impossible(.busy("the prompt was ended"))
        case .invalidContext: self = .impossible(.busy("the prompt had ended"))
        case .notInteractive: self = .impossible(.busy("nothing can be shown now"))
        case .biometryLockout: self = .impossible(.lockedOut("too many tries; the device's passcode is needed first"))
        case .passcodeNotSet: self = .impossible(.notEnrolled("the device has no passcode"))
        case .biometryNotEnrolled: self = .impossible(.notEnrolled("no finger or face is set up on this device"))
        case .biometryNotAvailable: self = .impossible(.missing("the device has no sensor, or this app may not use it"))
        default: self = .impossible(.missing("the system answered \(error.code)"))
        }
    }

    fileprivate var capability: OwnerCapability {
        switch self {
        case .impossible(let capability): capability
        case .confirmed, .refused, .cancelled, .timedOut: .missing("the system answered something unknown")
        }
    }
}
#endif
