import CAdw
import GtkKit
import Holdfast
import HoldfastUI

/// What is shown where no vault is: that one is being opened, or why there is none, with a button for each thing that
/// can be done about that.
final class StopPage {
    let root: Widget
    private let spinner: Widget, scrolled: Widget, page: StatusPage, problem: Label, restoring: Widget
    private let remedies: [(StopModel.Remedy, Button)], beginnings: [(StopModel.Beginning, Button)]
    private let restore: Button, open: Button, usual: Button, confirm: Button, back: Button
    private let form = RestoreForm()
    private let vaults: OtherVaults
    private var stop: StopModel?
    /// What is told of a stop, or of an end.
    private var shown: (title: String, detail: String) = ("", "")
    /// Whether the same is being tried once more: then it is said that nothing has changed.
    private var isRetrying = false
    private var note = ""
    private var onConfirm: () -> Void = {}
    private var onEnd: () -> Void = {}

    init(_ vaults: OtherVaults) {
        self.vaults = vaults
        let ui = Builder(PackageResources.stop_ui)
        root = ui.widget("stop")
        spinner = ui.widget("stop-spinner")
        scrolled = ui.widget("stop-scrolled")
        page = ui.widget("stop-page")
        problem = ui.widget("stop-problem")
        restoring = ui.widget("stop-restoring")
        remedies = [
            (.tryAgain, ui.widget("stop-try-again")), (.accept, ui.widget("stop-accept")),
            (.requireOwner, ui.widget("stop-require-owner")), (.stopAsking, ui.widget("stop-stop-asking")),
            (.startOver, ui.widget("stop-start-over")),
        ]
        beginnings = [(.passcode, ui.widget("stop-passcode")), (.file, ui.widget("stop-file"))]
        restore = ui.widget("stop-restore")
        open = ui.widget("stop-open")
        usual = ui.widget("stop-default")
        confirm = ui.widget("stop-confirm")
        back = ui.widget("stop-back")
        adw_clamp_set_child(restoring.opaque, form.root.widget)
        connect()
    }

    private func connect() {
        for (remedy, button) in remedies { button.onClick { [unowned self] in choose(remedy) } }
        for (beginning, button) in beginnings { button.onClick { [unowned self] in choose(beginning) } }
        restore.onClick { [vaults] in vaults.restoreBackup() }
        open.onClick { [vaults] in vaults.openAnother() }
        usual.onClick { [vaults] in vaults.openDefault() }
        confirm.onClick { [unowned self] in onConfirm() }
        back.onClick { [unowned self] in showReason() }
        form.cancel.onClick { [unowned self] in endRestoring() }
    }

    /// A vault is being opened, and takes so long that it is seen.
    func showOpening() {
        endRestoring()
        stop = nil
        scrolled.isVisible = false
        spinner.isVisible = true
        spinner.set("spinning", true)
    }

    /// Why there is no vault, and what can be done.
    func show(_ model: StopModel) {
        stop = model
        let isSame = StopText.title(model) == shown.title
        note = isRetrying && isSame ? tr("Nothing has changed.") : ""
        isRetrying = false
        show(StopText.title(model), StopText.detail(model))
        bind(model, { [unowned model] in Facts(model) }) { [weak self] facts in self?.show(facts) }
    }

    /// There is no vault any more, or it cannot be used.
    func showEnd(_ title: String, _ detail: String) {
        stop = nil
        show(title, detail)
    }

    private func show(_ title: String, _ detail: String) {
        shown = (title, detail)
        endRestoring()
        spinner.isVisible = false
        spinner.set("spinning", false)
        scrolled.isVisible = true
        showReason()
    }

    /// Says what did not work.
    func say(_ text: String) {
        problem.text = text
        problem.isVisible = !text.isEmpty
    }

    /// Shows the form that makes a vault of a backup.
    func restore(_ model: RestoreModel, _ ways: RestoreForm.Ways, onEnd: @escaping () -> Void) {
        self.onEnd = onEnd
        page.isVisible = false
        restoring.isVisible = true
        form.prepare(model, ways)
        form.first.focus()
    }

    private func endRestoring() {
        guard restoring.isVisible else { return }
        form.clear()
        restoring.isVisible = false
        page.isVisible = true
        let onEnd = onEnd
        self.onEnd = {}
        onEnd()
    }

    private struct Facts: Equatable {
        let isBusy: Bool, problem: VaultProblem?
        init(_ model: StopModel) { (isBusy, problem) = (model.isBusy, model.problem) }
    }

    private func show(_ facts: Facts) {
        say(facts.problem.map(ProblemText.of) ?? note)
        for button in buttons { button.isSensitive = !facts.isBusy }
    }

    private var buttons: [Button] { remedies.map(\.1) + beginnings.map(\.1) + [restore, open, usual, confirm, back] }

    private func showReason() {
        page.title = shown.title
        page.detail = shown.detail
        confirm.isVisible = false
        back.isVisible = false
        say(note)
        for (remedy, button) in remedies { button.isVisible = stop?.remedies.contains(remedy) ?? false }
        for (beginning, button) in beginnings { button.isVisible = stop?.beginnings.contains(beginning) ?? false }
        restore.isVisible = true
        open.isVisible = true
        usual.isVisible = vaults.hasDefault
        setIcon(stop?.beginnings.isEmpty == false ? "dialog-password-symbolic" : "dialog-warning-symbolic")
        (buttons.first { $0.isVisible && $0.isSensitive })?.focus()
    }

    private func setIcon(_ name: String) { adw_status_page_set_icon_name(page.opaque, name) }

    private func choose(_ remedy: StopModel.Remedy) {
        guard let stop else { return }
        isRetrying = remedy == .tryAgain
        guard remedy == .startOver else { return run { await stop.perform(remedy) } }
        ask(
            tr("Begin a New Vault?"),
            tr("The folder of the old vault is put aside under another name. Nothing is deleted."), tr("Begin Anew")
        ) { [unowned self] in
            run { await stop.perform(.startOver) }
        }
    }

    private func choose(_ beginning: StopModel.Beginning) {
        guard let stop else { return }
        guard beginning == .file else { return run { await stop.begin(beginning) } }
        ask(
            tr("Go On Without Protection?"),
            tr(
                "The key of the vault is then in a file beside it. Anyone who can read the files, such as a thief of this disk or a program of yours, can open the vault. You can set a passcode later, in the settings."
            ), tr("Go On Without Protection")
        ) { [unowned self] in
            run { await stop.begin(.file) }
        }
    }

    /// From the click on there is nothing else to be clicked, until it is done.
    private func run(_ action: @escaping () async -> Void) {
        let before = stop
        note = ""
        for button in buttons { button.isSensitive = false }
        Task {
            await action()
            if let before, stop === before { show(Facts(before)) }
        }
    }

    /// A question in the place of the reason; it is answered in words, or left.
    private func ask(_ title: String, _ detail: String, _ answer: String, _ onConfirm: @escaping () -> Void) {
        self.onConfirm = onConfirm
        setIcon("dialog-warning-symbolic")
        note = ""
        say("")
        page.title = title
        page.detail = detail
        for button in buttons { button.isVisible = false }
        confirm.label = answer
        confirm.isVisible = true
        back.isVisible = true
        back.focus()
    }
}
