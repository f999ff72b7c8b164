// The ways to unlock, each said once: a slot, an entry of the log, a request to the agent and a prompt carry these
// values.

/// A secret that the user enters to unlock a vault. Each opens a slot of its own, of which a vault has one at most.
public enum UnlockSecret: UInt8, Sendable, Hashable, CaseIterable {
    /// The vault's own passcode.
    case passcode = 1
    /// The 24 words of the vault.
    case recoveryPhrase = 2
    /// A short PIN under a chip that counts its tries.
    case pin = 4

    /// Its stable word.
    public var name: String {
        switch self {
        case .passcode: "passcode"
        case .recoveryPhrase: "recoveryPhrase"
        case .pin: "pin"
        }
    }

    /// Bytes of any of them, as entered: UTF-8.
    package static let sizes = 1...1024

    /// Its number in the agent's messages.
    package var requestCode: UInt8 {
        switch self {
        case .passcode: 1
        case .recoveryPhrase: 2
        case .pin: 3
        }
    }

    /// The secret with this number in the agent's messages.
    package init?(requestCode: UInt8) {
        guard let secret = UnlockSecret.allCases.first(where: { $0.requestCode == requestCode }) else { return nil }
        self = secret
    }

    /// Whether wrong answers are counted, and the policy is bound into the slot.
    package var isCounted: Bool {
        switch self {
        case .passcode, .pin: true
        case .recoveryPhrase: false
        }
    }
}

/// A way in which the system tells whether its owner is in front of the device. Both open the slot of the device owner.
public enum OwnerStep: UInt8, LogWord, Hashable {
    /// A finger or a face.
    case biometrics = 1
    /// The passcode or password of the device's account.
    case devicePasscode = 2

    /// Its stable word.
    public var name: String {
        switch self {
        case .biometrics: "biometrics"
        case .devicePasscode: "devicePasscode"
        }
    }

    /// As the rules call it.
    package var fallback: FallbackStep {
        switch self {
        case .biometrics: .biometrics
        case .devicePasscode: .devicePasscode
        }
    }
}

/// A way to unlock a vault.
public enum UnlockMethod: Sendable, Hashable {
    /// A secret of the vault that the user entered.
    case secret(UnlockSecret)
    /// The device owner, confirmed by the system.
    case owner(OwnerStep)

    /// The vault's own passcode.
    public static var passcode: UnlockMethod { .secret(.passcode) }
    /// A PIN under a chip that counts its tries.
    public static var pin: UnlockMethod { .secret(.pin) }
    /// The 24 words of the vault.
    public static var recoveryPhrase: UnlockMethod { .secret(.recoveryPhrase) }
    /// A fingerprint or a face that released a key.
    public static var biometrics: UnlockMethod { .owner(.biometrics) }
    /// The device's passcode that released a key.
    public static var devicePasscode: UnlockMethod { .owner(.devicePasscode) }
}

extension UnlockMethod: LogWord {
    private static let firstStep: UInt8 = 4

    /// The secrets first, then the steps of the owner.
    public static var allCases: [UnlockMethod] {
        UnlockSecret.allCases.map { .secret($0) } + OwnerStep.allCases.map { .owner($0) }
    }

    /// Its number in the log.
    public var rawValue: UInt8 {
        switch self {
        case .secret(let secret): secret.rawValue
        case .owner(let step): UnlockMethod.firstStep + step.rawValue
        }
    }

    /// The way with this number in the log.
    public init?(rawValue: UInt8) {
        guard let method = UnlockMethod.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = method
    }

    /// Its stable word.
    public var name: String {
        switch self {
        case .secret(let secret): secret.name
        case .owner(let step): step.name
        }
    }
}

/// What opens a slot. A kind that this version does not know is kept and never opened.
package enum SlotKind: RawRepresentable, Sendable, Hashable {
    /// A secret of the vault. At most one slot of each in a vault.
    case secret(UnlockSecret)
    /// A key-store share that is released when the system has confirmed its owner.
    case deviceOwner
    /// A key-store share that is given without asking anybody. At most one slot in a vault.
    case device
    /// Of another version.
    case unknown(UInt8)

    /// A passcode through Argon2id, mixed with a hardware share where the flags say so.
    package static var passcode: SlotKind { .secret(.passcode) }
    /// The vault's 24 words.
    package static var recoveryPhrase: SlotKind { .secret(.recoveryPhrase) }
    /// A short PIN under a chip that counts its tries itself.
    package static var pin: SlotKind { .secret(.pin) }

    private static let owner: UInt8 = 3
    private static let deviceNumber: UInt8 = 5

    /// Any number is a kind.
    package init(rawValue: UInt8) {
        if let secret = UnlockSecret(rawValue: rawValue) {
            self = .secret(secret)
            return
        }
        switch rawValue {
        case SlotKind.owner: self = .deviceOwner
        case SlotKind.deviceNumber: self = .device
        default: self = .unknown(rawValue)
        }
    }

    /// The number in the file.
    package var rawValue: UInt8 {
        switch self {
        case .secret(let secret): secret.rawValue
        case .deviceOwner: SlotKind.owner
        case .device: SlotKind.deviceNumber
        case .unknown(let number): number
        }
    }

    /// The word used in HKDF's info and for programs.
    package var name: String {
        switch self {
        case .secret(let secret): secret.name
        case .deviceOwner: "deviceOwner"
        case .device: "device"
        case .unknown(let number): "unknown-\(number)"
        }
    }

    /// Whether wrong answers are counted, and the policy is bound into the slot.
    package var isCounted: Bool {
        switch self {
        case .secret(let secret): secret.isCounted
        case .deviceOwner, .device, .unknown: false
        }
    }
}
