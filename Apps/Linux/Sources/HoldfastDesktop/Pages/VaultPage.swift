import CAdw
import GtkKit
import Holdfast
import HoldfastUI

/// The vault's parts, what is in one of them, and one item: side by side as far as there is room.
final class VaultPage {
    let root: Widget
    /// Called when the page of an item comes or goes.
    var onChange: () -> Void = {}
    unowned let parts: ReadyWindow
    let model: VaultModel
    private(set) var detail: DetailPage?
    private(set) var list: ItemList! = nil
    private var sidebar: VaultSidebar! = nil
    private var notices: VaultNotices! = nil
    private let flap: Flap, toggle: ToggleButton
    private let search: Editable, order: Widget
    private let listPane: Widget, itemPane: Bin, noItem: Widget, separator: Widget
    private let other: Widget, empty: StatusPage, emptyActions: Widget
    private let trash: ListBox, more: Button, emptyTrash: Button
    private let inbox: ListBox, inboxGroup: Widget, waiting: Widget, waitingText: Label
    private let transfer: Widget, transferText: Label, transferBar: ProgressBar
    private var shown = VaultPage.page
    /// Whether the trash is shown in place of items.
    private var showsTrash = false
    /// Whether what waits for its owner is shown in place of items.
    private var showsInbox = false
    /// What is to be done with the first that the search finds.
    private var wanted: DetailPage.Copied?
    /// What the list was of when it was shown last.
    private var lastList: (VaultSection, String, VaultOrder)?

    /// Rows of the trash that are made at a time.
    private static let page = 200

    init(_ parts: ReadyWindow, showing toggle: ToggleButton) {
        self.parts = parts
        self.toggle = toggle
        let model = parts.models.vault
        self.model = model
        let ui = Builder(PackageResources.vault_ui)
        flap = ui.widget("vault")
        root = flap
        search = ui.widget("search")
        order = ui.widget("order")
        order.addLockKeys()
        listPane = ui.widget("list-pane")
        itemPane = ui.widget("item-pane")
        noItem = ui.widget("no-item")
        separator = ui.widget("panes-separator")
        other = ui.widget("other-place")
        trash = ui.widget("trash")
        more = ui.widget("more-trash")
        emptyTrash = ui.widget("empty-trash")
        empty = ui.widget("vault-empty")
        emptyActions = ui.widget("vault-empty-actions")
        inbox = ui.widget("inbox")
        inboxGroup = ui.widget("inbox-group")
        waiting = ui.widget("waiting")
        waitingText = ui.widget("waiting-text")
        transfer = ui.widget("transfer")
        transferText = ui.widget("transfer-text")
        transferBar = ui.widget("transfer-bar")
        list = ItemList(ui, parts) { [unowned self] in open($0) }
        list.onSelecting = { [unowned self] in onChange() }
        list.leaving = { [unowned self] ids, go in
            if let open = list.open, ids.contains(open) { leaving(go) } else { go() }
        }
        list.onGone = { [unowned self] ids in if let open = list.open, ids.contains(open) { closeDetail() } }
        sidebar = VaultSidebar(ui.widget("collections")) { [unowned self] in go(to: $0) }
        notices = VaultNotices(ui, parts)
        connect(ui)
        watch()
    }

