import AppleScripting
import Foundation
import Security

// On Apple this comes from Foundation (an autoreleasing pointer); `&error` fits both.
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?

public let LAErrorDomain = "com.apple.LocalAuthentication"

@nonexhaustive public enum LAPolicy: Int, Sendable {
    case deviceOwnerAuthenticationWithBiometrics = 1
    case deviceOwnerAuthentication = 2
}

@nonexhaustive public enum LABiometryType: Int, Sendable {
    case none = 0
    case touchID = 1
    case faceID = 2
    case opticID = 4
}

@nonexhaustive public enum LAAccessControlOperation: Int, Sendable {
    case createItem = 0
    case useItem = 1
}

public enum LACredentialType: Int, Sendable { case applicationPassword = 0 }

public struct LAError: CustomNSError, Hashable, Sendable {
    // What iOS 18 and macOS 15 share. The codes of macOS alone are left out, so that code meets them as raw values.
    @nonexhaustive public enum Code: Int, Sendable {
        case authenticationFailed = -1
        case userCancel = -2
        case userFallback = -3
        case systemCancel = -4
        case passcodeNotSet = -5
        case biometryNotAvailable = -6
        case biometryNotEnrolled = -7
        case biometryLockout = -8
        case appCancel = -9
        case invalidContext = -10
        case companionNotAvailable = -11
        case notInteractive = -1004
    }
    public static var errorDomain: String { LAErrorDomain }
    public let code: Code
    public var errorCode: Int { code.rawValue }
    public init(_ code: Code) { self.code = code }
}

public class LADomainStateBiometry {
    public var biometryType: LABiometryType {
        LABiometryType(rawValue: ScriptedDevice.current.with(\.biometryKind)) ?? .none
    }
    public var stateHash: Data? { ScriptedDevice.current.with { $0.biometryEnrolled ? $0.enrollment : nil } }
}

public class LADomainState {
    public var biometry: LADomainStateBiometry { LADomainStateBiometry() }
}

/// Deliberately not `Sendable`: the SDK does not promise it, so our code must not need it.
open class LAContext: NSObject {
    /// What the owner gave.
    private enum Proof { case biometrics, passcode }

    private let lock = NSLock()
    private var invalidated = false
    private var proved: Proof?
    private var pending: (@Sendable (Bool, (any Error)?) -> Void)?
    private var password: Data?

    open var localizedReason = ""
    open var localizedFallbackTitle: String?
    open var localizedCancelTitle: String?
    open var interactionNotAllowed = false
    open var touchIDAuthenticationAllowableReuseDuration: TimeInterval = 0
    open private(set) var biometryType: LABiometryType = .none  // documented: set by canEvaluatePolicy only
    open var domainState: LADomainState { LADomainState() }
    /// Ours: what was set.
    public var applicationPassword: Data? { lock.withLock { invalidated ? nil : password } }

    public override init() {
        super.init()
        ScriptedDevice.current.with { $0.liveContexts += 1 }
        ScriptedDevice.contextCount?.add()
    }

    deinit { if !invalidated { ScriptedDevice.current.with { $0.liveContexts -= 1 } } }

    @discardableResult
    open func setCredential(_ credential: Data?, type: LACredentialType) -> Bool {
        lock.withLock { password = credential }
        return true
    }

    open func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool {
        let failure = obstacle(to: policy)
        biometryType = LABiometryType(rawValue: ScriptedDevice.current.with(\.biometryKind)) ?? .none
        error?.pointee = failure.map { NSError(domain: LAErrorDomain, code: $0.rawValue) }
        return failure == nil
    }

    open func evaluatePolicy(
        _ policy: LAPolicy, localizedReason: String, reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        precondition(!localizedReason.isEmpty, "the system raises an exception for an empty reason")
        // "If biometry is available, enrolled, and not disabled, the system uses that first"
        // (deviceOwnerAuthentication).
        let isPasscode = obstacle(to: .deviceOwnerAuthenticationWithBiometrics) != nil
        let proof = isPasscode ? Proof.passcode : .biometrics
        if let failure = obstacle(to: policy) { return deliver(proof, .failure(failure.rawValue), to: reply) }
        ask(proof, policy.rawValue, localizedReason, reply)
    }

    private func ask(
        _ proof: Proof, _ name: Int, _ reason: String, _ reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        if interactionNotAllowed {
            return deliver(proof, .failure(LAError.Code.notInteractive.rawValue), to: reply)
        }
        let answer = ScriptedDevice.current.with { state -> ScriptedDevice.Answer in
            state.prompts.append(.init(policy: name, reason: reason, fallbackTitle: localizedFallbackTitle))
            return state.answers.isEmpty ? .failure(LAError.Code.authenticationFailed.rawValue) : state.answers.removeFirst()
        }
        if answer == .waitsForInvalidation { return lock.withLock { pending = reply } }
        deliver(proof, answer, to: reply)
    }

    /// Asks for what the rule names, and for nothing else.
    open func evaluateAccessControl(
        _ accessControl: SecAccessControl, operation: LAAccessControlOperation, localizedReason: String,
        reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        precondition(!localizedReason.isEmpty, "the system raises an exception for an empty reason")
        precondition(accessControl.flags == .devicePasscode, "nothing else is asked for here")
        if let failure = obstacle(to: .deviceOwnerAuthentication) {
            return deliver(.passcode, .failure(failure.rawValue), to: reply)
        }
        ask(.passcode, ScriptedDevice.passcodeAlone, localizedReason, reply)
    }

    open func invalidate() {
        let waiting = lock.withLock {
            if !invalidated { ScriptedDevice.current.with { $0.liveContexts -= 1 } }
            invalidated = true
            password = nil
            defer { pending = nil }
            return pending
        }
        DispatchQueue.global().async { waiting?(false, LAError(.appCancel)) }
    }

    private func obstacle(to policy: LAPolicy) -> LAError.Code? {
        if lock.withLock({ invalidated }) { return .invalidContext }
        return ScriptedDevice.current.with { state in
            if !state.passcodeSet { return .passcodeNotSet }
            if policy == .deviceOwnerAuthentication { return nil }
            if state.biometryKind == 0 || state.biometryDenied { return .biometryNotAvailable }
            if !state.biometryEnrolled { return .biometryNotEnrolled }
            return state.biometryLockedOut ? .biometryLockout : nil
        }
    }

    private func deliver(
        _ proof: Proof, _ answer: ScriptedDevice.Answer, to reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        if answer == .success { lock.withLock { proved = proof } }
        DispatchQueue.global().async {
            switch answer {
            case .success: reply(true, nil)
            case .failure(let code): reply(false, NSError(domain: LAErrorDomain, code: code))
            case .stranger(let domain, let code): reply(false, NSError(domain: domain, code: code))
            case .waitsForInvalidation: break
            }
        }
    }
}

extension LAContext: ScriptedAuthentication {
    public func satisfy(biometrics: Bool, passcode: Bool) -> Int32 {
        let (isDead, proof) = lock.withLock { (invalidated, proved) }
        if isDead { return -25293 }
        switch proof {
        case .biometrics where biometrics: return 0
        case .passcode where passcode: return 0
        default: break
        }
        if interactionNotAllowed { return -25308 }
        return ScriptedDevice.current.askByKeychain(localizedReason)
    }
}
