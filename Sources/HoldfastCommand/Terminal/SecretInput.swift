internal import BetterAuth
internal import CommandLineArguments
internal import Holdfast
internal import SystemCalls

/// Where a command's secrets come from: file descriptors that were named, else the terminal. Never arguments, never the
/// environment.
struct SecretInput {
    static let longestPasscode = UnlockSecret.sizes.upperBound
    static let longestPhrase = UnlockSecret.sizes.upperBound

    private let passcodeDescriptor: Int32?
    private let pinDescriptor: Int32?
    private let phraseDescriptor: Int32?
    private let recoveryDescriptor: Int32?
    /// Of a command for a vault that is there: what is wrong with it is said before what is missing to ask.
    private let vaultArguments: Arguments?

    /// Reads everything from the terminal.
    static let onTerminal = SecretInput()

    private init() {
        (passcodeDescriptor, pinDescriptor, phraseDescriptor, recoveryDescriptor) = (nil, nil, nil, nil)
        vaultArguments = nil
    }

    /// - Parameter isForNewVault: Whether the command makes the vault.
    init(_ arguments: Arguments, isForNewVault: Bool = false) {
        vaultArguments = isForNewVault ? nil : arguments
        passcodeDescriptor = arguments[Options.passcodeDescriptor]
        pinDescriptor = arguments[Options.pinDescriptor]
        phraseDescriptor = arguments[Options.phraseDescriptor]
        recoveryDescriptor = arguments[Options.recoveryDescriptor]
    }

    /// - Returns: A usage error.
    /// - Throws: What is wrong with the vault.
    private func missing(_ secret: String, _ option: String) throws(CommandError) -> CommandError {
        if let vaultArguments { _ = try Unlocking.find(vaultArguments) }
        return .usage("there is no terminal to ask for \(secret); use \(option) N")
    }

    /// Makes sure that there is somewhere to ask, before anything is opened or created.
    /// - Throws: A usage error; of a vault that cannot be opened at all, why.
    func requirePasscodeSource() throws(CommandError) {
        guard passcodeDescriptor == nil, !Terminal.isThere else { return }
        throw try missing("the passcode", "--passcode-fd")
    }

    /// As ``requirePasscodeSource()``.
    func requirePINSource() throws(CommandError) {
        guard pinDescriptor == nil, !Terminal.isThere else { return }
        throw try missing("the PIN", "--pin-fd")
    }

    /// As ``requirePasscodeSource()``, for a secret that opens the vault: the passcode, or the PIN.
    /// - Parameter unlockHelps: Whether the command goes through an agent that has the vault open.
    /// - Throws: `locked`, or a usage error where an agent has the vault open and would not do; of a vault that cannot
    ///   be opened at all, why.
    func requireCountedSource(unlockHelps: Bool = true) throws(CommandError) {
        guard pinDescriptor == nil, passcodeDescriptor == nil, !Terminal.isThere else { return }
        let missing = try missing("the passcode", "--passcode-fd")
        if !unlockHelps, let vaultArguments, AgentAccess.isOpen(vaultArguments) { throw missing }
        throw CommandError(
            .refused, code: .locked,
            "locked: there is no terminal to ask for the passcode",
            advice: (unlockHelps ? "run holdfast unlock first, or " : "") + "use --passcode-fd N")
    }

    /// Says why the passcode is asked for, where an agent has the vault open.
    /// - Parameter need: What the command needs that an agent does not give.
    func tellAskedAnyway(_ need: String) {
        guard let vaultArguments, !vaultArguments[Options.noAgent], AgentAccess.isOpen(vaultArguments) else { return }
        Output.remark("This command needs \(need), so it asks once more.")
    }

    /// As ``requirePasscodeSource()``.
    func requirePhraseSource() throws(CommandError) {
        guard phraseDescriptor == nil, !Terminal.isThere else { return }
        throw try missing("the recovery phrase", "--phrase-fd")
    }

    /// Whether the passcode comes from a descriptor, which has it once.
    var namesPasscode: Bool { passcodeDescriptor != nil }

