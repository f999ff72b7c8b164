import CAdw
import GtkKit
import Holdfast
import HoldfastUI

/// How the vault is protected, and a new recovery phrase.
final class ProtectionGroup {
    private unowned let parts: ReadyWindow
    private let model: ProtectionModel
    private let level: Row, phrase: Row, renew: Button, movingRow: Row, movingBar: ProgressBar

    init(_ ui: Builder, _ parts: ReadyWindow) {
        self.parts = parts
        model = parts.models.protection
        level = ui.widget("protection-row")
        phrase = ui.widget("phrase-row")
        renew = ui.widget("phrase-new")
        movingRow = ui.widget("moving-row")
        movingBar = ui.widget("moving-bar")
        renew.onClick { [unowned self] in issue() }
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
        bind(self, { model.running == nil }) { [renew] in renew.isSensitive = $0 }
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
