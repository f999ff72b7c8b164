package import Holdfast

extension SetupModel {
    /// The user is away, or the machine goes to sleep. When this returns, passcode, words and keys are gone, except
    /// those that are being created or opened right now; these go as soon as that is done.
    ///
    /// A vault that was made stays. The assistant continues where it was after the passcode is entered; past the app
    /// lock's question the vault is locked and its own lock screen takes over. The user interface empties what is
    /// typed.
    /// - Parameter event: What happened, for the lock machine.
    package func suspend(_ event: LockEvent) async {
        absences += 1
        lastEvent = event
        switch step {
        case .welcome, .resume, .creating, .opening, .finished: break
        case .passcode: (strength, problem) = (nil, nil)
        case .phrase, .check, .protection:
            forget()
            offersChip = !isPhraseChecked
            step = .resume
        case .chip, .fingerprint:
            dialog.cancel()
            await lockAndFinish()
        }
    }

    private func forget() {
        passcode = nil
        check = nil
        phrase = nil
        problem = nil
    }

    func lockAndFinish() async {
        forget()
        left = []
        await app?.lock.handle(lastEvent)
        step = .finished
    }

    /// The user is back. Continues with the app lock's question if the words were already written down; otherwise shows
    /// new words that replace those on the screen.
    ///
    /// ``problem`` says what was wrong; a wrong passcode is counted by the vault.
    /// - Parameter passcode: The one that was chosen.
    package func resume(passcode: consuming SecretBytes) async {
        guard step == .resume, !isBusy else { return }
        isBusy = true
        problem = nil
        defer { isBusy = false }
        let began = absences
        do throws(VaultError) {
            let app = try open(path)
            if isPhraseChecked {
                try await SetupModel.check(passcode, app.vault)
                guard began == absences else { return }
                self.passcode = consume passcode
                step = .protection
            } else {
                let phrase = try await SetupModel.newPhrase(passcode, app.vault)
                guard began == absences else { return }
                show(phrase, passcode)
            }
        } catch { problem = VaultProblem(error) }
    }

    @concurrent
    private nonisolated static func check(
        _ passcode: borrowing SecretBytes, _ vault: Vault
    ) async throws(VaultError) {
        try vault.verify(passcode: passcode, spending: vault.burnAttempt())
    }

    @concurrent
    private nonisolated static func newPhrase(
        _ passcode: borrowing SecretBytes, _ vault: Vault
    ) async throws(VaultError) -> RecoveryPhrase {
        let phrase = try Vault.newRecoveryPhrase()
        try vault.enrollRecoveryPhrase(phrase, passcode: passcode, spending: vault.burnAttempt())
        return phrase
    }
}
