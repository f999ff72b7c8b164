import CAdw
import GtkKit
import Holdfast
import HoldfastUI

/// The fields of an item below its name: shown for a while, copied, changed, opened, saved.
final class ItemFields {
    unowned let parts: ReadyWindow
    let model: ItemFieldsModel
    private let list: ListBox
    private let history: ItemHistory
    let editing: ItemEditing
    private var rows: [Int: FieldRow] = [:]
    private var notes: FieldRow?
    private var ticking: Task<Void, Never>?
    /// Whether the item was read; what is to be done with it before waits.
    private(set) var isLoaded = false
    private var waiting: (() -> Void)?

    init(_ id: VaultItem.ID, _ ui: Builder, _ parts: ReadyWindow, onLoad: @escaping (_ isItem: Bool) -> Void) {
        self.parts = parts
        list = ui.widget("detail-fields")
        model = parts.models.vault.fields(of: id, preferences: parts.models.preferences)
        history = ItemHistory(model, ui, parts)
        editing = ItemEditing(model, ui, parts)
        let model = model
        bind(self, { Shape(model) }) { [unowned self] _ in build() }
        bind(self, { model.revealed }) { [unowned self] _ in show() }
        bind(self, { model.showsNotes }) { [unowned self] _ in show() }
        bind(self, { model.problem }) { [unowned parts] in if let problem = $0 { parts.toast(ProblemText.of(problem)) }
        }
        bind(self, { model.live }) { [unowned self] _ in show() }
        Task { [weak self, unowned parts] in
            // A code is what an item is opened for.
            await model.showCodes()
            guard let self, !parts.models.lock.isLocked else { return }
            onLoad(model.isItem)
            isLoaded = true
            waiting?()
            waiting = nil
        }
    }

    /// Does something at once, or as soon as the item was read.
    func whenLoaded(_ action: @escaping () -> Void) { if isLoaded { action() } else { waiting = action } }

    /// What rows there are.
    private struct Shape: Equatable {
        let fields: [ItemFieldsModel.Field], tags: [String], hasNotes: Bool, earlier: [Item.Earlier]

        init(_ model: ItemFieldsModel) {
            (fields, tags, hasNotes, earlier) = (model.fields, model.tags, model.hasNotes, model.earlier)
        }
    }

    /// Nothing of the values stays on the screen.
    func close() {
        editing.end()
        ticking?.cancel()
        waiting = nil
        model.drop()
        removeRows()
    }

    private func removeRows() {
        history.close()
        for row in rows.values { row.clear() }
        notes?.clear()
        (rows, notes) = ([:], nil)
        list.removeAll()
    }

    private func build() {
        removeRows()
        for field in model.ordered {
            let row = makeRow(field)
            rows[field.id] = row
            list.append(row.row)
        }
        if model.hasNotes {
            let row = makeNotes()
            notes = row
            list.append(row.row)
        }
        if !model.tags.isEmpty {
            let row = Row(title: tr("Tags"), subtitle: model.tags.joined(separator: ", "))
            row.setClass("field", true)
            list.append(row)
        }
        history.finish()
        showList()
        show()
    }

    /// The rows are there while nothing is typed in their place.
    func showList() { list.isVisible = model.isItem && !editing.isEditing }

    var hasRemoved: Bool { history.hasRemoved }

    private func makeRow(_ field: ItemFieldsModel.Field) -> FieldRow {
        let name = ItemText.label(field.label)
        let isTimed = field.kind == .oneTimeCode && !field.countsUp
        let row = FieldRow(
            name, isHidden: field.isSecret && !field.countsUp && !model.live.contains(field.id), isTimed: isTimed,
            actions: actions(field, name)
        ) { [model] in
            if model.revealed.contains(field.id) { model.hide(field) } else { Task { await model.reveal(field) } }
        }
        if field.kind == .file {
            row.onActivate(tr("Look at %s", name)) { [unowned self] in look(at: field) }
        } else {
            row.onActivate(tr("Copy %s", name)) { [unowned self] in copy(field) }
        }
        return row
    }

