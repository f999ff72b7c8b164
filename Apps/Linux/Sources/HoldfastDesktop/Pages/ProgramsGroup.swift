import CAdw
import GtkKit
import HoldfastUI

/// What other programs may use without asking again, and how to end that.
final class ProgramsGroup {
    private let model: LeasesModel
    private let group: Widget, list: ListBox

    /// - Parameter page: Where it is shown, behind what is there.
    init(_ page: Widget, _ parts: ReadyWindow) {
        model = LeasesModel(parts.models.lock)
        let ui = Builder(PackageResources.programs_ui)
        group = ui.widget("programs")
        list = ui.widget("programs-list")
        let end: Button = ui.widget("programs-end")
        end.onClick { [model] in Task { await model.revoke(nil) } }
        adw_preferences_page_add(page.pointer(), group.pointer())
        let model = model
        bind(self, { model.leases }) { [unowned self] in show($0) }
        bind(self, { model.problem }) { [unowned parts] in if let problem = $0 { parts.toast(ProblemText.of(problem)) }
        }
    }

    /// The page is looked at.
    func load() { Task { [model] in await model.load() } }

    /// The lock fell.
    func drop() { model.drop() }

    private func show(_ leases: [LeasesModel.Lease]) {
        group.isVisible = !leases.isEmpty
        list.replace(
            with: leases.map { lease in
                let row = Row(
                    title: lease.program, subtitle: "\(ProgramsGroup.name(lease.target)) · \(ProgramsGroup.time(lease))"
                )
                let end = Button(icon: "edit-delete-symbolic", label: tr("Have %s ask again", lease.program))
                end.onClick { [model] in Task { await model.revoke(lease.id) } }
                row.addSuffix(end)
                return row
            })
    }

    private static func name(_ target: LeasesModel.Lease.Target) -> String {
        switch target {
        case .item(let name, "default"): name
        case .item(let name, let collection): "\(collection)/\(name)"
        case .tag(let tag): "#\(tag)"
        }
    }

    private static func time(_ lease: LeasesModel.Lease) -> String {
        guard let seconds = lease.seconds else { return tr("until the vault locks") }
        return trn("%d minute left", "%d minutes left", Int(clamping: (seconds + 59) / 60))
    }
}
