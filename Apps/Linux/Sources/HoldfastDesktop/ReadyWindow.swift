import CAdw
import DeviceOwner
import GtkKit
import Holdfast
import HoldfastUI

/// The vault behind its lock: cover, pages, sheets, and what the desktop says.
final class ReadyWindow {
    /// What can be in front.
    enum Page: String, CaseIterable {
        case vault, identity, settings, log, doctor, health

        var isTab: Bool { self == .vault || self == .identity }
    }

    let window: Window
    let models: ReadyModels
    let toasts: ToastOverlay
    let sheets: Sheets
    let clipboard = Clipboard()
    let content: Widget
    private let pages: ViewStack
    private let header: HeaderParts
    private let appModel: AppModel
    private var cover: LockCover?
    private var vault: VaultPage! = nil
    // Made when they are first shown, and the settings after the first frame, which waits for none of them.
    private var identity: IdentityPage?
    private var log: LogPage?
    private var doctor: DoctorPage?
    private var health: HealthPage?
    private var settings: SettingsPage?
    /// Where the tab of the identity is, whether or not there is something in it yet.
    private let identityPlace = Widget(gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)!)
    /// Those pages that are no tabs.
    private let places: Widget
    private var subpages: [Page: Widget] = [:]
    private var page = Page.vault
    private var layout: WindowLayout?
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
        places = ui.widget("places")
        header = HeaderParts(ui)
        sheets = Sheets(ui, window)
        vault = VaultPage(self, showing: ui.widget("show-collections"))
        pages.add(vault.root, named: Page.vault.rawValue, title: tr("Vault"), icon: "dialog-password-symbolic")
        pages.add(identityPlace, named: Page.identity.rawValue, title: tr("Identity"), icon: "avatar-default-symbolic")
        addActions(app)
        ui.widget("menu-button", as: Widget.self).addLockKeys()
        connect(ui)
        watch = Watch(window, models) { [unowned self] in dialog != nil || sheets.hasDialog }
        cover = LockCover(ui.widget("ready"), self)
        bind(self, { models.lock.state }) { [unowned self] state in changed(to: state) }
        bind(self, { models.identity.facts.state != .ready }) { [unowned self] _ in showPage() }
    }

    /// After the first frame: the settings also say what goes wrong while another page is in front.
    func prepare() { make(.settings) }

    /// Makes a page, unless it has been shown before.
    private func make(_ page: Page) {
        switch page {
        case .vault: break
        case .identity:
            guard identity == nil else { return }
            let made = IdentityPage(self)
            identity = made
            gtk_widget_set_hexpand(made.root.widget, 1)
            gtk_box_append(identityPlace.pointer(), made.root.widget)
        case .settings:
            let made = settings ?? SettingsPage(self)
            settings = made
            add(made.root, page)
        case .log:
            let made = log ?? LogPage(models.log)
            log = made
            add(made.root, page)
        case .doctor:
            let made = doctor ?? DoctorPage(self)
            doctor = made
            add(made.root, page)
        case .health:
            let made =
                health
                ?? HealthPage(
                    models.health,
                    HealthPage.Parts(
                        choose: { [unowned self] title, chosen in chooseFile(title, chosen) },
                        onOpen: { [unowned self] in showItem($0) }))
            health = made
            add(made.root, page)
        }
    }

    private func add(_ root: Widget, _ page: Page) {
        guard subpages.updateValue(root, forKey: page) == nil else { return }
        gtk_widget_set_hexpand(root.widget, 1)
        root.isVisible = false
        gtk_box_append(places.pointer(), root.widget)
    }

    private func connect(_ ui: Builder) {
        sheets.onChange = { [unowned self] in
            if sheets.isUp { toasts.dismiss() }
            updateBack()
        }
        vault.onChange = { [unowned self] in updateBack() }
        header.back.onClick { [unowned self] in goBack() }
        pages.on("notify::visible-child-name") { [unowned self] in
            // A tab was chosen.
            if page.isTab, let tab = Page(rawValue: pages.page) { go(tab) }
        }
        // What there is room for is known while it is being laid out, and can be changed only afterwards.
        ui.widget("room", as: Room.self).onResize { [weak self] width in
            Task { self?.layOut(WindowLayout(width: width, textScale: cadw_text_scale())) }
        }
        showPage()
    }

    private func layOut(_ layout: WindowLayout) {
        guard layout != self.layout else { return }
        self.layout = layout
        vault.layout = layout
        showPage()
    }

    /// Puts a page in front.
    func go(_ page: Page) {
        guard page != self.page else { return }
        self.page = page
        make(page)
        if page.isTab { pages.page = page.rawValue }
        showPage()
        loadPage()
    }

    /// Opens the page of an item.
    func showItem(_ id: VaultItem.ID) {
        go(.vault)
        vault.open(id)
    }

    private func showPage() {
        for (other, widget) in subpages { widget.isVisible = other == page }
        pages.isVisible = page.isTab
        vault.isShown = page == .vault
        header.show(page, hasTabs: models.identity.facts.state != .ready, isWide: layout?.hasWideHeader ?? true)
        updateBack()
    }

    /// Asks for a file; locking puts the question away.
    func chooseFile(_ title: String, saveAs name: String? = nil, _ chosen: @escaping (String) -> Void) {
        dialog = window.chooseFile(title, saveAs: name) { [unowned self] path in
            dialog = nil
            if let path, !models.lock.isLocked { chosen(path) }
        }
    }

    /// As ``chooseFile(_:saveAs:_:)``, for a folder.
    func chooseFolder(_ title: String, _ chosen: @escaping (String) -> Void) {
        dialog = window.chooseFolder(title) { [unowned self] path in
            dialog = nil
            if let path, !models.lock.isLocked { chosen(path) }
        }
    }

    /// Has the system open an address of the web.
    func open(_ address: String) { window.open(address) }

    /// - Parameter undo: What takes back what the text says.
    func toast(_ text: String, _ undo: (@MainActor () async -> Void)? = nil) {
        guard let undo else { return toasts.show(text) }
        toasts.show(text, seconds: 6, button: tr("Undo")) { [models] in
            Task { if !models.lock.isLocked { await undo() } }
        }
    }

    /// Does something that ends what is being changed, if the user agrees to lose what was typed.
    func leaving(_ go: @escaping () -> Void) { if models.lock.isLocked { go() } else { vault.leaving(go) } }

    /// Throws items away, with a way back.
    func trash(_ ids: [VaultItem.ID], _ done: @escaping () -> Void) { vault.list.trash(ids, done) }

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
            toasts.dismiss()
            if models.lock.reason.endsCopies { clipboard.clearSecret() }
            vault.drop()
            settings?.drop()
            health?.drop()
            identity?.drop()
        case .destroyed: appModel.noteDestroyed()
        }
        updateBack()
    }

    /// Reads what only this page shows.
    private func loadPage() {
        guard !models.lock.isLocked else { return }
        switch page {
        case .log: Task { [models] in await models.log.load() }
        case .doctor: doctor?.load()
        case .settings: settings?.look()
        case .health: health?.load()
        case .vault, .identity: break
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
        let copies: [(String, [String], DetailPage.Copied)] = [
            ("copy-password", ["<Control><Shift>c"], .password), ("copy-username", ["<Control>u"], .username),
            ("copy-code", ["<Control>t"], .code),
        ]
        actions = copies.map { name, keys, what in
            app.action(name, keys: keys) { [unowned self] in vault.copy(what) }
        }
        actions += [
            lock, app.action("backup", keys: []) { [unowned self] in backUp() },
            app.action("export", keys: []) { [unowned self] in export() },
        ]
        // What is begun with the vault in front.
        let begun: [(String, [String], () -> Void)] = [
            ("new", ["<Control>n"], { [unowned self] in vault.addItem() }),
            ("add-file", ["<Control>o"], { [unowned self] in vault.addFile() }),
            ("find", ["<Control>f"], { [unowned self] in vault.find() }),
            ("import", ["<Control>i"], { [unowned self] in vault.importFile() }),
            ("import-image", [], { [unowned self] in vault.importImage() }),
        ]
        for (name, keys, begin) in begun {
            actions.append(
                app.action(name, keys: keys) { [unowned self] in
                    go(.vault)
                    begin()
                })
        }
        for (page, key) in [(Page.vault, "<Alt>1"), (.identity, "<Alt>2"), (.settings, "<Control>comma")] {
            actions.append(app.action(page.rawValue, keys: [key]) { [unowned self] in if !sheets.isUp { go(page) } })
        }
        let order = app.choice("order", models.preferences.values.order.rawValue) { [models] name in
            guard let order = VaultOrder(rawValue: name), !models.lock.isLocked else { return }
            Task { await models.preferences.change { $0.order = order } }
        }
        bind(self, { [models] in models.preferences.values.order }) { order.choose($0.rawValue) }
        actions.append(order)
        back = app.action("back", keys: ["Escape"]) { [unowned self] in goBack() }
        updateBack()
    }

    private func goBack() {
        if sheets.isUp { return sheets.escape() }
        switch page {
        case .vault: vault.goBack()
        case .settings, .health: go(.vault)
        case .log, .doctor, .identity: go(.settings)
        }
    }

    /// Escape is ours only while there is something to go back from.
    private func updateBack() {
        let goesBack = page == .vault ? vault.canGoBack : header.back.isVisible
        back?.isEnabled = !models.lock.isLocked && (sheets.isUp || goesBack)
    }
}

