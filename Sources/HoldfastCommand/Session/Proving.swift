internal import CommandLineArguments
internal import Holdfast

// What proves, in a command, that the vault's owner is there.
extension Unlocking {
    /// The vault, opened with the passcode or with the phrase, and what that proved.
    /// - Parameter evenIfDamaged: As ``open(_:evenIfDamaged:)``.
    static func openProving(
        _ arguments: Arguments, evenIfDamaged: Bool = false
    ) throws(CommandError) -> (Vault, ProofCarrier) {
        let input = SecretInput(arguments)
        try requireOneSecret(arguments)
        if let vault = try openWithoutAsking(arguments) {
            return (vault, ProofCarrier(try vaultCall { try vault.proveNobody() }))
        }
        if usesPhrase(arguments) { try input.requirePhraseSource() } else { try input.requirePasscodeSource() }
        let vault = try find(arguments)
        let proof: Proof
        if usesPhrase(arguments) {
            let phrase = try typedPhrase(arguments, vault)
            proof = try vaultCall { try vault.unlockProving(phrase: phrase, evenIfDamaged: evenIfDamaged) }
        } else {
            let status = try refuseEarly(vault)
            proof = try withPasscode(input, vault, status) { passcode throws(CommandError) in
                try vaultCall {
                    try vault.unlockProving(passcode: passcode, spending: burn(vault), evenIfDamaged: evenIfDamaged)
                }
            }
        }
        tellOpened(vault)
        return (vault, ProofCarrier(proof))
    }

    /// Asks on the terminal, of a vault that is open: what was typed before was longer ago than a proof may be.
    /// - Parameter input: What it is read from instead: a descriptor that has it on two lines.
    static func proveAgain(
        _ arguments: Arguments, _ vault: Vault, from input: SecretInput = .onTerminal
    ) throws(CommandError) -> ProofCarrier {
        if try asksNobody(vault) { return ProofCarrier(try vaultCall { try vault.proveNobody() }) }
        if usesPhrase(arguments) {
            let phrase = try input.phrase()
            try refuseIdentityPhrase(phrase, vault)
            return ProofCarrier(try vaultCall { try vault.prove(phrase: phrase) })
        }
        let status = try refuseEarly(vault)
        let proof = try withPasscode(input, vault, status, prompt: "Enter the vault's passcode to confirm: ") {
            passcode throws(CommandError) in
            try vaultCall { try vault.prove(passcode: passcode, spending: burn(vault)) }
        }
        return ProofCarrier(proof)
    }
}
