import CAdw
import GtkKit
import HoldfastUI

/// What is said above and below the list: what the vault lacks, and that a backup is due.
final class VaultNotices {
    private unowned let parts: ReadyWindow
    private let advice: Widget, adviceText: Label, go: Button
    private let backup: Widget, backupText: Label

    init(_ ui: Builder, _ parts: ReadyWindow) {
        self.parts = parts
        advice = ui.widget("advice")
        adviceText = ui.widget("advice-text")
        go = ui.widget("advice-go")
        backup = ui.widget("backup-due")
        backupText = ui.widget("backup-due-text")
        let models = parts.models
        go.onClick { [unowned parts] in
            if let shown = models.advice.shown { ProtectionSteps(parts).take(shown) }
        }
        ui.widget("advice-later", as: Button.self).onClick {
            if let shown = models.advice.shown { Task { await models.advice.dismiss(shown) } }
        }
        ui.widget("backup-now", as: Button.self).onClick { [unowned parts] in parts.backUp() }
        bind(self, { models.advice.shown }) { [unowned self] in show($0) }
        // A vault without any has an advice about that.
        bind(self, { models.backup.isDue ? models.backup.lastBackup : nil }) { [unowned self] last in
            backup.isVisible = last != nil
            backupText.text = last.map(BackupText.last) ?? ""
        }
    }

    /// Where there is no room beside a text, its buttons stand below it.
    var isNarrow = false {
        didSet {
            for strip in [advice, backup] {
                gtk_orientable_set_orientation(
                    strip.opaque, isNarrow ? GTK_ORIENTATION_VERTICAL : GTK_ORIENTATION_HORIZONTAL)
            }
        }
    }

    private func show(_ shown: ProtectionAdvice?) {
        advice.isVisible = shown != nil
        guard let shown else { return }
        adviceText.text = AdviceText.of(shown)
        go.label = AdviceText.button(of: shown)
    }
}