    private func connect(_ ui: Builder) {
        toggle.isOn = flap.isRevealed
        toggle.onChange { [flap] in flap.isRevealed = $0 }
        let beside: Widget = ui.widget("parts-place")
        flap.on("notify::reveal-flap") { [flap, toggle] in
            toggle.isOn = flap.isRevealed
            beside.isVisible = flap.isSeen
        }
        // What is out of the window is still there for a screen reader.
        flap.on("notify::reveal-progress") { [flap] in beside.isVisible = flap.isSeen }
        search.on("search-changed") { [unowned self] in if model.search != search.text { look() } }
        search.onDown { [unowned self] in list.focus() }
        search.on("stop-search") { [unowned self] in search.text = "" }
        search.on("activate") { [unowned self] in
            if model.search != search.text { look() }
            if !search.text.isEmpty { openFirst(.password) }
        }
        // Whoever begins to type beside the list searches. Not beside an item, where letters may be meant for a value.
        gtk_search_entry_set_key_capture_widget(search.opaque, listPane.widget)
        more.onClick { [unowned self] in
            shown += VaultPage.page
            showTrash()
        }
        emptyTrash.onClick { [unowned self] in
            parts.sheets.askConfirmation(
                tr("Empty the Trash?"), tr("This cannot be undone."), confirm: tr("Empty")
            ) { [unowned self] in
                Task { report(await model.emptyTrash(), tr("Removed for good")) }
            }
        }
        root.onDrop { [unowned self] in takeDropped($0) }
        ui.widget("vault-empty-add", as: Button.self).onClick { [unowned self] in
            if let login = ItemTemplate.all.first(where: { $0.kind == .login }) { addItem(login) }
        }
        ui.widget("vault-empty-import", as: Button.self).onClick { [unowned self] in importFile() }
        ui.widget("vault-empty-restore", as: Button.self).onClick { [unowned parts] in parts.restoreBackup() }
        ui.widget("waiting-review", as: Button.self).onClick { [unowned self] in
            showsInbox = true
            showList()
        }
        ui.widget("transfer-cancel", as: Button.self).onClick { [model] in model.cancelTransfer() }
    }

    private func watch() {
        let model = model
        bind(self, { model.isSearching }) { [unowned self] _ in if let wanted { openFirst(wanted) } }
        bind(self, { model.sections }) { [unowned self] in sidebar.show($0, place) }
        bind(self, { model.section }) { [unowned self] _ in sidebar.select(place) }
        bind(self, { model.items }) { [unowned self] in showItems($0) }
        bind(self, { model.trash }) { [unowned self] _ in showTrash() }
        bind(self, { Emptiness(model) }) { [unowned self] _ in showList() }
        bind(self, { model.inbox }) { [unowned self] in show($0) }
        bind(self, { model.transfer }) { [unowned self] in show($0) }
    }

    /// Whether this page is the one in front.
    var isShown = true { didSet { toggle.isVisible = isShown } }

    /// What there is room for.
    var layout: WindowLayout? {
        didSet {
            guard layout != oldValue, let layout else { return }
            notices.isNarrow = !layout.hasWideHeader || layout.isSplit
            flap.isFolded = !layout.hasSidebar
            flap.isRevealed = layout.hasSidebar
            showPanes()
        }
    }

    func find() {
        guard layout?.isSplit != true else { return search.focus() }
        leaving { [unowned self] in
            closeDetail()
            search.focus()
        }
    }

    /// Whether there is a step to go back.
    var canGoBack: Bool { detail != nil || list.isSelecting || !search.text.isEmpty }

    /// One step back, if the user agrees to lose what was typed.
    func goBack() {
        if list.isSelecting {
            list.isSelecting = false
        } else if let detail {
            detail.goBack { [unowned self] in closeDetail() }
        } else {
            search.text = ""
        }
    }

    /// Does something if the user agrees to lose what was typed.
    func leaving(_ go: @escaping () -> Void) { if let detail { detail.leave(go) } else { go() } }

    func closeDetail() {
        guard let detail else { return }
        detail.close()
        self.detail = nil
        itemPane.child = nil
        list.open = nil
        showPanes()
        onChange()
    }

    /// The lock fell: nothing that was typed or shown stays.
    func drop() {
        closeDetail()
        search.text = ""
        wanted = nil
        showsTrash = false
        showsInbox = false
        lastList = nil
        list.isSelecting = false
    }

    private func look() {
        wanted = nil
        model.search = search.text
        if showsTrash || showsInbox { go(to: .section(model.section)) }
        onChange()
    }

