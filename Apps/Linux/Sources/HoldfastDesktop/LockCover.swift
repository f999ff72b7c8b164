import CAdw
import GtkKit
import Holdfast
import HoldfastUI

/// Covers everything while locked. What is under it is hidden, not merely painted over, so that neither the pointer,
/// the keyboard nor a screen reader gets at it; the blur is a picture taken as the lock falls.
final class LockCover {
    private unowned let parts: ReadyWindow
    private let lock: LockModel
    private let window: Window
    private let cover: Widget
    private let picture: Picture
    private let form: Widget
    private let passcodeForm: Widget, pinForm: Widget, phraseForm: Widget
    private let passcode: Editable, pin: Editable, phrase: Editable, new: Editable, repeated: Editable
    private let meter: StrengthMeter
    private let folder: Widget, folderClaim: ToggleButton, folderLeave: ToggleButton
    private let reason: Label, failure: Label, attempts: Label, delay: Label
    private let unlock: Button
    private let others: [(prompt: UnlockSecret, button: Button)]
    private let spinner: Widget
    private let ownerProblem: Label, finger: Button, account: Button, stop: Button, talk: OwnerTalk
    /// What was typed wrongly without asking the vault.
    private var mistake: VaultProblem?

    init(_ overlay: Widget, _ parts: ReadyWindow) {
        self.parts = parts
        lock = parts.models.lock
        window = parts.window
        let ui = Builder(PackageResources.cover_ui)
        cover = ui.widget("cover")
        picture = ui.widget("cover-picture")
        form = ui.widget("lock-form")
        passcodeForm = ui.widget("passcode-form")
        pinForm = ui.widget("pin-form")
        phraseForm = ui.widget("phrase-form")
        passcode = ui.widget("passcode")
        pin = ui.widget("pin")
        phrase = ui.widget("phrase")
        new = ui.widget("phrase-new")
        meter = StrengthMeter(nil, nil, ui.widget("phrase-weak"))
        repeated = ui.widget("phrase-repeat")
        folder = ui.widget("folder")
        folderClaim = ui.widget("folder-claim")
        folderLeave = ui.widget("folder-leave")
        reason = ui.widget("lock-reason")
        failure = ui.widget("lock-failure")
        attempts = ui.widget("lock-attempts")
        delay = ui.widget("lock-delay")
        unlock = ui.widget("unlock")
        others = [
            (.pin, ui.widget("use-pin")), (.passcode, ui.widget("use-passcode")),
            (.recoveryPhrase, ui.widget("use-phrase")),
        ]
        spinner = ui.widget("lock-spinner")
        ownerProblem = ui.widget("owner-problem")
        finger = ui.widget("owner-finger")
        account = ui.widget("owner-account")
        stop = ui.widget("owner-stop")
        talk = OwnerTalk(
            lock.owner.dialog, said: ui.widget("owner-said"), answer: ui.widget("owner-answer"),
            confirm: ui.widget("owner-confirm"))
        gtk_overlay_add_overlay(overlay.opaque, cover.widget)
        unlock.onClick { [unowned self] in answer() }
        new.onChange { [unowned self] in meter.show(new.withBytes { PasscodeStrength(of: $0) }) }
        for entry in [passcode, pin, phrase, new, repeated] { entry.onActivate { [unowned self] in answer() } }
        for (prompt, button) in others {
            button.onClick { [unowned self] in
                clear()
                lock.choose(prompt)
            }
        }
        let model = parts.models.cover
        bind(self, { model.shown }) { [unowned self] in show($0) }
        bind(self, { [lock] in Facts(lock) }) { [unowned self] in show($0) }
        connectOwner()
    }

    /// Everything that the form shows, so that one change of the screen follows one change of the lock.
    private struct Facts: Equatable {
        let state: LockModel.State, prompt: UnlockSecret, guidance: LockGuidance, reason: LockReason
        let remaining: Int?, consequence: LimitConsequence, delay: Int?, isDelayed: Bool, others: [UnlockSecret]
        let leavesHardware: Bool, takesSecret: Bool, opensByLevel: Bool

