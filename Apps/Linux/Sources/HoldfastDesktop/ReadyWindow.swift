import CAdw
import DeviceOwner
import GtkKit
import Holdfast
import HoldfastUI

/// The vault behind its lock: cover, pages, sheets, and what the desktop says.
final class ReadyWindow {
    let window: Window
    let models: ReadyModels
    let toasts: ToastOverlay
    let sheets: Sheets
    let clipboard = Clipboard()
    let content: Widget
    private let pages: ViewStack
    private let appModel: AppModel
    private var cover: LockCover?
    private var vault: VaultPage?
    private var identity: IdentityPage?
    private var log: LogPage?
    private var doctor: DoctorPage?
    private var settings: SettingsPage?
    private var watch: Watch?
    private var actions: [Action] = []
    private var back: Action?
    /// A dialog of the system that chooses a file; it is a window that the cover does not reach.
    private var dialog: FileDialog?

    init(_ ui: Builder, _ window: Window, _ app: Application, _ models: ReadyModels, _ appModel: AppModel) {
        self.window = window
        self.models = models
        self.appModel = appModel
        toasts = ui.widget("content")
        content = toasts
        pages = ui.widget("pages")
        sheets = Sheets(ui, window)
        let vault = VaultPage(self, showing: ui.widget("show-collections"))
        let identity = IdentityPage(self)
        let log = LogPage(models.log)
        let doctor = DoctorPage(models.doctor)
        let settings = SettingsPage(self)
        pages.add(vault.root, named: "vault", title: tr("Vault"), icon: "dialog-password-symbolic")
        pages.add(identity.root, named: "identity", title: tr("Identity"), icon: "avatar-default-symbolic")
        pages.add(log.root, named: "log", title: tr("Log"), icon: "view-list-symbolic")
        pages.add(doctor.root, named: "doctor", title: tr("Doctor"), icon: "security-high-symbolic")
        pages.add(settings.root, named: "settings", title: tr("Settings"), icon: "emblem-system-symbolic")
        (self.vault, self.identity, self.log) = (vault, identity, log)
        (self.doctor, self.settings) = (doctor, settings)
        addActions(app)
        sheets.onChange = { [unowned self] in
            if sheets.isUp { toasts.dismiss() }
            updateBack()
        }
        vault.onChange = { [unowned self] in updateBack() }
        pages.on("notify::visible-child-name") { [unowned self] in pageChanged() }
        pageChanged()
        watch = Watch(window, models) { [unowned self] in dialog != nil || sheets.hasDialog }
        cover = LockCover(ui.widget("ready"), self)
        bind(self, { models.lock.state }) { [unowned self] state in changed(to: state) }
    }

    /// Asks for a file; locking puts the question away.
    func chooseFile(_ title: String, saveAs name: String? = nil, _ chosen: @escaping (String) -> Void) {
        dialog = window.chooseFile(title, saveAs: name) { [unowned self] path in
            dialog = nil
            if let path, !models.lock.isLocked { chosen(path) }
        }
    }

    /// Has the system open an address of the web.
    func open(_ address: String) { window.open(address) }

    func toast(_ text: String) { toasts.show(text) }

    /// Something happened to the session or the machine.
    func happened(_ event: SessionEvent, _ letSleep: @escaping () -> Void) {
        guard let watch else { return letSleep() }
        watch.happened(event, letSleep)
    }

    private func changed(to state: LockModel.State) {
        for action in actions { action.isEnabled = state == .unlocked }
        switch state {
        case .unlocked:
            Task { [models] in
                await models.load()
                loadPage()
            }
        case .locked, .delayed, .checking:
            dialog?.close()
            sheets.dismiss()
            if models.lock.reason.endsCopies { clipboard.clearSecret() }
            vault?.drop()
            settings?.drop()
            identity?.drop()
        case .destroyed: appModel.noteDestroyed()
        }
        updateBack()
    }

    private func pageChanged() {
        vault?.isShown = pages.page == "vault"
        updateBack()
        loadPage()
    }

    /// Reads what only this page shows.
    private func loadPage() {
        guard !models.lock.isLocked else { return }
        switch pages.page {
        case "log": Task { [models] in await models.log.load() }
        case "doctor": doctor?.load()
        case "settings": settings?.look()
        default: break
        }
    }

    private func addActions(_ app: Application) {
        let lock = app.action("lock", keys: ["<Control>l"]) { [models] in
            Trace.mark()
            models.lock.lock()
        }
        _ = app.action("panic", keys: ["<Control><Shift>l"]) { [models] in
            Trace.mark()
            models.lock.panic()
        }
        let new = app.action("new", keys: ["<Control>n"]) { [unowned self] in vault?.addItem() }
        let file = app.action("add-file", keys: ["<Control>o"]) { [unowned self] in vault?.addFile() }
        let find = app.action("find", keys: ["<Control>f"]) { [unowned self] in
            pages.page = "vault"
            vault?.find()
        }
        let importing = app.action("import", keys: ["<Control>i"]) { [unowned self] in
            pages.page = "vault"
            vault?.importFile()
        }
        let image = app.action("import-image", keys: []) { [unowned self] in
            pages.page = "vault"
            vault?.importImage()
        }
        let copies: [(String, String, DetailPage.Copied)] = [
            ("copy-password", "c", .password), ("copy-username", "b", .username), ("copy-code", "t", .code),
        ]
        let copying = copies.map { name, key, what in
            app.action(name, keys: ["<Control><Shift>\(key)"]) { [unowned self] in vault?.copy(what) }
        }
        actions = copying + [lock, new, file, find, importing, image]
        for (index, name) in ["vault", "identity", "log", "doctor", "settings"].enumerated() {
            actions.append(
                app.action("page-\(name)", keys: ["<Alt>\(index + 1)"]) { [unowned self] in pages.page = name })
        }
        back = app.action("back", keys: ["Escape"]) { [unowned self] in goBack() }
        updateBack()
    }

    private func goBack() { if sheets.isUp { sheets.cancel() } else { vault?.goBack() } }

    /// Escape is ours only while there is something to go back from.
    private func updateBack() {
        back?.isEnabled =
            !models.lock.isLocked && (sheets.isUp || (pages.page == "vault" && vault?.isDetailOpen == true))
    }
}
