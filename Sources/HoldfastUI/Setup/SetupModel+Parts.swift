internal import Holdfast

// What the machine has beside: a security chip, a fingerprint sensor.
extension SetupModel {
    /// Puts the passcode under the chip. What does not succeed is said, and may be tried again or left out.
    package func enrollChip() async {
        guard step == .chip, !isBusy, let app, let passcode = passcode.take() else { return }
        let phrase = phrase.take()
        isBusy = true
        problem = nil
        do throws(VaultError) {
            try await SecuritySettingsModel.enrollChip(app.vault, passcode, phrase)
        } catch { problem = VaultProblem(error) }
        isBusy = false
        guard step == .chip else { return }  // the user was away
        self.passcode = consume passcode
        self.phrase = consume phrase
        if problem == nil { advance() }
    }

    /// Tests the finger, and then adds it to the vault's policy.
    package func enrollFingerprint() async {
        guard step == .fingerprint, !isBusy, let app else { return }
        isBusy = true
        problem = nil
        let refusal = await dialog.run(.biometrics) { [lock = app.lock] prompts throws(VaultError) in
            try await lock.rehearseOwner(.biometrics, prompts)
        }
        guard step == .fingerprint else { return isBusy = false }  // the user was away
        if let refusal {
            isBusy = false
            problem = refusal.code == .cancelled ? nil : VaultProblem(refusal)
            return
        }
        guard let passcode = passcode.take() else { return isBusy = false }
        do throws(VaultError) {
            try await app.lock.enrollOwner(.biometrics, passcode: passcode)
        } catch { problem = VaultProblem(error) }
        isBusy = false
        guard step == .fingerprint else { return }
        self.passcode = consume passcode
        if problem == nil { advance() }
    }

    /// The user skips what is offered; a finger that is being waited for is let go.
    package func leaveOut() {
        guard step == .chip || step == .fingerprint else { return }
        if dialog.step != nil { return dialog.cancel() }
        guard !isBusy else { return }
        problem = nil
        advance()
    }

    /// Finds out whether a vault can begin without a passcode here.
    package func look() async { canBeginWithoutPasscode = await unasked.isPossible(path) }

    /// The vault begins without a passcode: this machine's key store opens it. Its user may set one in the settings.
    package func beginWithoutPasscode() async {
        guard step == .welcome else { return }
        step = .opening
        problem = nil
        let began = absences
        var isMade = false
        do throws(VaultError) {
            try await unasked.create(path)
            isMade = true
            let app = try open(path)
            await app.lock.handle(.launch)
            await app.lock.handle(.didBecomeActive)
            try await app.lock.unlock()
            self.app = app
        } catch { problem = VaultProblem(error) }
        if isMade && began != absences { return await lockAndFinish() }
        // A vault that was made and did not open has a lock screen, which says why.
        step = isMade ? .finished : .welcome
    }

    func advance() {
        step = left.isEmpty ? .finished : left.removeFirst()
        // The words, and then the passcode, are needed no more.
        if step != .chip { phrase = nil }
        if step == .finished { passcode = nil }
    }

    nonisolated static func look(_ app: HoldfastApp) async -> Set<Part> {
        async let capability = app.lock.ownerCapability(of: .biometrics)
        var parts: Set<Part> = []
        if await SecuritySettingsModel.look(app, SecurityChip.obstacle) == nil { parts.insert(.chip) }
        if await capability == .available { parts.insert(.fingerprint) }
        return parts
    }
}
