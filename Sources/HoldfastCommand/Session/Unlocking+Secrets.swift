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

    /// Asks for the PIN where the vault has one for this machine's chip, else for the passcode, and opens with what
    /// came. On the terminal an empty PIN means the passcode, and so does one that the chip answers for no more; a
    /// wrong one is asked for again as far as ``SecretTries`` goes.
    /// - Parameter status: Read before the first question. It is read again where a PIN was refused, which spends an
    ///   attempt.
    static func ask<R: ~Copyable>(
        _ arguments: Arguments, _ vault: Vault, _ status: Vault.Status,
        _ open: (UnlockSecret, borrowing SecretBytes) throws(CommandError) -> R
    ) throws(CommandError) -> R {
        let input = SecretInput(arguments)
        if arguments[Options.pinDescriptor] != nil { return try open(.pin, input.pin()) }
        if input.namesPasscode { return try open(.passcode, input.passcode()) }
        return try Silence.hold { () throws(CommandError) in
            var tries = try SecretTries(vault)
            var status = status
            if asksPIN(arguments, vault, status) {
                do throws(CommandError) {
                    let prompt = "PIN (press Enter to use the passcode): "
                    let opened = try tries.ask(for: .pin, status, prompt: prompt, isEmptyAnAnswer: true) {
                        pin throws(CommandError) in
                        try open(.pin, pin)
                    }
                    switch consume opened {
                    case .some(let opened): return opened
                    case .none: break
                    }
                } catch {
                    guard isOver(error) else { throw error }
                    Output.note(error.message)
                }
                status = try refuseEarly(vault)
            }
            tellOfPasscode(input, vault, status)
            let opened = try tries.ask(for: .passcode, status, prompt: "Passcode: ") {
                passcode throws(CommandError) in
                try open(.passcode, passcode)
            }
            switch consume opened {
            case .some(let opened): return opened
            case .none: throw .failure(.cancelled, "nothing was entered")
            }
        }
    }

    private static func asksPIN(_ arguments: Arguments, _ vault: Vault, _ status: Vault.Status) -> Bool {
        guard !arguments[Options.passcode], status.pinAssurance != nil else { return false }
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
    static func tellOfPasscode(_ input: SecretInput, _ vault: Vault, _ status: Vault.Status) {
        guard !input.namesPasscode, Terminal.isThere, status.hasHardwareShare else { return }
        tell(vault.remainingAtChip(.passcode), status, "passcode", then: status.restWithoutPasscode)
    }

    /// Whether the error means that no PIN works any more, not that this one was wrong.
    private static func isOver(_ error: CommandError) -> Bool {
        // An agent from before PINs existed does not know this request.
        [.hardwareDestroyed, .hardwareUnavailable, .noPIN, .damaged, .agentProtocol].contains(error.code)
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