    /// Likewise the PIN.
    var namesPIN: Bool { pinDescriptor != nil }

    /// The passcode as it is now.
    func passcode(_ prompt: String = "Passcode: ") throws(CommandError) -> SecretBytes {
        while true {
            let passcode = try read(passcodeDescriptor, prompt, SecretInput.longestPasscode, "a passcode")
            if passcode.count > 0 { return passcode }
            guard passcodeDescriptor == nil else { throw SecretInput.emptyPasscode }
        }
    }

    /// A passcode to be set: typed twice on the terminal, where an empty answer has one made of words; one line of the
    /// descriptor.
    /// - Parameter takesWeak: Whether the user insists on one that is guessed at once.
    func newPasscode(takingWeak takesWeak: Bool) throws(CommandError) -> SecretBytes {
        guard passcodeDescriptor != nil else { return try typedPasscode(takesWeak) }
        let passcode = try passcode()
        guard !takesWeak, SecretInput.isWeak(passcode) else { return passcode }
        throw .failure(
            .weakPasscode,
            "\(SecretInput.weakness); nothing was changed. Choose a longer one "
                + "(holdfast generate --words \(SecretInput.madeWords.count) makes one), or insist with \(Options.weak.option.spelled)"
        )
    }

    private static func isWeak(_ passcode: borrowing SecretBytes) -> Bool {
        passcode.withBytes { PasscodeStrength(of: $0).level } < .weak
    }

    private static let weakness = "anyone with a copy of the vault guesses this passcode at once"

    private func typedPasscode(_ takesWeak: Bool) throws(CommandError) -> SecretBytes {
        try SecretInput.typedTwice(
            "passcode", else: takesWeak ? nil : SecretInput.weakness,
            insisting: "start again with \(Options.weak.option.spelled) to insist")
    }

    /// A password to be set for a file, typed as a passcode is.
    static func filePassword() throws(CommandError) -> SecretBytes {
        try typedTwice("file password", else: "anyone with a copy of the file guesses this password at once")
    }

    /// A secret to be set, typed twice; an empty answer has one made of words. What cannot be taken is asked for again,
    /// before it is repeated.
    /// - Parameters:
    ///   - weakness: What it means that it is guessed at once; nil to take it.
    ///   - insisting: What else can be done then.
    private static func typedTwice(
        _ noun: String, else weakness: String?, insisting: String? = nil
    ) throws(CommandError) -> SecretBytes {
        guard let terminal = Terminal() else { throw .usage("there is no terminal to ask on") }
        try terminal.write("Press Enter alone to have a \(noun) of \(madeWords.count) words made for you.\n")
        while true {
            var first = try terminal.readSecret(prompt: "New \(noun): ", capacity: longestPasscode)
            if first.count == 0 {
                first = try vaultCall { try PasswordGenerator.words(madeWords) }
                try terminal.write("Your \(noun), which is not shown again: ")
                try first.withBytes { bytes throws(CommandError) in try terminal.write(bytes) }
                try terminal.write("\n")
            } else if let weakness, isWeak(first) {
                let ways = ["Choose a longer one", "press Enter for one of words"] + (insisting.map { [$0] } ?? [])
                let last = ways.count - 1
                try terminal.say(
                    "Too weak: \(weakness). \(ways[..<last].joined(separator: ", ")), or \(ways[last]).")
                continue
            }
            while true {
                let second = try terminal.readSecret(prompt: "Repeat \(noun): ", capacity: longestPasscode)
                guard second.count > 0 else { continue }
                if first.isEqual(to: second) { return first }
                break
            }
            try terminal.say("The two \(noun)s differ. Try again.")
        }
    }

    /// 66 bits, beneath a costly derivation.
    private static let madeWords = WordRules(count: 6)

    /// The PIN as it is now, of a descriptor.
    func pin() throws(CommandError) -> SecretBytes {
        let pin = try read(pinDescriptor, "PIN: ", SecretInput.longestPasscode, "a PIN")
        guard pin.count > 0 else { throw .failure(.invalidPasscode, "the PIN is empty") }
        return pin
    }

