import CAdw
import GtkKit
import Holdfast
import HoldfastUI

/// Weak, reused, old and breached passwords: a verdict, and the items whose password should be changed.
final class HealthPage {
    /// What the page needs of its window.
    struct Parts {
        /// Asks for a file.
        let choose: (_ title: String, _ chosen: @escaping (String) -> Void) -> Void
        /// Shows an item.
        let onOpen: (VaultItem.ID) -> Void
    }

    let root: Widget
    private let model: HealthModel
    private let parts: Parts
    private let verdict: Label, strip: Widget, bar: ProgressBar, stop: Button, again: Button
    private let list: Row, forget: Button, choose: Button
    private let lists: [HealthModel.Kind: (group: Widget, list: ListBox)]
    /// How many rows of a group are shown.
    private var most: [HealthModel.Kind: Int] = [:]

    /// Rows of a group that are shown first, and how many more each time; a vault may have many thousands.
    private static let first = 10, page = 100

    init(_ model: HealthModel, _ parts: Parts) {
        self.model = model
        self.parts = parts
        let ui = Builder(PackageResources.health_ui)
        root = ui.widget("health")
        verdict = ui.widget("health-verdict")
        strip = ui.widget("health-strip")
        bar = ui.widget("health-bar")
        stop = ui.widget("health-stop")
        again = ui.widget("health-again")
        list = ui.widget("health-list")
        forget = ui.widget("health-forget")
        choose = ui.widget("health-choose")
        let names: [HealthModel.Kind: String] = [.breached: "breached", .weak: "weak", .reused: "reused", .old: "old"]
        lists = names.mapValues { (ui.widget("health-\($0)-group"), ui.widget("health-\($0)")) }
        again.onClick { Task { await model.look() } }
        stop.onClick { model.stop() }
        choose.onClick {
            parts.choose(tr("List of Breached Passwords")) { path in Task { await model.compare(with: path) } }
        }
        forget.onClick { Task { await model.compare(with: nil) } }
        bind(self, { model.groups }) { [unowned self] groups in
            most = [:]
            show(groups)
        }
        bind(self, { Shown(model) }) { [unowned self] in show($0) }
    }

    /// Looks at the passwords as they are now.
    func load() { Task { [model] in await model.look() } }

    /// Takes what was found off the screen: the lock falls.
    func drop() {
        show([HealthModel.Group]())
        verdict.text = ""
    }

    private struct Shown: Equatable {
        let report: HealthReport?, progress: HealthProgress?, failure: HealthModel.Failure?, list: String?
        let count: Int
        init(_ model: HealthModel) {
            (report, progress, failure) = (model.report, model.progress, model.failure)
            (list, count) = (model.list, model.count)
        }
    }

    private func show(_ shown: Shown) {
        let isLooking = shown.progress != nil
        stop.isVisible = isLooking
        bar.isVisible = isLooking
        again.isSensitive = !isLooking
        choose.isSensitive = !isLooking
        strip.setClass("alarm", !isLooking && (shown.count > 0 || shown.failure != nil))
        if let progress = shown.progress {
            verdict.text = HealthText.progress(progress)
            show(progress)
        } else if let failure = shown.failure {
            verdict.text = HealthText.of(failure)
        } else {
            verdict.text = shown.report.map { HealthText.verdict($0, count: shown.count) } ?? ""
        }
        list.title = shown.list?.split(separator: "/").last.map(String.init) ?? tr("No list is chosen")
        list.subtitle =
            shown.list == nil
            ? tr("A file of SHA-1 digests in order, or any file of a folder of ranges.") : shown.list ?? ""
        forget.isVisible = shown.list != nil && !isLooking
    }

    private func show(_ progress: HealthProgress) {
        switch progress {
        case .reading(let done, let total), .lookingUp(let done, let total):
            bar.fraction = total > 0 ? Double(done) / Double(total) : 0
        }
    }

    private func show(_ groups: [HealthModel.Group]) {
        for (kind, (widget, list)) in lists {
            let rows = groups.first { $0.kind == kind }?.rows ?? []
            widget.isVisible = !rows.isEmpty
            let shown = most[kind] ?? HealthPage.first
            list.replace(with: rows.prefix(shown).map(row))
            guard rows.count > shown else { continue }
            let more = Row(title: trn("and %d more", "and %d more", rows.count - shown))
            more.onActivate { [unowned self] in
                most[kind] = shown + HealthPage.page
                show(model.groups)
            }
            list.append(more)
        }
    }

    private func row(_ found: HealthModel.Row) -> Widget {
        let entry = EntryPath(collection: found.id.collection, name: found.id.name)
        let row = Row(title: entry.text, subtitle: HealthText.of(found))
        adw_action_row_set_subtitle_lines(row.pointer(), 0)
        row.addSuffix(Widget(gtk_image_new_from_icon_name("go-next-symbolic")!))
        row.onActivate { [parts] in parts.onOpen(found.id) }
        return row
    }
}
