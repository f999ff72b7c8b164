internal import Holdfast

/// What a new passcode must be at least, wherever a face sets one; the command has the same floor.
enum PasscodeFloor {
    /// - Parameters:
    ///   - passcode: As it was typed. One that is empty or too long is the vault's to refuse.
    ///   - takesWeak: Whether the user insists on it.
    /// - Returns: ``VaultProblem/weakPasscode`` for what is guessed at once.
    static func problem(of passcode: borrowing SecretBytes, takingWeak takesWeak: Bool) -> VaultProblem? {
        guard !takesWeak, passcode.withBytes({ PasscodeStrength(of: $0).level }) == .veryWeak else { return nil }
        return .weakPasscode
    }
}
