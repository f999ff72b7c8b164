import CAdw
import GtkKit
import Holdfast
import HoldfastUI

/// Collections, items and what waits for its owner; adding, and the page of one item.
final class VaultPage {
    let root: Stack
    /// Called when the page of an item comes or goes.
    var onChange: () -> Void = {}
    private unowned let parts: ReadyWindow
    private let model: VaultModel
    private let flap: Flap, collections: ListBox, toggle: ToggleButton
    private let search: Editable
    private let items: ListBox, more: Button, empty: StatusPage, emptyActions: Widget
    private let inbox: ListBox, inboxGroup: Widget
    private let transfer: Widget, transferText: Label, transferBar: ProgressBar
    private var detail: DetailPage?
    private var shown = VaultPage.page
    /// What the rows of the sidebar lead to; a heading leads nowhere.
    private var places: [Place] = []
    /// Whether the trash is shown in place of items.
    private var showsTrash = false
    /// Whether the first that the search finds is to be opened.
    private var opensFirst = false

    private enum Place: Equatable {
        case heading
        case section(VaultSection)
        case trash
    }

    /// Rows that are made at a time: a vault may have many thousands.
    private static let page = 200

    init(_ parts: ReadyWindow, showing toggle: ToggleButton) {
        self.parts = parts
        self.toggle = toggle
        let model = parts.models.vault
        self.model = model
        let ui = Builder(PackageResources.vault_ui)
        root = ui.widget("vault")
        flap = ui.widget("flap")
        collections = ui.widget("collections")
        search = ui.widget("search")
        items = ui.widget("items")
        more = ui.widget("more-items")
        empty = ui.widget("vault-empty")
        emptyActions = ui.widget("vault-empty-actions")
        inbox = ui.widget("inbox")
        inboxGroup = ui.widget("inbox-group")
        transfer = ui.widget("transfer")
        transferText = ui.widget("transfer-text")
        transferBar = ui.widget("transfer-bar")
        toggle.isOn = flap.isRevealed
        toggle.onChange { [flap] in flap.isRevealed = $0 }
        flap.on("notify::reveal-flap") { [flap] in toggle.isOn = flap.isRevealed }
        search.on("search-changed") { [unowned self] in if model.search != search.text { look() } }
        search.on("activate") { [unowned self] in
            if model.search != search.text { look() }
            opensFirst = !search.text.isEmpty
            openFirst()
        }
        bind(self, { model.isSearching }) { [unowned self] _ in openFirst() }
        more.onClick { [unowned self] in
            shown += VaultPage.page
            showItems(model.items)
        }
        collections.onSelect { [unowned self] index in
            switch places[safe: index] {
            case .trash:
                showsTrash = true
                Task { if let problem = await model.loadTrash() { parts.toast(ProblemText.of(problem)) } }
            case .section(let section):
                showsTrash = false
                model.section = section
            case .heading, nil: return
            }
            showItems(model.items)
            show(Emptiness(model, inTrash: showsTrash))
            if flap.isFolded { flap.isRevealed = false }
        }
        root.onDrop { [unowned self] in importFiles($0) }
        ui.widget("vault-empty-add", as: Button.self).onClick { [unowned self] in addItem() }
        ui.widget("vault-empty-import", as: Button.self).onClick { [unowned self] in importFile() }
        ui.widget("transfer-cancel", as: Button.self).onClick { [model] in model.cancelTransfer() }
        bind(self, { model.sections }) { [unowned self] in show($0) }
        bind(self, { model.section }) { [unowned self] _ in selectSection() }
        bind(self, { model.items }) { [unowned self] in
            shown = VaultPage.page
            showItems($0)
        }
        bind(self, { model.trash }) { [unowned self] _ in
            if showsTrash { showItems(model.items) }
            show(Emptiness(model, inTrash: showsTrash))
        }
        bind(self, { Emptiness(model) }) { [unowned self] _ in show(Emptiness(model, inTrash: showsTrash)) }
        bind(self, { model.inbox }) { [unowned self] in show($0) }
        bind(self, { model.transfer }) { [unowned self] in show($0) }
    }

