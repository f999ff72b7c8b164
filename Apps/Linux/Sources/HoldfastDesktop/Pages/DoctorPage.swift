import CAdw
import GtkKit
import HoldfastUI

/// What protects the vault on this machine: each part, what it gives, and what to do about it.
final class DoctorPage {
    let root: Widget
    private let model: DoctorModel
    private let parts: ListBox, summary: Label, strip: Widget, spinner: Widget
    private let again: Button, deep: Button

    init(_ model: DoctorModel) {
        self.model = model
        let ui = Builder(PackageResources.doctor_ui)
        root = ui.widget("doctor")
        parts = ui.widget("doctor-parts")
        summary = ui.widget("doctor-summary")
        strip = ui.widget("doctor-strip")
        spinner = ui.widget("doctor-spinner")
        again = ui.widget("doctor-again")
        deep = ui.widget("doctor-deep")
        again.onClick { Task { await model.look() } }
        deep.onClick { Task { await model.look(.deep) } }
        bind(self, { Shown(model) }) { [unowned self] in show($0) }
    }

    /// Looks, unless that was done since the vault was opened.
    func load() {
        guard model.findings.isEmpty else { return }
        Task { [model] in await model.look() }
    }

    private struct Shown: Equatable {
        let findings: [Finding], depth: DoctorModel.Depth, looking: DoctorModel.Depth?
        init(_ model: DoctorModel) { (findings, depth, looking) = (model.findings, model.depth, model.looking) }
    }

    private func show(_ shown: Shown) {
        let isLooking = shown.looking != nil
        spinner.isVisible = isLooking
        spinner.set("spinning", isLooking)
        again.isSensitive = !isLooking
        deep.isSensitive = !isLooking
        summary.text = isLooking ? tr("Looking…") : DoctorText.summary(shown.findings, shown.depth)
        strip.setClass("alarm", shown.findings.contains { $0.state == .broken })
        parts.isVisible = !shown.findings.isEmpty
        parts.replace(with: shown.findings.map(DoctorPage.row))
    }

    private static func row(_ finding: Finding) -> Widget {
        let words = [finding.assurance.map(SettingsText.of), DoctorText.found(finding), DoctorText.fix(finding)]
        let row = Row(
            title: DoctorText.of(finding.part), subtitle: words.compactMap(\.self).joined(separator: "\n"),
            icon: DoctorText.icon(of: finding.part))
        adw_action_row_set_subtitle_lines(row.pointer(), 0)
        let state = Label(DoctorText.of(finding.state))
        state.setClass(DoctorText.style(of: finding.state), true)
        row.addSuffix(state)
        return row
    }
}
