internal import CommandLineArguments
internal import Holdfast
internal import KeyStores

// Vaults that open without asking: the device's TPM or keyring has the share.
extension Unlocking {
    /// The vault, opened without asking, where its level is that; nil where it wants a secret, or the command line
    /// names one.
    static func openWithoutAsking(_ arguments: Arguments) throws(CommandError) -> Vault? {
        // What is wrong with a vault that cannot be found or read is said where a secret would be asked for.
        guard !namesSecret(arguments), let vault = try? find(arguments), (try? asksNobody(vault)) == true else {
            return nil
        }
        try vaultCall { try vault.openByDevice() }
        tellOpened(vault)
        return vault
    }

    /// Whether the vault opens without asking.
    static func asksNobody(_ vault: Vault) throws(CommandError) -> Bool {
        try vaultCall { try vault.protection() }.level == .device
    }
}

/// Makes a vault that opens without asking.
func createAtDevice(_ arguments: Arguments, _ path: String) throws(CommandError) -> ExitCode {
    var settings = VaultSettings.standard
    if arguments[Options.fileShare] { settings.shareStores = { ShareStores.files(in: $0 + "/shares") } }
    let final = settings
    try HeldSignals.during { () throws(CommandError) in
        try vaultCall { try Vault.createAtDevice(at: path, settings: final) }
    }
    let protection = try vaultCall { try Vault(at: path).protection() }
    Output.remark("Created a vault in \(path). It opens without asking: its key is in \(place(protection)).")
    if arguments[Options.fileShare] {
        Output.note("WARNING: anyone who can read \(path) can open the vault: the key lies beside it.")
    }
    Output.remark(
        "It is lost with this device until it has a recovery phrase: holdfast enroll phrase issues one."
    )
    return .done
}

private func place(_ protection: Protection) -> String {
    switch protection.shares.first?.store {
    case "tpm": "this machine's TPM"
    case "secretService": "your session keyring"
    case "keychain": "the keychain"
    default: "a file beside it"
    }
}

/// From now on the vault opens without asking.
func addDeviceSlot(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let input = SecretInput(arguments)
    if let vault = try? Unlocking.find(arguments), (try? Unlocking.asksNobody(vault)) == true {
        return try settleAtDevice(vault)
    }
    try input.requirePasscodeSource()
    let vault = try Unlocking.find(arguments)
    try Unlocking.refuseChangeEarly(vault)
    try Unlocking.withPasscode(input, vault) { passcode throws(CommandError) in
        try vaultCall {
            let proof = try vault.unlockProving(passcode: passcode, spending: vault.burnAttempt())
            try vault.change(to: LevelTarget(.device), proving: proof)
        }
    }
    try finishRekey(vault)
    let protection = try vaultCall { try vault.protection() }
    Output.remark(
        "The vault now opens without asking: its key is in \(place(protection)). Its passcode and recovery phrase no longer open it."
    )
    return .done
}

/// A vault whose rules ask for a lock beside a slot that asks nobody opens without asking again, with new keys.
private func settleAtDevice(_ vault: Vault) throws(CommandError) -> ExitCode {
    try vaultCall { try vault.keepForChange() }
    guard vault.isChangeable else {
        try vaultCall { try vault.openByDevice() }
        throw .failure(.exists, "the vault opens without asking already; nothing was changed")
    }
    try vaultCall {
        try vault.change(to: LevelTarget(.device), proving: vault.proveNobody())
        try vault.openByDevice()
    }
    try finishRekey(vault)
    Output.remark("The vault opens without asking again. Nothing else opens it.")
    return .done
}

/// From now on the vault asks for a passcode, and a new phrase is issued with it.
func removeDeviceSlot(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let input = SecretInput(arguments)
    try input.requirePasscodeSource()
    let delivery = try PhraseDelivery(arguments)
    let vault = try Unlocking.find(arguments)
    try vaultCall {
        try vault.keepForChange()
        if !vault.isChangeable { try vault.openByDevice() }
    }
    let passcode = try input.newPasscode(takingWeak: arguments[Options.weak])
    let phrase = try vaultCall { try Vault.newRecoveryPhrase() }
    try delivery.deliverConfirmed(phrase, else: "nothing was changed")
    var wish = LevelTarget(.secret)
    wish.passcode = consume passcode
    wish.phrase = consume phrase
    var change = Optional(wish)
    try PassingNote.show("Measuring this machine and making new keys ...") { () throws(CommandError) in
        try vaultCall {
            guard let wish = change.take() else { return }
            try vault.change(to: wish, proving: vault.proveNobody())
        }
    }
    // One whose rules contradicted its slots stays shut.
    if vault.isUnlocked {
        try finishRekey(vault)
    } else {
        Output.remark("Run holdfast verify --clean to move what is stored to the new keys.")
    }
    Output.remark("The vault now asks for the passcode. The device's key was removed.")
    return .done
}

extension Protection {
    /// For people: the level, and where a share rests.
    /// - Parameter slots: Those of the vault.
    func facts(_ slots: [SlotKind]) -> [(String, String)] {
        var facts = [("protection", words(slots))]
        if !isRecoverable { facts.append(("", "no recovery phrase: what is in it is lost with this device")) }
        if moving != nil { facts.append(("", "records still move to new keys (holdfast verify --clean)")) }
        return facts
    }

    private func words(_ slots: [SlotKind]) -> String {
        switch level {
        case .device: "opens without asking; its key is in \(place(self))"
        case .owner: "asks for your fingerprint or account password"
        case .secret: "asks for " + Protection.secrets(slots)
        }
    }

    /// `the passcode or the recovery phrase`: those that are set.
    private static func secrets(_ slots: [SlotKind]) -> String {
        let named = [UnlockSecret.passcode, .pin, .recoveryPhrase].filter { slots.contains(.secret($0)) }
            .map { "the \($0.words)" }
        guard let last = named.last else { return "nothing that this version knows" }
        return named.count == 1 ? last : named.dropLast().joined(separator: ", ") + " or " + last
    }

    /// For programs.
    var json: JSON {
        .object([
            "level": .text(level.name), "isRecoverable": .boolean(isRecoverable), "isMoving": .boolean(moving != nil),
            "shares": .array(
                shares.map { .object(["store": .text($0.store), "isRevocable": .boolean($0.isRevocable)]) }),
        ])
    }
}