/// What the header says: the tabs where there are some, or the page's title and the way back from it.
private final class HeaderParts {
    let back: Button
    private let tabs: Widget, tabsBelow: Widget, title: Widget

    init(_ ui: Builder) {
        back = ui.widget("page-back")
        tabs = ui.widget("tabs")
        tabsBelow = ui.widget("tabs-below")
        title = ui.widget("page-title")
    }

    /// - Parameter hasTabs: Whether there is more than the vault; else the identity is reached from the settings.
    func show(_ page: ReadyWindow.Page, hasTabs: Bool, isWide: Bool) {
        let isTab = page == .vault || page == .identity && hasTabs
        back.isVisible = !isTab
        tabs.isVisible = isTab && hasTabs && isWide
        title.isVisible = !tabs.isVisible
        adw_view_switcher_bar_set_reveal(tabsBelow.opaque, isTab && hasTabs && !isWide ? 1 : 0)
        adw_window_title_set_title(title.opaque, HeaderParts.title(page))
    }

    private static func title(_ page: ReadyWindow.Page) -> String {
        switch page {
        case .vault: "Holdfast"
        case .identity: tr("Identity")
        case .settings: tr("Settings")
        case .log: tr("Log")
        case .doctor: tr("Doctor")
        case .health: tr("Password Health")
        }
    }
}