    /// Whether this page is the one in front.
    var isShown = true { didSet { toggle.isVisible = isShown } }

    var isDetailOpen: Bool { detail != nil }

    func find() {
        guard let detail else { return search.focus() }
        detail.leave { [unowned self] in
            closeDetail()
            search.focus()
        }
    }

    func addItem() {
        parts.sheets.kinds.onChoose = { [unowned self] template in
            if let template { addItem(template) } else { addValue() }
        }
        parts.sheets.showKinds()
    }

    private func addValue() {
        let form = parts.sheets.edit
        form.prepare(.new, name: "", collection: model.collection ?? "")
        form.onConfirm = { [unowned self] id in
            guard let value = form.takeValue() else { return form.show(.outOfMemory) }
            let carried = SecretCarrier(value)
            Task { finish(await model.put(carried.take(), at: id), tr("Stored")) }
        }
        parts.sheets.showEdit()
    }

    private func addItem(_ template: ItemTemplate) {
        let form = parts.sheets.item
        var tag = ""
        if case .tag(let name) = model.section { tag = name }
        form.prepare(.new(template), name: "", collection: model.collection ?? "", tags: tag)
        form.onConfirm = { [unowned self] in
            do throws(ItemDraft.Refusal) {
                let (draft, id) = (try form.draft(), form.id)
                Task { [parts, model] in
                    if let problem = await model.add(draft, at: id) { return form.show(ProblemText.of(problem)) }
                    parts.sheets.dismiss()
                    parts.toast(tr("Stored"))
                }
            } catch { form.show(ItemText.of(error)) }
        }
        parts.sheets.showItem()
    }

    func addFile() {
        parts.chooseFile(tr("Add a File")) { [unowned self] path in addFile(path) }
    }

    private func addFile(_ path: String) {
        let form = parts.sheets.edit
        form.prepare(.file, name: VaultPage.name(of: path), collection: model.collection ?? "files")
        form.onConfirm = { [unowned self] id in
            parts.sheets.dismiss()
            Task { report(await model.addFile(at: path, as: id), tr("Stored")) }
        }
        parts.sheets.showEdit()
    }

    func importFile() {
        parts.chooseFile(tr("Import a File")) { [unowned self] path in importFile(path) }
    }

    private func importFile(_ path: String) {
        showImport(model.importer()) { await $0.open(path, into: $1) }
    }

    /// Imports the codes of a screenshot that was copied.
    func importImage() {
        parts.clipboard.readImage(limit: ImportModel.largestImage) { [weak self] image in
            guard let self, !parts.models.lock.isLocked, !parts.sheets.isUp else { return }
            guard let image else { return parts.toast(tr("No image is on the clipboard.")) }
            let carried = SecretCarrier(image)
            showImport(model.importer()) { await $0.open(image: carried.take(), into: $1) }
        }
    }

    private func showImport(_ importer: ImportModel, _ open: @escaping (ImportModel, String) async -> Void) {
        let collection = model.collection ?? Vault.defaultCollection
        parts.sheets.showImport(importer, { await open($0, collection) }) { [unowned parts] chosen in
            parts.chooseFile(tr("Choose a Key File"), chosen)
        }
    }

    /// Imports the codes of a picture, or stores it where it has none.
    private func importOrAdd(_ path: String) {
        let importer = model.importer()
        Task {
            await importer.open(path, into: model.collection ?? Vault.defaultCollection)
            guard !parts.models.lock.isLocked, !parts.sheets.isUp else { return importer.drop() }
            if case .failed = importer.step { return addFile(path) }
            showImport(importer) { _, _ in }
        }
    }

