import CAdw
import GtkKit
import Holdfast
import HoldfastUI

/// How the vault is protected, and a new recovery phrase.
final class ProtectionGroup {
    private unowned let parts: ReadyWindow
    private let model: ProtectionModel
    private let level: Row, phrase: Row, renew: Button, own: Row, change: Button, movingRow: Row, movingBar: ProgressBar

    init(_ ui: Builder, _ parts: ReadyWindow) {
        self.parts = parts
        model = parts.models.protection
        level = ui.widget("protection-row")
        phrase = ui.widget("phrase-row")
        renew = ui.widget("phrase-new")
        own = ui.widget("own-row")
        change = ui.widget("own-change")
        movingRow = ui.widget("moving-row")
        movingBar = ui.widget("moving-bar")
        renew.onClick { [unowned self] in issue() }
        change.onClick { [unowned self] in if self.model.hasPasscode { removePasscode() } else { setPasscode() } }
        let model = model
        bind(self, { model.protection }) { [unowned self] _ in show() }
        bind(self, { model.moving }) { [unowned self] in
            movingRow.isVisible = $0 != nil
            if let moving = $0, moving.total > 0 {
                movingBar.fraction = Double(moving.done) / Double(moving.total)
            } else {
                movingBar.fraction = 0
            }
        }
        bind(self, { model.movingProblem }) { [unowned self] in
            if let problem = $0 { self.parts.toast(ProblemText.of(problem)) }
        }
        // Its words belong to one change at a time.
        bind(self, { model.running == nil && model.moving == nil }) { [renew, change] in
            renew.isSensitive = $0
            change.isSensitive = $0
        }
    }

    private func show() {
        level.title = model.level.map(SettingsText.of) ?? ""
        level.subtitle = model.level.map(SettingsText.advice) ?? ""
        phrase.subtitle =
            model.isLostWithDevice
            ? tr("Without one, a lost passcode or machine loses everything in the vault")
            : tr("24 words open the vault if the passcode is forgotten or the machine is lost")
        phrase.setClass("warning", model.isLostWithDevice)
        renew.setLabel(tr("New…"), spoken: tr("New recovery phrase"))
        own.title = model.hasPasscode ? tr("Turn off the passcode") : tr("Set a passcode")
        own.subtitle =
            model.hasPasscode
            ? tr("Your finger or your account password then opens the vault; without either, it opens without asking.")
            : tr("Needed each time from then on. Forgetting it loses everything without a recovery phrase.")
        if model.hasPasscode {
            change.setLabel(tr("Turn Off…"), spoken: tr("Turn off the passcode"))
        } else {
            change.setLabel(tr("Set…"), spoken: tr("Set a passcode"))
        }
    }

    /// What a change of the level takes away is said before it is made.
    private func warned(_ title: String, _ proceed: @escaping () -> Void) {
        guard model.losesPhrase else { return proceed() }
        parts.sheets.askConfirmation(
            title,
            tr("The recovery phrase of this vault no longer works after this change. Issue a new one afterwards."),
            confirm: tr("Continue"), proceed)
    }

    private func setPasscode() {
        warned(tr("Set a Passcode")) { [unowned self] in
            let form = parts.sheets.change
            form.onChoose = { [unowned self] passcode, repeated in
                let (first, second, takesWeak) = (SecretCarrier(passcode), SecretCarrier(repeated), form.takesWeak)
                parts.sheets.dismiss()
                make(tr("Set a Passcode"), tr("The vault now asks for its passcode. Write down a recovery phrase.")) {
                    [model] in
                    await model.setPasscode(first.take(), repeated: second.take(), takingWeak: takesWeak)
                }
            }
            parts.sheets.showChange()
        }
    }

    private func removePasscode() {
        warned(tr("Turn off the Passcode")) { [unowned self] in
            parts.sheets.askPasscode(
                tr("Turn off the Passcode"), tr("Changing settings requires your passcode."), confirm: tr("Turn Off")
            ) { [unowned self] passcode, _ in
                let secret = SecretCarrier(passcode)
                make(tr("Turn off the Passcode"), tr("The passcode is off")) { [model] in
                    await model.removePasscode(secret.take())
                }
            } onCancel: {
            }
        }
    }

    /// Makes a step; the system may ask its owner meanwhile.
    private func make(_ title: String, _ done: String, _ step: @escaping () async -> Void) {
        parts.sheets.showOwner(model.dialog, title, tr("The system asks whether it is you.")) { [model] in
            model.dialog.cancel()
        }
        Task { [unowned self] in
            await step()
            parts.sheets.dismissOwner()
            if !report() { parts.toast(done) }
        }
    }

    private func issue() {
        Task { [unowned self] in
            await model.issuePhrase()
            guard model.showsPhrase, !parts.models.lock.isLocked else {
                report()
                return
            }
            parts.sheets.showWords(.vault) { [model] show in
                _ = model.withPhrase { show($0) }
            } _: { [unowned self] in
                confirm()
            } onCancel: { [model] in
                model.discardPhrase()
            }
        }
    }

    /// The words are on paper: they come into effect when the owner has proved to be there.
    /// - Parameter problem: Why it did not come to that the last time.
    private func confirm(_ problem: VaultProblem? = nil) {
        guard model.hasPasscode else {
            parts.sheets.showOwner(
                model.dialog, tr("New Recovery Phrase"), tr("The system asks whether it is you.")
            ) { [model] in
                model.dialog.cancel()
            }
            Task { [unowned self] in
                await model.confirmPhrase()
                parts.sheets.dismissOwner()
                if !report() { done() } else { model.discardPhrase() }
            }
            return
        }
        parts.sheets.askPasscode(
            tr("New Recovery Phrase"),
            problem.map(ProblemText.of) ?? tr("Enter your passcode to confirm the new words."), confirm: tr("Replace")
        ) { [unowned self] passcode, _ in
            let carried = SecretCarrier(passcode)
            Task { [unowned self] in
                await model.confirmPhrase(passcode: carried.take())
                guard let failure = model.failure else { return done() }
                // The same words, once more.
                guard model.showsPhrase, !parts.models.lock.isLocked else {
                    report()
                    return
                }
                model.failure = nil
                confirm(failure.problem)
            }
        } onCancel: { [model] in
            model.discardPhrase()
        }
    }

    private func done() { parts.toast(tr("The new recovery phrase is now in effect. The old one no longer works.")) }

    /// Says what went wrong, if something did.
    @discardableResult
    private func report() -> Bool {
        guard let failure = model.failure else { return false }
        model.failure = nil
        if !parts.models.lock.isLocked { parts.toast(tr("Nothing was changed. %s", ProblemText.of(failure.problem))) }
        return true
    }
}