        init(_ lock: LockModel) {
            (state, prompt, guidance, reason) = (lock.state, lock.prompt, lock.guidance, lock.reason)
            (remaining, consequence) = (lock.remainingAttempts, lock.consequence)
            (delay, isDelayed, others) = (lock.delay, lock.isDelayed, lock.otherPrompts)
            leavesHardware = lock.leavesHardware
            (takesSecret, opensByLevel) = (lock.takesSecret, lock.owner.opensByLevel)
        }
    }

    private func show(_ shown: PrivacyCover.Shown) {
        let isCovered = shown != .nothing
        if isCovered, !cover.isVisible || parts.content.isVisible {
            picture.show(parts.models.cover.style == .blurred ? parts.content.illegiblePicture() : nil)
            // A focused entry that is hidden keeps half its focus.
            window.dropFocus()
        }
        cover.isVisible = isCovered
        parts.content.isVisible = !isCovered
        form.isVisible = shown == .lockScreen
        if isCovered {
            window.onNextFrame { Trace.covered() }
        } else {
            picture.show(nil)
            clear()
        }
        if shown == .lockScreen { focus() }
    }

    private func show(_ facts: Facts) {
        let isChecking = facts.state == .checking
        let asksPhrase = facts.prompt == .recoveryPhrase
        if isChecking, form.hasFocus { window.dropFocus() }
        showForm()
        form.isSensitive = !isChecking
        for entry in [passcode, pin] { entry.isSensitive = !facts.isDelayed }
        unlock.isSensitive = !facts.isDelayed
        spinner.isVisible = isChecking
        spinner.set("spinning", isChecking)
        folder.isVisible = facts.leavesHardware
        for (prompt, button) in others { button.isVisible = facts.others.contains(prompt) }
        reason.text = LockText.of(facts.reason, facts.prompt)
        showFailure(facts.guidance)
        attempts.isVisible = facts.remaining != nil && !asksPhrase
        if let left = facts.remaining { attempts.text = LockText.attempts(left, facts.consequence) }
        attempts.setClass("error", facts.consequence == .destroys)
        delay.isVisible = facts.isDelayed
        if let seconds = facts.delay { delay.text = LockText.delay(seconds) }
        if facts.state == .locked || facts.state == .delayed { focus() }
    }

    /// One thing is typed at a time: the account's password, while the system asks for it.
    private func showForm() {
        let isAsked = lock.owner.dialog.question != nil
        passcodeForm.isVisible = lock.prompt == .passcode && !isAsked && lock.takesSecret
        pinForm.isVisible = lock.prompt == .pin && !isAsked
        phraseForm.isVisible = lock.prompt == .recoveryPhrase && !isAsked
        // With nothing to type it is the button that asks the owner again, or nobody.
        unlock.isVisible = !isAsked && (lock.takesSecret || lock.owner.opensByLevel)
    }

    private func showFailure(_ guidance: LockGuidance) {
        let text = mistake.map(ProblemText.of) ?? LockText.of(guidance)
        failure.text = text ?? ""
        failure.isVisible = text != nil
    }

    private func focus() {
        guard cover.isVisible, form.isSensitive else { return }
        if lock.owner.dialog.question != nil { return }  // the account's password has the keyboard
        switch lock.prompt {
        case .recoveryPhrase: if !phraseForm.hasFocus { phrase.focus() }
        // What is left to do while nothing can be typed.
        case .passcode where lock.isDelayed, .pin where lock.isDelayed:
            others.last { lock.otherPrompts.contains($0.prompt) }?.button.focus()
        case .passcode: if lock.takesSecret { passcode.focus() } else { unlock.focus() }
        case .pin: pin.focus()
        }
    }

