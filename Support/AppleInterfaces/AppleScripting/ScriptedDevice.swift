internal import DarwinOverGlibc
import Foundation

/// The device that the stand-ins play: its sensor, passcode, enrollment, lock state, Enclave and keychain.
///
/// A test sets the scene, runs the real backend, and reads what was asked. One process, one device: suites that use it
/// are `.serialized` and begin with ``reset()``.
public final class ScriptedDevice: @unchecked Sendable {
    public static let current = ScriptedDevice()

    /// What a prompt ends with.
    public enum Answer: Sendable, Equatable {
        case success
        /// An `LAError.Code` raw value.
        case failure(Int)
        /// An error of another domain.
        case stranger(domain: String, code: Int)
        /// Never, until the context is invalidated (`appCancel`).
        case waitsForInvalidation
    }

    /// In place of a policy: the device's passcode is asked for, and no face before.
    public static let passcodeAlone = 100

    /// In place of a policy: the keychain asked by itself.
    public static let keychainPrompt = 101

    public struct Prompt: Sendable, Equatable {
        public var policy: Int
        public var reason: String
        public var fallbackTitle: String?
        public init(policy: Int, reason: String, fallbackTitle: String? = nil) {
            (self.policy, self.reason, self.fallbackTitle) = (policy, reason, fallbackTitle)
        }
    }

    /// A key that never leaves the Enclave.
    public struct EnclaveKey: Sendable {
        public let scalar: [UInt8]
        public let flags: UInt
        public let password: Data?
        public let protection: String
        public let enrollment: Data?
        public init(
            scalar: [UInt8], flags: UInt, password: Data?, protection: String = "aku", enrollment: Data? = nil
        ) {
            (self.scalar, self.flags, self.password) = (scalar, flags, password)
            (self.protection, self.enrollment) = (protection, enrollment)
        }
    }

    public struct State: Sendable {
        public var biometryKind = 2
        public var biometryEnrolled = true
        public var biometryLockedOut = false
        /// The user has not allowed this app to use it.
        public var biometryDenied = false
        public var passcodeSet = true
        public var enrollment: Data? = Data("enrollment-1".utf8)
        public var protectedDataAvailable = true
        public var hasSecureEnclave = true
        /// What the next prompts end with; without one, a prompt ends with `authenticationFailed`.
        public var answers: [Answer] = []
        public var prompts: [Prompt] = []
        /// Contexts that were made and not invalidated yet.
        public var liveContexts = 0
        /// What the next calls return in place of what they would do, by the name of the function.
        public var failures: [String: [Int32]] = [:]
        /// Calls of a function that do what they would before one fails.
        public var skips: [String: Int] = [:]
        public var calls: [String] = []
        var enclave: [Data: EnclaveKey] = [:]
    }

    /// Counts contexts that one task makes, whatever others do with the device at the same time.
    public final class ContextCount: @unchecked Sendable {
        private let lock = NSLock()
        private var count = 0

        public init() {}

        public var value: Int { lock.withLock { count } }
        public func add() { lock.withLock { count += 1 } }
    }
    @TaskLocal public static var contextCount: ContextCount?

    private let lock = NSLock()
    private var state = State()
    private var items: [[String: Any]] = []

    public func reset() {
        lock.withLock {
            state = State()
            items = []
        }
    }

    public func with<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        try lock.withLock { try body(&state) }
    }

    public func withItems<Result>(_ body: (inout [[String: Any]], inout State) throws -> Result) rethrows -> Result {
        try lock.withLock { try body(&items, &state) }
    }

    /// So many seconds pass at once on the clocks of this process.
    public func timePasses(seconds: Int) { darwin_time_passes(seconds) }

    /// The keychain asks for the owner of an item, in a context that may prompt or because it was given none.
    /// - Returns: What it answers then.
    public func askByKeychain(_ reason: String) -> Int32 {
        let answer = with { state -> Answer in
            state.prompts.append(.init(policy: ScriptedDevice.keychainPrompt, reason: reason))
            return state.answers.isEmpty ? .failure(-1) : state.answers.removeFirst()
        }
        switch answer {
        case .success: return 0
        case .failure(-2), .failure(-4), .waitsForInvalidation: return -128
        case .failure, .stranger: return -25293
        }
    }

    /// Notes the call, and takes the status that a test wants it to return.
    public static func noteCall(_ name: String, _ state: inout State) -> Int32? {
        state.calls.append(name)
        if let left = state.skips[name], left > 0 {
            state.skips[name] = left - 1
            return nil
        }
        guard var failures = state.failures[name], !failures.isEmpty else { return nil }
        defer { state.failures[name] = failures }
        return failures.removeFirst()
    }

    /// Keeps a key and gives the handle that finds it again: bytes that are no key.
    public func keep(_ key: EnclaveKey) -> Data {
        let handle = Data((0..<64).map { _ in UInt8.random(in: .min ... .max) })
        lock.withLock { state.enclave[handle] = key }
        return handle
    }

    public func enclaveKey(_ handle: Data) -> EnclaveKey? { lock.withLock { state.enclave[handle] } }
}

/// What the keychain stand-in needs to know of an `LAContext` without depending on LocalAuthentication.
public protocol ScriptedAuthentication: AnyObject {
    /// Whether this context satisfies a constraint: 0, or the status that the keychain returns instead. May ask, and
    /// use up an answer.
    func satisfy(biometrics: Bool, passcode: Bool) -> Int32
}