    /// Files of the disk were dropped here: on an item one is attached; beside it one is stored, or imported where its
    /// name says so.
    private func importFiles(_ paths: [String]) -> Bool {
        guard !parts.models.lock.isLocked, !parts.sheets.isUp, let path = paths.first else { return false }
        guard paths.count == 1 else {
            parts.toast(tr("Drop one file at a time."))
            return false
        }
        if let detail { return detail.attach(path) }
        let name = path.lowercased()
        if VaultPage.exports.contains(where: name.hasSuffix) {
            importFile(path)
        } else if VaultPage.pictures.contains(where: name.hasSuffix) {
            importOrAdd(path)
        } else {
            addFile(path)
        }
        return true
    }

    /// How names of other password managers' files end; a table or a JSON file may be anything.
    private static let exports = [".kdbx", ".1pux"]
    /// How names of pictures end that may have QR codes.
    private static let pictures = [".png", ".jpg", ".jpeg"]

    /// One step back, if its user agrees to lose what was typed.
    func goBack() { detail?.goBack { [unowned self] in closeDetail() } }

    func closeDetail() {
        guard let detail else { return }
        detail.close()
        flap.isVisible = true
        root.page = "list"
        gtk_stack_remove(root.opaque, detail.root.widget)
        self.detail = nil
        onChange()
    }

    /// The lock fell: nothing that was typed or shown stays.
    func drop() {
        closeDetail()
        search.text = ""
        showsTrash = false
    }

    private func look() {
        opensFirst = false
        model.search = search.text
    }

    /// Enter was pressed in the search: the first that is found is opened, once all were looked at.
    private func openFirst() {
        guard opensFirst, !model.isSearching else { return }
        opensFirst = false
        if !showsTrash, let first = model.items.first { open(first) }
    }

    /// Copies a part of the item that is open.
    func copy(_ what: DetailPage.Copied) { if !parts.sheets.isUp { detail?.copy(what) } }

    private func open(_ item: VaultItem) {
        closeDetail()
        let page = DetailPage(item, parts) { [unowned self] in closeDetail() }
        root.add(page.root, named: "detail")
        root.page = "detail"
        // A page of a stack that is not in front is still there for a screen reader.
        flap.isVisible = false
        detail = page
        page.focus()
        onChange()
    }

    /// Whether a sheet's work was done: then it goes, else it says why not.
    private func finish(_ problem: VaultProblem?, _ done: String) {
        if let problem { return parts.sheets.edit.show(problem) }
        parts.sheets.dismiss()
        parts.toast(done)
    }

    private func report(_ problem: VaultProblem?, _ done: String) {
        if problem == .cancelled { return parts.toast(tr("Stopped. Nothing was stored.")) }
        parts.toast(problem.map(ProblemText.of) ?? done)
    }

    private struct Emptiness: Equatable {
        let isEmpty: Bool, isSearching: Bool, isTrash: Bool, problem: VaultProblem?

        init(_ model: VaultModel, inTrash: Bool = false) {
            isTrash = inTrash
            isEmpty =
                inTrash
                ? model.trash.isEmpty
                : model.isLoaded && !model.isSearching && model.items.isEmpty && model.inbox.isEmpty
            isSearching = !inTrash && !model.search.isEmpty
            problem = model.problem
        }
    }

    private func show(_ emptiness: Emptiness) {
        empty.isVisible = emptiness.isEmpty || emptiness.problem != nil
        emptyActions.isVisible = emptiness.problem == nil && !emptiness.isTrash && !emptiness.isSearching
        if let problem = emptiness.problem {
            empty.title = tr("The Items Cannot Be Read")
            empty.detail = ProblemText.of(problem)
        } else if emptiness.isTrash {
            empty.title = tr("The Trash Is Empty")
            empty.detail = tr("What you delete stays here for 30 days.")
        } else if emptiness.isSearching {
            empty.title = tr("Nothing Found")
            empty.detail = tr("No name, tag or text contains this. Secrets are not searched.")
        } else {
            empty.title = tr("Nothing Here Yet")
            empty.detail = tr(
                "Passwords, notes, cards and the keys of one-time codes are kept here. Only this vault's unlock opens them."
            )
        }
    }