    private func makeNotes() -> FieldRow {
        let name = tr("Notes")
        let copy = Button(icon: "edit-copy-symbolic", label: tr("Copy %s", name))
        copy.onClick { [unowned self] in copyNotes() }
        let row = FieldRow(name, isHidden: true, isProse: true, actions: [copy]) { [model] in
            if model.showsNotes { model.hide() } else { Task { await model.revealNotes() } }
        }
        row.onActivate(tr("Copy %s", name)) { [unowned self] in copyNotes() }
        return row
    }

    private func actions(_ field: ItemFieldsModel.Field, _ name: String) -> [Widget] {
        var actions: [Widget] = []
        func add(_ icon: String, _ label: String, _ action: @escaping () -> Void) {
            let button = Button(icon: icon, label: label)
            button.onClick(action)
            actions.append(button)
        }
        if field.countsUp {
            add("media-skip-forward-symbolic", tr("Next code of %s", name)) { [unowned self] in showNextCode(field) }
        }
        if field.kind == .url { add("web-browser-symbolic", tr("Open %s", name)) { [unowned self] in open(field) } }
        if field.kind == .file {
            add("view-reveal-symbolic", tr("Look at %s", name)) { [unowned self] in look(at: field) }
            add("document-save-symbolic", tr("Save %s", name)) { [unowned self] in save(field) }
        } else {
            add("edit-copy-symbolic", tr("Copy %s", name)) { [unowned self] in copy(field) }
        }
        if let earlier = history.button(of: field) { actions.append(earlier) }
        return actions
    }

    private func show() {
        for field in model.fields { show(field) }
        if let notes, !model.showsNotes || model.withNotes({ notes.show($0) }) == nil { notes.hide() }
        tick()
    }

    private func show(_ field: ItemFieldsModel.Field) {
        guard let row = rows[field.id] else { return }
        if let name = field.fileName { return row.show(text: name) }
        if field.isSecret, !model.revealed.contains(field.id), !model.live.contains(field.id) {
            if field.countsUp {
                row.show(text: tr("Each code is used once; the button shows the next one."))
            } else {
                row.hide()
            }
        } else if let address = address(of: field) {
            row.showLink(address)
        } else {
            _ = model.withValue(of: field) { row.show($0) }
        }
        row.show(secondsLeft: model.secondsLeft(of: field), share: model.shareLeft(of: field)) { show in
            _ = model.withNextCode(of: field, show)
        }
    }

    /// What a browser opens, and nothing else: an item may have come from somebody else.
    private func address(of field: ItemFieldsModel.Field) -> String? {
        guard field.kind == .url else { return nil }
        let address = model.withValue(of: field) { bytes in
            bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        }
        // Only what is read as it is written: other characters may turn an address around, or hide a part of it.
        guard let address, address.utf8.allSatisfy({ (0x21..<0x7F).contains($0) }),
            ["https://", "http://"].contains(where: { address.lowercased().hasPrefix($0) })
        else { return nil }
        return address
    }

    /// While a code is shown, its time runs, and the next one follows it.
    private func tick() {
        ticking?.cancel()
        let codes = model.fields.filter { model.secondsLeft(of: $0) != nil }
        guard !codes.isEmpty else { return ticking = nil }
        ticking = Task { [weak self] in
            while true {
                try? await Task.sleep(for: .seconds(1))
                guard !Task.isCancelled, let self else { return }
                for field in codes { show(field) }
            }
        }
    }

    /// Copies the first field of a kind, or of a label.
    /// - Returns: Whether there is one.
    func copyFirst(_ isWanted: (ItemFieldsModel.Field) -> Bool) -> Bool {
        guard let field = model.ordered.first(where: isWanted) else { return false }
        copy(field)
        return true
    }

    private func copy(_ field: ItemFieldsModel.Field) {
        copy { [model] in
            await model.withCopy(of: field, $0)
        } otherwise: {
            field.kind == .oneTimeCode ? tr("Each code is used once; the button shows the next one.") : nil
        }
    }

    private func copyNotes() {
        copy { [model] in
            await model.withNotesCopy($0)
        } otherwise: {
            nil
        }
    }