    /// Opens the first that the search finds, once all were looked at, and copies a part of it.
    private func openFirst(_ what: DetailPage.Copied) {
        wanted = model.isSearching ? what : nil
        guard !model.isSearching, !showsTrash, let first = model.items.first else { return }
        open(first) { [unowned self] in detail?.copy(what) }
    }

    /// Copies a part of the item that is open, or else of the first that was found.
    func copy(_ what: DetailPage.Copied) {
        guard !parts.sheets.isUp else { return }
        if let detail { detail.copy(what) } else if !search.text.isEmpty { openFirst(what) }
    }

    /// Opens the page of an item.
    func open(_ id: VaultItem.ID) { if let item = model.items([id]).first { open(item) } }

    private func open(_ item: VaultItem, _ then: @escaping () -> Void = {}) {
        leaving { [unowned self] in
            closeDetail()
            let page = DetailPage(item, parts) { [unowned self] in closeDetail() }
            detail = page
            itemPane.child = page.root
            list.open = item.id
            showPanes()
            page.focus()
            model.noteUse(of: item.id)
            onChange()
            then()
        }
    }

    /// A pane that is hidden is hidden from a screen reader too.
    private func showPanes() {
        let isSplit = layout?.isSplit == true
        listPane.isVisible = isSplit || detail == nil
        gtk_widget_set_hexpand(listPane.widget, isSplit ? 0 : 1)
        gtk_widget_set_size_request(listPane.widget, isSplit ? 340 : -1, -1)
        separator.isVisible = isSplit
        itemPane.isVisible = detail != nil
        noItem.isVisible = isSplit && detail == nil
        detail?.showsBack = !isSplit
    }

    func report(_ problem: VaultProblem?, _ done: String) {
        if problem == .cancelled { return parts.toast(tr("Stopped. Nothing was stored.")) }
        parts.toast(problem.map(ProblemText.of) ?? done)
    }

    // MARK: What is in front.

    private var place: VaultSidebar.Place { showsTrash ? .trash : .section(model.section) }

    private func go(to place: VaultSidebar.Place) {
        if place == .health {
            sidebar.select(self.place)
            return parts.go(.health)
        }
        guard layout?.isSplit != true, let detail else { return show(place) }
        sidebar.select(self.place)
        detail.leave { [unowned self] in
            closeDetail()
            show(place)
        }
    }

    private func show(_ place: VaultSidebar.Place) {
        showsInbox = false
        switch place {
        case .trash:
            showsTrash = true
            shown = VaultPage.page
            Task { [parts, model] in
                if let problem = await model.loadTrash() { parts.toast(ProblemText.of(problem)) }
            }
        case .section(let section):
            showsTrash = false
            model.section = section
        case .heading, .health: return
        }
        sidebar.select(place)
        list.isSelecting = false
        showTrash()
        if flap.isFolded { flap.isRevealed = false }
    }

    private func showItems(_ items: [VaultItem]) {
        let list = (model.section, model.search, model.order)
        let isNew = lastList.map { $0 != list } ?? true
        lastList = list
        self.list.show(items, isNew: isNew)
        showList()
    }

    private struct Emptiness: Equatable {
        let isEmpty: Bool, isSearching: Bool, problem: VaultProblem?

        init(_ model: VaultModel) {
            isEmpty = model.isLoaded && !model.isSearching && model.items.isEmpty
            isSearching = !model.search.isEmpty
            problem = model.problem
        }
    }

