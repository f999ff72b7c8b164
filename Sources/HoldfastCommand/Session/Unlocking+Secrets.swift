internal import CommandLineArguments
internal import Holdfast
internal import HoldfastAgent

extension Unlocking {
    /// Whether the command line says with which secret the vault is opened, so that no agent is asked.
    static func namesSecret(_ arguments: Arguments) -> Bool {
        arguments[Options.passcodeDescriptor] != nil || arguments[Options.pinDescriptor] != nil || usesPhrase(arguments)
    }

    /// - Throws: A usage error where more than one is named.
    static func requireOneSecret(_ arguments: Arguments) throws(CommandError) {
        let named = [
            arguments[Options.passcodeDescriptor] != nil, arguments[Options.pinDescriptor] != nil,
            usesPhrase(arguments),
        ]
        guard named.count(where: \.self) <= 1 else {
            throw .usage("use only one of the passcode, the PIN and the recovery phrase")
        }
    }

    /// Asks for the PIN where the vault has one for this machine's chip, else for the passcode, and opens with what came. On
    /// the terminal an empty PIN means the passcode, and so does one that the chip answers for no more.
    /// - Parameter status: Read before the first question. It is read again where the PIN was refused, which spends an
    ///   attempt.
    static func ask<R>(
        _ arguments: Arguments, _ vault: Vault, _ status: Vault.Status,
        _ open: (UnlockSecret, borrowing SecretBytes) throws(CommandError) -> R
    ) throws(CommandError) -> R {
        let input = SecretInput(arguments)
        var status = status
        if asksPIN(arguments, vault, status) {
            switch try input.pin() {
            case .none: break
            case .some(let pin):
                do throws(CommandError) { return try open(.pin, pin) } catch {
                    guard arguments[Options.pinDescriptor] == nil, isOver(error) else { throw error }
                    Output.note(error.message)
                    status = try vaultCall { try vault.status() }
                }
            }
        }
        tellOfPasscode(arguments, vault, status)
        let passcode = try input.passcode()
        return try open(.passcode, passcode)
    }

    private static func asksPIN(_ arguments: Arguments, _ vault: Vault, _ status: Vault.Status) -> Bool {
        if arguments[Options.pinDescriptor] != nil { return true }
        guard arguments[Options.passcodeDescriptor] == nil, !arguments[Options.passcode], Terminal.isThere else {
            return false
        }
        guard status.pinAssurance != nil else { return false }
        let left = vault.remainingAtChip(.pin)
        if left == 0 {
            Output.note("the PIN no longer works on this machine (set another one with holdfast enroll pin)")
            return false
        }
        tell(left, status, "PIN", then: "only the passcode works")
        return true
    }

    /// Says before the user types that the TPM allows fewer attempts than the vault's own count: a success with another
    /// secret resets only the vault's count.
    private static func tell(_ left: Int?, _ status: Vault.Status, _ what: String, then end: String) {
        guard let left, left < status.remainingAttempts else { return }
        Output.note(
            left == 0
                ? "NOTE: the TPM no longer accepts the \(what): \(end)"
                : "NOTE: \(Format.count(left, "more wrong \(what)")) until the TPM refuses it; then \(end)")
    }

    /// The same for the passcode.
    static func tellOfPasscode(_ arguments: Arguments, _ vault: Vault, _ status: Vault.Status) {
        guard arguments[Options.passcodeDescriptor] == nil, Terminal.isThere else { return }
        guard status.hasHardwareShare else { return }
        tell(vault.remainingAtChip(.passcode), status, "passcode", then: status.restWithoutPasscode)
    }

    /// Whether the error means that no PIN works any more, not that this one was wrong.
    private static func isOver(_ error: CommandError) -> Bool {
        // An agent from before PINs existed does not know this request.
        let codes = [VaultError.Code.hardwareDestroyed, .hardwareUnavailable, .noPIN, .damaged, .agentProtocol]
        return codes.map(\.description).contains(error.code)
    }
}

extension Vault.Status {
    /// What opens a vault that has no passcode.
    var wayWithoutPasscode: String {
        if slots.contains(.device) { return "this vault opens without asking and has no passcode; nothing was changed" }
        if slots.contains(.deviceOwner) {
            return "this vault has no passcode: its device's owner opens it, in its app; nothing was changed"
        }
        return "this vault has no passcode, only a recovery phrase; nothing was changed"
    }

    /// What to do instead.
    var adviceWithoutPasscode: String {
        if slots.contains(.device) {
            return "holdfast open-without-asking off sets a passcode, holdfast enroll phrase issues a recovery phrase"
        }
        guard slots.contains(.recoveryPhrase) else { return "set a passcode in its app" }
        return "holdfast recover sets a passcode with the phrase, and --phrase opens the vault"
    }

    /// `only the recovery phrase opens the vault`: what is left without the passcode.
    var restWithoutPasscode: String {
        let rest = [hasPIN ? "the PIN" : nil, slots.contains(.recoveryPhrase) ? "the recovery phrase" : nil]
            .compactMap(\.self)
        return switch rest.count {
        case 0: "nothing opens the vault"
        case 1: "only \(rest[0]) opens the vault"
        default: "only \(rest.joined(separator: " and ")) open the vault"
        }
    }
}

extension UnlockSecret {
    /// What people call it.
    var words: String {
        switch self {
        case .passcode: "passcode"
        case .recoveryPhrase: "recovery phrase"
        case .pin: "PIN"
        }
    }
}
