import CAdw
import GtkKit
import Holdfast
import HoldfastUI

/// The security log, newest first, with the verdict on top.
final class LogPage {
    let root: Widget
    private let model: SecurityLogModel
    private let verdict: Label, strip: Widget, lines: ListBox, findings: ListBox, more: Button
    private var shown = LogPage.page

    private static let page = 100
    private static let categories: [LogLine.Category?] = [nil] + LogLine.Category.allCases

    init(_ model: SecurityLogModel) {
        self.model = model
        let ui = Builder(PackageResources.log_ui)
        root = ui.widget("log")
        verdict = ui.widget("log-verdict")
        strip = ui.widget("log-verdict-strip")
        lines = ui.widget("log-lines")
        findings = ui.widget("log-findings")
        more = ui.widget("log-more")
        let filter: DropDown = ui.widget("log-filter")
        filter.setChoices(LogPage.categories.map(LogText.of))
        filter.onChange { model.category = LogPage.categories[safe: $0] ?? nil }
        more.onClick { [unowned self] in
            shown += LogPage.page
            show(model.lines)
        }
        bind(self, { model.lines }) { [unowned self] in
            shown = LogPage.page
            show($0)
        }
        bind(self, { model.findings }) { [unowned self] list in
            findings.isVisible = !list.isEmpty
            findings.replace(with: list.map { Row(title: $0.text, icon: "dialog-warning-symbolic") })
        }
        bind(self, { Verdict(model) }) { [unowned self] in show($0) }
    }

    private struct Verdict: Equatable {
        let verdict: SecurityLogModel.Verdict, problem: VaultProblem?
        init(_ model: SecurityLogModel) { (verdict, problem) = (model.verdict, model.problem) }
    }

    private func show(_ list: [LogLine]) {
        lines.replace(
            with: list.prefix(shown).map { line in
                Row(
                    title: LogText.of(line), subtitle: Format.time(milliseconds: line.moment.time),
                    icon: LogText.icon(of: line.category))
            })
        lines.isVisible = !list.isEmpty
        more.isVisible = list.count > shown
    }

    private func show(_ shown: Verdict) {
        var isAlarm = false
        if let problem = shown.problem {
            verdict.text = ProblemText.of(problem)
            isAlarm = true
        } else {
            switch shown.verdict {
            case .unknown: verdict.text = ""
            case .intact(let entries):
                verdict.text = trn("%d entry, complete and unchanged", "%d entries, complete and unchanged", entries)
            case .altered(let position):
                verdict.text = tr("The log was changed, from entry %s on.", String(position))
                isAlarm = true
            }
        }
        strip.setClass("alarm", isAlarm)
    }
}
