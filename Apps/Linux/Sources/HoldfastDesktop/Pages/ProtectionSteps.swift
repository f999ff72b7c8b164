import CAdw
import GtkKit
import Holdfast
import HoldfastUI

/// The steps that protect a vault better, from wherever they are begun: what is asked, what is said, and how they end.
struct ProtectionSteps {
    private unowned let parts: ReadyWindow
    private let model: ProtectionModel

    init(_ parts: ReadyWindow) {
        self.parts = parts
        model = parts.models.protection
    }

    /// Begins what mends a lack.
    func take(_ advice: ProtectionAdvice) {
        switch advice {
        case .passcode: setPasscode()
        case .phrase: issuePhrase()
        case .backup: take(DoctorVerdict.Step.backup)
        }
    }

    /// Begins what the doctor advises.
    func take(_ step: DoctorVerdict.Step) {
        switch step {
        case .passcode: setPasscode()
        case .phrase: issuePhrase()
        // The settings ask for what proves it.
        case .chip: parts.models.settings.request(.chip(true))
        case .lock: parts.models.settings.request(.lock(true))
        case .backup: gtk_widget_activate_action_variant(parts.window.widget, "app.backup", nil)
        case .settings: parts.go(.settings)
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

    func setPasscode() {
        warned(tr("Set a Passcode")) {
            let form = parts.sheets.change
            form.onChoose = { passcode, repeated in
                let (first, second, takesWeak) = (SecretCarrier(passcode), SecretCarrier(repeated), form.takesWeak)
                parts.sheets.dismiss()
                make(tr("Set a Passcode"), tr("The vault now asks for its passcode. Write down a recovery phrase.")) {
                    await model.setPasscode(first.take(), repeated: second.take(), takingWeak: takesWeak)
                }
            }
            parts.sheets.showChange()
        }
    }

    func removePasscode() {
        warned(tr("Turn off the Passcode")) {
            parts.sheets.askPasscode(
                tr("Turn off the Passcode"), tr("Changing settings requires your passcode."), confirm: tr("Turn Off")
            ) { passcode, _ in
                let secret = SecretCarrier(passcode)
                make(tr("Turn off the Passcode"), tr("The passcode is off")) {
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
        Task {
            await step()
            parts.sheets.dismissOwner()
            if !report() { parts.toast(done) }
        }
    }

    func issuePhrase() {
        Task {
            await model.issuePhrase()
            guard model.showsPhrase, !parts.models.lock.isLocked else {
                report()
                return
            }
            parts.sheets.showWords(.vault) { [model] show in
                _ = model.withPhrase { show($0) }
            } _: {
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
            Task {
                await model.confirmPhrase()
                parts.sheets.dismissOwner()
                if !report() { done() } else { model.discardPhrase() }
            }
            return
        }
        parts.sheets.askPasscode(
            tr("New Recovery Phrase"),
            problem.map(ProblemText.of) ?? tr("Enter your passcode to confirm the new words."), confirm: tr("Replace")
        ) { passcode, _ in
            let carried = SecretCarrier(passcode)
            Task {
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