    /// Shows the list, or what stands in its place.
    private func showList() {
        let state = Emptiness(model)
        if model.inbox.isEmpty { showsInbox = false }
        let isEmpty = showsTrash ? model.trash.isEmpty : state.isEmpty && !showsInbox
        list.isVisible = !showsTrash && !showsInbox && !isEmpty && state.problem == nil
        other.isVisible = !list.isVisible
        trash.isVisible = showsTrash && !model.trash.isEmpty
        inboxGroup.isVisible = showsInbox
        waiting.isVisible = !showsInbox && !model.inbox.isEmpty
        order.isVisible = list.isVisible
        empty.isVisible = isEmpty || state.problem != nil
        emptyTrash.isVisible = trash.isVisible
        adw_status_page_set_icon_name(empty.opaque, showsTrash ? "user-trash-symbolic" : "folder-symbolic")
        emptyActions.isVisible = state.problem == nil && !showsTrash && !state.isSearching && model.sections.count <= 1
        if let problem = state.problem {
            empty.title = tr("The Items Cannot Be Read")
            empty.detail = ProblemText.of(problem)
        } else if showsTrash {
            empty.title = tr("The Trash Is Empty")
            empty.detail = tr("What you delete stays here for 30 days.")
        } else if state.isSearching {
            empty.title = tr("Nothing Found")
            empty.detail = tr("No name, user, tag or text contains this. Secrets are not searched.")
        } else {
            empty.title = tr("Nothing Here Yet")
            empty.detail = tr(
                "Passwords, notes, cards and the keys of one-time codes are kept here. Only this vault's unlock opens them."
            )
        }
    }

    private func showTrash() {
        trash.replace(with: showsTrash ? model.trash.prefix(shown).map(trashRow) : [])
        more.isVisible = showsTrash && model.trash.count > shown
        showList()
    }

    private func trashRow(_ trashed: ItemStore.Trashed) -> Row {
        let row = Row(
            title: trashed.name,
            subtitle: VaultPage.place(trashed.collection) + Format.time(milliseconds: trashed.moved),
            icon: "user-trash-symbolic")
        let restore = Button(icon: "edit-undo-symbolic", label: tr("Put %s back", trashed.name))
        restore.onClick { [unowned self] in Task { report(await model.restore(trashed), tr("It is back")) } }
        let remove = Button(icon: "edit-delete-symbolic", label: tr("Remove %s for good", trashed.name))
        remove.onClick { [unowned self] in
            parts.sheets.askConfirmation(
                tr("Remove %s for good?", trashed.name), tr("This cannot be undone."), confirm: tr("Remove")
            ) { [unowned self] in
                Task { report(await model.emptyTrash([trashed]), tr("Removed for good")) }
            }
        }
        row.addSuffix(restore)
        row.addSuffix(remove)
        return row
    }

    private static func place(_ collection: String) -> String {
        collection == Vault.defaultCollection ? "" : collection + " · "
    }

    private func show(_ records: [Vault.InboxItem]) {
        waitingText.text = trn(
            "%d record was written while the vault was locked.", "%d records were written while the vault was locked.",
            records.count)
        inbox.replace(
            with: records.map { item in
                let row = Row(
                    title: item.originalName,
                    subtitle: VaultPage.place(item.originalCollection) + Format.size(item.size),
                    icon: "mail-unread-symbolic")
                let accept = Button(icon: "object-select-symbolic", label: tr("Keep %s", item.originalName))
                accept.onClick { [unowned self] in
                    Task { report(await model.accept(item), tr("It is yours now")) }
                }
                let reject = Button(icon: "user-trash-symbolic", label: tr("Discard %s", item.originalName))
                reject.onClick { [unowned self] in
                    Task { report(await model.reject(item), tr("Thrown away")) }
                }
                row.addSuffix(accept)
                row.addSuffix(reject)
                return row
            })
        showList()
    }

    private func show(_ step: Transfer?) {
        transfer.isVisible = step != nil
        guard let step else { return }
        transferText.text =
            step.direction == .adding ? tr("Storing %s", step.name) : tr("Writing %s to the disk", step.name)
        if let fraction = step.fraction { transferBar.fraction = fraction } else { transferBar.pulse() }
    }
}

extension Array {
    subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