    /// - Parameter otherwise: What is said where there was nothing to copy, and no problem.
    private func copy(
        _ read: @escaping (@escaping (RawSpan) -> Bool) async -> Bool?, otherwise: @escaping () -> String?
    ) {
        let seconds = parts.models.preferences.values.clipboardSeconds
        Task { [unowned parts, model] in
            let isDone = await read { (try? parts.clipboard.copySecret($0, for: seconds)) != nil }
            switch isDone {
            case true?: parts.toast(trn("Copied for %d second", "Copied for %d seconds", Int(seconds)))
            case false?: parts.toast(ProblemText.of(.outOfMemory))
            // Where it could not be read, the page says why.
            case nil where model.problem == nil && !parts.models.lock.isLocked:
                if let said = otherwise() { parts.toast(said) }
            case nil: break
            }
        }
    }

    private func showNextCode(_ field: ItemFieldsModel.Field) {
        Task { [weak self, unowned parts, model] in
            // Other digits are shown in the same place.
            guard let problem = await model.revealNextCode(of: field) else { return self?.show() ?? () }
            if !parts.models.lock.isLocked { parts.toast(ProblemText.of(problem)) }
        }
    }

    private func open(_ field: ItemFieldsModel.Field) {
        guard let address = address(of: field) else { return parts.toast(tr("Only addresses of the web are opened.")) }
        parts.open(address)
    }

    private func save(_ field: ItemFieldsModel.Field) {
        guard let name = field.fileName else { return }
        parts.chooseFile(tr("Save as File"), saveAs: name) { [unowned parts, model] path in
            Task {
                let problem = await model.save(field, to: path)
                if problem == .cancelled { return parts.toast(tr("Stopped. Nothing was written.")) }
                parts.toast(problem.map(ProblemText.of) ?? tr("Written. The file on the disk is not protected."))
            }
        }
    }

    private func look(at field: ItemFieldsModel.Field) {
        guard let name = field.fileName else { return }
        Task { [unowned parts, model] in
            let isShown = await model.withContent(of: field) { parts.sheets.preview.show($0, name: name) }
            switch isShown {
            case true?: parts.sheets.showPreview()
            case false?:
                parts.toast(tr("Only texts and pictures (PNG, JPEG) can be looked at here. Save the file to open it."))
            case nil: break
            }
        }
    }
}

extension ItemFields {
    /// Does something to the item and says how it ended.
    func report(_ done: String, _ work: @escaping () async -> VaultProblem?) {
        Task { [unowned parts] in
            let problem = await work()
            if !parts.models.lock.isLocked { parts.toast(problem.map(ProblemText.of) ?? done) }
        }
    }

    func addField() {
        let form = parts.sheets.item
        form.prepare(.field, name: "", collection: "")
        form.onConfirm = { [unowned parts, model] in
            do throws(ItemDraft.Refusal) {
                let field = try form.field()
                Task {
                    if let refusal = await model.add(field.kind, field.label, field.value.take()) {
                        return form.show(ItemText.of(refusal))
                    }
                    parts.sheets.dismiss()
                    parts.toast(tr("Stored"))
                }
            } catch { form.show(ItemText.of(error)) }
        }
        parts.sheets.showItem()
    }

    func attach() {
        parts.chooseFile(tr("Attach a File")) { [unowned self] path in attach(path) }
    }

    func attach(_ path: String) { report(tr("Stored")) { [model] in await model.attach(path) } }
}

/// Lines of what is text.
enum TextLines {
    /// Nil for what is no text that a form can hold unchanged.
    static func count(_ bytes: RawSpan) -> Int? {
        var lines = 1
        for offset in 0..<bytes.byteCount {
            let byte = bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
            if byte == 0x0A { lines += 1 } else if byte < 0x20 && byte != 0x09 { return nil }
        }
        return isUTF8(bytes) ? lines : nil
    }

    /// Whether it can be shown as a text; lines may end as those of other systems do.
    static func isText(_ bytes: RawSpan) -> Bool {
        for offset in 0..<bytes.byteCount {
            let byte = bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
            if byte < 0x20 && ![0x09, 0x0A, 0x0D].contains(byte) { return false }
        }
        return isUTF8(bytes)
    }

    private static func isUTF8(_ bytes: RawSpan) -> Bool {
        bytes.withUnsafeBytes {
            g_utf8_validate($0.baseAddress?.assumingMemoryBound(to: CChar.self), gssize($0.count), nil)
        } != 0
    }
}