    /// A PIN to be set: typed twice on the terminal, one line of the descriptor.
    func newPIN() throws(CommandError) -> SecretBytes {
        if namesPIN { return try read(pinDescriptor, "", SecretInput.longestPasscode, "a PIN") }
        guard let terminal = Terminal() else { throw .usage("there is no terminal to ask on") }
        while true {
            let first = try terminal.readSecret(prompt: "New PIN: ", capacity: SecretInput.longestPasscode)
            let second = try terminal.readSecret(prompt: "Repeat PIN: ", capacity: SecretInput.longestPasscode)
            if first.isEqual(to: second) { return first }
            try terminal.say("The two PINs differ. Try again.")
        }
    }

    /// A recovery phrase that was entered. On the terminal it is asked for again while it is none.
    func phrase() throws(CommandError) -> RecoveryPhrase {
        let prompt = "Recovery phrase of the vault (24 words, not shown): "
        while true {
            let text = try read(phraseDescriptor, prompt, SecretInput.longestPhrase, "a recovery phrase")
            do throws(RecoveryPhraseError) { return try RecoveryPhrase(parsing: text) } catch {
                let error = CommandError(error)
                guard phraseDescriptor == nil else { throw error }
                Output.note(error.what)
            }
        }
    }

    /// The recovery phrase of an identity.
    func identityPhrase(
        _ prompt: String = "Recovery phrase of the IDENTITY (not shown): "
    ) throws(CommandError) -> IdentityPhrase {
        let text = try read(recoveryDescriptor, prompt, SecretInput.longestPhrase, "a recovery phrase")
        do throws(RecoveryPhraseError) { return try IdentityPhrase(parsing: text) } catch { throw CommandError(error) }
    }

    /// A few of its words.
    func identityWords(_ prompt: String) throws(CommandError) -> SecretBytes {
        try read(recoveryDescriptor, prompt, SecretInput.longestPhrase, "some words of a recovery phrase")
    }

    /// As ``requirePasscodeSource()``.
    func requireIdentityPhraseSource() throws(CommandError) {
        guard recoveryDescriptor == nil, !Terminal.isThere else { return }
        throw try missing("the recovery phrase", "--recovery-fd")
    }

    private func read(
        _ descriptor: Int32?, _ prompt: String, _ capacity: Int, _ what: String
    ) throws(CommandError) -> SecretBytes {
        if let descriptor { return try SecretInput.line(descriptor, capacity, what) }
        guard let terminal = Terminal() else { throw .usage("there is no terminal to ask on") }
        return try terminal.readSecret(prompt: prompt, capacity: capacity)
    }

    private static let emptyPasscode = CommandError.failure(.invalidPasscode, "the passcode is empty")

    /// One line of a descriptor without its newline, or the carriage return and newline of other systems. Byte by byte,
    /// so that nothing behind it is taken: the value for `put`, or another secret, may follow there.
    static func line(_ descriptor: Int32, _ capacity: Int, _ what: String) throws(CommandError) -> SecretBytes {
        var line = try secret(capacity)
        var next = try secret(1)
        var count = 0
        var isEnded = false
        while !isEnded {
            let got = try next.withMutableBytes { next throws(CommandError) in
                try Descriptors.read(descriptor, into: &next)
            }
            guard got > 0 else { break }
            let byte = next.withBytes { $0.byte(at: 0) }
            isEnded = byte == UInt8(ascii: "\n")
            if isEnded { break }
            guard count < capacity else { throw .failure(.tooLong, "\(what) has at most \(capacity) bytes") }
            line.withMutableBytes { $0.storeBytes(of: byte, toByteOffset: count, as: UInt8.self) }
            count += 1
        }
        guard isEnded || count > 0 else {
            throw .failure(.input, "file descriptor \(descriptor) ended where \(what) was expected")
        }
        if isEnded, count > 0, line.withBytes({ $0.byte(at: count - 1) }) == UInt8(ascii: "\r") { count -= 1 }
        return try line.prefix(count)
    }
}
