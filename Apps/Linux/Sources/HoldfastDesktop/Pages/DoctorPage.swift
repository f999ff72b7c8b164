import CAdw
import GtkKit
import HoldfastUI

/// How well the vault is protected, in one sentence, what would make it better, and below that each part of this
/// machine.
final class DoctorPage {
    let root: Widget
    private let model: DoctorModel
    private let steps: ProtectionSteps
    private let shield: Widget, verdict: Label, advice: Widget, advised: ListBox
    private let parts: ListBox, details: Group, spinner: Widget
    private let again: Button, deep: Button

    init(_ window: ReadyWindow) {
        let model = window.models.doctor
        self.model = model
        steps = ProtectionSteps(window)
        let ui = Builder(PackageResources.doctor_ui)
        root = ui.widget("doctor")
        shield = ui.widget("doctor-shield")
        verdict = ui.widget("doctor-verdict")
        advice = ui.widget("doctor-advice")
        advised = ui.widget("doctor-steps")
        parts = ui.widget("doctor-parts")
        details = ui.widget("doctor-details")
        spinner = ui.widget("doctor-spinner")
        again = ui.widget("doctor-again")
        deep = ui.widget("doctor-deep")
        again.onClick { Task { await model.look() } }
        deep.onClick { Task { await model.look(.deep) } }
        bind(self, { Shown(model) }) { [unowned self] in show($0) }
        let known = window.models.advice
        bind(self, { DoctorPage.verdict(model.findings, known.facts) }) { [unowned self] in show($0) }
        // What protects the vault has changed: what was found of it is over.
        bind(self, { known.facts }) { if $0 != nil, !model.findings.isEmpty { Task { await model.look(model.depth) } } }
    }

    /// Looks, unless that was done since the vault was opened.
    func load() {
        guard model.findings.isEmpty else { return }
        Task { [model] in await model.look() }
    }

    private static func verdict(_ findings: [Finding], _ facts: ProtectionFacts?) -> DoctorVerdict? {
        guard let facts, !findings.isEmpty else { return nil }
        return DoctorVerdict(facts, findings)
    }

    private func show(_ shown: DoctorVerdict?) {
        verdict.text = shown.map(DoctorText.of) ?? tr("Looking…")
        let grade = shown?.grade
        gtk_image_set_from_icon_name(shield.opaque, DoctorText.icon(of: grade))
        shield.setClass("success", grade == .good)
        shield.setClass("warning", grade == .fair)
        shield.setClass("error", grade == .poor)
        shield.setClass("dim-label", grade == nil)
        let wanted = shown?.steps ?? []
        advice.isVisible = !wanted.isEmpty
        advised.replace(with: wanted.enumerated().map { row($1, isFirst: $0 == 0) })
    }

    private func row(_ step: DoctorVerdict.Step, isFirst: Bool) -> Widget {
        let row = Row(title: DoctorText.reason(for: step))
        adw_action_row_set_title_lines(row.pointer(), 0)
        let button = Button(label: "")
        button.setLabel(DoctorText.button(of: step), spoken: DoctorText.spoken(of: step))
        button.setClass("suggested-action", isFirst)
        // Where nothing makes backups, the button says so.
        if step == .backup {
            gtk_actionable_set_action_name(button.opaque, "app.backup")
        } else {
            button.onClick { [steps] in steps.take(step) }
        }
        row.addSuffix(button)
        return row
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
        let summary = isLooking ? tr("Looking…") : DoctorText.summary(shown.findings, shown.depth)
        adw_preferences_group_set_description(details.pointer(), summary)
        parts.isVisible = !shown.findings.isEmpty
        parts.replace(with: shown.findings.map(DoctorPage.row))
    }

    private static func row(_ finding: Finding) -> Widget {
        let words = [DoctorText.found(finding), DoctorText.fix(finding)]
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
