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
        let steps = ProtectionSteps(parts)
        let model = model
        renew.onClick { steps.issuePhrase() }
        change.onClick { if model.hasPasscode { steps.removePasscode() } else { steps.setPasscode() } }
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
}