    private func show(_ list: [VaultSection.Entry]) {
        collections.removeAll()
        places = []
        var heading: String?
        for entry in list {
            let wanted = VaultPage.heading(entry.section)
            if let wanted, wanted != heading { append(.heading, Label.heading(wanted)) }
            heading = wanted
            let (name, icon) = ItemText.of(entry.section)
            append(.section(entry.section), sidebarRow(name, icon, entry.count))
        }
        append(.trash, sidebarRow(tr("Trash"), "user-trash-symbolic", nil))
        selectSection()
    }

    private func append(_ place: Place, _ row: Widget) {
        places.append(place)
        collections.append(row)
    }

    private func selectSection() {
        let wanted = showsTrash ? Place.trash : .section(model.section)
        if let index = places.firstIndex(of: wanted) { collections.select(index) }
    }

    private static func heading(_ section: VaultSection) -> String? {
        switch section {
        case .collection: tr("Collections")
        case .tag: tr("Tags")
        case .all, .favourites, .kind: nil
        }
    }

    private func sidebarRow(_ name: String, _ icon: String, _ count: Int?) -> Widget {
        let box = Widget(gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8)!)
        gtk_box_append(box.pointer(), gtk_image_new_from_icon_name(icon))
        let title = Label(name)
        gtk_label_set_ellipsize(title.opaque, PANGO_ELLIPSIZE_END)
        gtk_label_set_xalign(title.opaque, 0)
        gtk_widget_set_hexpand(title.widget, 1)
        let number = Label(count.map(String.init) ?? "")
        number.setClass("dim-label", true)
        gtk_box_append(box.pointer(), title.widget)
        gtk_box_append(box.pointer(), number.widget)
        let row = Widget(gtk_list_box_row_new()!)
        gtk_list_box_row_set_child(row.pointer(), box.widget)
        row.accessibleLabel(count.map { name + ", " + trn("%d item", "%d items", $0) } ?? name)
        return row
    }

    private func showItems(_ list: [VaultItem]) {
        inboxGroup.isVisible = !showsTrash && !model.inbox.isEmpty
        guard !showsTrash else {
            items.replace(with: model.trash.prefix(shown).map(trashRow))
            items.isVisible = !model.trash.isEmpty
            more.isVisible = model.trash.count > shown
            return
        }
        items.replace(with: list.prefix(shown).map(row))
        items.isVisible = !list.isEmpty
        more.isVisible = list.count > shown
    }

    private func row(_ item: VaultItem) -> Row {
        let isPlain = item.kind == nil || item.kind == .value || item.kind == .file
        let details = isPlain ? [Format.size(item.size)] : item.tags.map { "#\($0)" }
        let row = Row(
            title: item.name, subtitle: ([item.collection] + details).joined(separator: " · "),
            icon: item.isFile ? "text-x-generic-symbolic" : ItemText.icon(item.kind))
        if item.isFavourite { row.addSuffix(Widget(gtk_image_new_from_icon_name("starred-symbolic")!)) }
        row.addSuffix(Widget(gtk_image_new_from_icon_name("go-next-symbolic")!))
        row.onActivate { [unowned self] in open(item) }
        return row
    }

    private func trashRow(_ trashed: ItemStore.Trashed) -> Row {
        let row = Row(
            title: trashed.name, subtitle: "\(trashed.collection) · \(Format.time(milliseconds: trashed.moved))",
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

    private func show(_ waiting: [Vault.InboxItem]) {
        inboxGroup.isVisible = !showsTrash && !waiting.isEmpty
        inbox.replace(
            with: waiting.map { item in
                let row = Row(
                    title: item.originalName, subtitle: "\(item.originalCollection) · \(Format.size(item.size))",
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
    }

    private func show(_ step: Transfer?) {
        transfer.isVisible = step != nil
        guard let step else { return }
        transferText.text =
            step.direction == .adding ? tr("Storing %s", step.name) : tr("Writing %s to the disk", step.name)
        if let fraction = step.fraction { transferBar.fraction = fraction } else { transferBar.pulse() }
    }

    private static func name(of path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }
}

extension Array {
    subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