    private func answer() {
        mistake = nil
        guard lock.takesSecret else {
            Task { [lock] in await lock.owner.unlock() }
            return
        }
        do {
            switch lock.prompt {
            case .passcode: try answer(.passcode, from: passcode)
            case .pin: try answer(.pin, from: pin)
            case .recoveryPhrase: try answerWithPhrase()
            }
        } catch {
            mistake = .outOfMemory
            showFailure(lock.guidance)
        }
    }

    private func answer(_ kind: UnlockSecret, from entry: Editable) throws(SecretMemoryError) {
        guard !entry.isEmpty, lock.delay == nil else { return }
        let secret = SecretCarrier(try entry.takeSecret())
        Task { [lock] in await lock.unlock(kind, secret.take()) }
    }

    private func answerWithPhrase() throws(SecretMemoryError) {
        guard !phrase.isEmpty else { return }
        let first = try new.copySecret()
        let second = try repeated.copySecret()
        guard first.isEqual(to: second) else {
            mistake = .passcodesDiffer
            return showFailure(lock.guidance)
        }
        let replaces = first.count > 0
        let decision: HardwareDecision? = folderClaim.isOn ? .claim : folderLeave.isOn ? .leave : nil
        if replaces, lock.leavesHardware, decision == nil {
            mistake = .hardwareUnclaimed
            return showFailure(lock.guidance)
        }
        if replaces, meter.isRefused {
            mistake = .weakPasscode
            return showFailure(lock.guidance)
        }
        let words = SecretCarrier(try phrase.takeSecret())
        let passcode = SecretCarrier(first)
        let takesWeak = meter.takesWeak
        clear()
        Task { [lock] in
            if replaces {
                await lock.recover(
                    phrase: words.take(), newPasscode: passcode.take(), hardware: decision, takingWeak: takesWeak)
            } else {
                await lock.unlock(.recoveryPhrase, words.take())
            }
        }
    }

    private func clear() {
        for entry in [passcode, pin, phrase, new, repeated] where !entry.isEmpty { entry.clear() }
        (folderClaim.isOn, folderLeave.isOn) = (false, false)
        mistake = nil
    }
}

// The system's owner.
extension LockCover {
    private struct OwnerFacts: Equatable {
        let offers: [OwnerStep], step: OwnerStep?, problem: VaultProblem?, isChecking: Bool, stop: StopModel.Reason?
        init(_ lock: LockModel) {
            (offers, step, problem) = (lock.owner.offers, lock.owner.dialog.step, lock.owner.problem)
            isChecking = lock.state == .checking
            stop = lock.stop?.reason
        }
    }

    private func connectOwner() {
        let owner = lock.owner
        for (button, step) in [(finger, OwnerStep.biometrics), (account, .devicePasscode)] {
            button.onClick { [unowned self] in
                clear()
                Task { await owner.ask(step) }
            }
        }
        stop.onClick { owner.turnAway() }
        talk.onQuestion = { [unowned self] isAsked in
            showForm()
            if !isAsked { focus() }
        }
        bind(self, { [lock] in OwnerFacts(lock) }) { [unowned self] in show($0) }
        owner.setInFront(window.isActive)
        window.on("notify::is-active") { [unowned self] in owner.setInFront(window.isActive) }
    }

    private func show(_ facts: OwnerFacts) {
        let isAsking = facts.step != nil
        finger.isVisible = !isAsking && facts.offers.contains(.biometrics)
        account.isVisible = facts.step != .devicePasscode && facts.offers.contains(.devicePasscode)
        // A finger that is waited for is let go first.
        account.isSensitive = !isAsking
        stop.isVisible = isAsking
        let text = isAsking ? nil : (facts.stop.map(\.problem) ?? facts.problem).map(ProblemText.of)
        ownerProblem.text = text ?? ""
        ownerProblem.isVisible = text != nil
    }
}
