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
    private var rows: [Int: (row: Row, reveal: Button?)] = [:]
    private var rings: [Int: Ring] = [:]
    private var notes: (row: Row, reveal: Button)?
    private var ticking: Task<Void, Never>?

    private static let dots = "••••••••"

    init(_ id: VaultItem.ID, _ ui: Builder, _ parts: ReadyWindow, onLoad: @escaping (_ isItem: Bool) -> Void) {
        self.parts = parts
        list = ui.widget("detail-fields")
        model = parts.models.vault.fields(of: id, preferences: parts.models.preferences)
        history = ItemHistory(model, ui, parts)
        let model = model
        bind(self, { Shape(model) }) { [unowned self] _ in build() }
        bind(self, { model.revealed }) { [unowned self] _ in show() }
        bind(self, { model.showsNotes }) { [unowned self] _ in show() }
        bind(self, { model.problem }) { [unowned parts] in if let problem = $0 { parts.toast(ProblemText.of(problem)) }
        }
        Task { [unowned parts] in
            await model.load()
            if !parts.models.lock.isLocked { onLoad(model.isItem) }
        }
    }

    /// What rows there are.
    private struct Shape: Equatable {
        let fields: [ItemFieldsModel.Field], tags: [String], hasNotes: Bool

        init(_ model: ItemFieldsModel) { (fields, tags, hasNotes) = (model.fields, model.tags, model.hasNotes) }
    }

    /// Nothing of the values stays on the screen.
    func close() {
        history.close()
        ticking?.cancel()
        model.drop()
        rows = [:]
        notes = nil
        list.removeAll()
    }

    private func build() {
        list.removeAll()
        rows = [:]
        rings = [:]
        notes = nil
        for field in model.fields {
            let row = Row(title: ItemText.label(field.label))
            addButtons(field, row)
            list.append(row)
        }
        if model.hasNotes {
            let row = Row(title: tr("Notes"))
            let reveal = Button(icon: "view-reveal-symbolic", label: tr("Show %s", tr("Notes")))
            reveal.onClick { [model] in if model.showsNotes { model.hide() } else { Task { await model.revealNotes() } }
            }
            row.addSuffix(reveal)
            let change = Button(icon: "document-edit-symbolic", label: tr("Change %s", tr("Notes")))
            change.onClick { [unowned self] in changeNotes() }
            row.addSuffix(change)
            list.append(row)
            notes = (row, reveal)
        }
        if !model.tags.isEmpty { list.append(Row(title: tr("Tags"), subtitle: model.tags.joined(separator: ", "))) }
        list.isVisible = model.isItem
        show()
    }

    private func addButtons(_ field: ItemFieldsModel.Field, _ row: Row) {
        var reveal: Button?
        if field.countsUp {
            let next = Button(
                icon: "media-skip-forward-symbolic", label: tr("Next code of %s", ItemText.label(field.label)))
            next.onClick { [unowned self] in showNextCode(field) }
            row.addSuffix(next)
        } else if field.isSecret {
            if field.kind == .oneTimeCode {
                let ring = Ring()
                ring.isVisible = false
                row.addSuffix(ring)
                rings[field.id] = ring
            }
            let button = Button(icon: "view-reveal-symbolic", label: tr("Show %s", ItemText.label(field.label)))
            button.onClick { [model] in
                if model.revealed.contains(field.id) {
                    model.hide(field)
                } else {
                    Task { await model.reveal(field) }
                }
            }
            row.addSuffix(button)
            reveal = button
        }
        if field.kind == .url {
            let open = Button(icon: "web-browser-symbolic", label: tr("Open %s", ItemText.label(field.label)))
            open.onClick { [unowned self] in self.open(field) }
            row.addSuffix(open)
        }
        if field.kind == .file {
            let look = Button(icon: "view-reveal-symbolic", label: tr("Look at %s", ItemText.label(field.label)))
            look.onClick { [unowned self] in self.look(at: field) }
            row.addSuffix(look)
            let save = Button(icon: "document-save-symbolic", label: tr("Save %s", ItemText.label(field.label)))
            save.onClick { [unowned self] in self.save(field) }
            row.addSuffix(save)
        } else {
            let copy = Button(icon: "edit-copy-symbolic", label: tr("Copy %s", ItemText.label(field.label)))
            copy.onClick { [unowned self] in self.copy(field) }
            row.addSuffix(copy)
        }
        // A file or a code is not changed: another one takes its place.
        let isFixed = field.kind == .file || field.kind == .oneTimeCode
        let change = Button(
            icon: isFixed ? "user-trash-symbolic" : "document-edit-symbolic",
            label: isFixed ? tr("Remove %s", ItemText.label(field.label)) : tr("Change %s", ItemText.label(field.label))
        )
        change.onClick { [unowned self] in isFixed ? askRemoval(field) : self.change(field) }
        row.addSuffix(change)
        rows[field.id] = (row, reveal)
    }

    private func show() {
        for field in model.fields { show(field) }
        if let notes {
            if model.showsNotes {
                _ = model.withNotes { notes.row.show($0) }
            } else {
                notes.row.subtitle = ItemFields.dots
            }
            notes.reveal.setIcon(
                model.showsNotes ? "view-conceal-symbolic" : "view-reveal-symbolic",
                label: tr(model.showsNotes ? "Hide %s" : "Show %s", tr("Notes")))
        }
        tick()
    }

    private func show(_ field: ItemFieldsModel.Field) {
        guard let (row, reveal) = rows[field.id] else { return }
        let isShown = !field.isSecret || model.revealed.contains(field.id)
        if let name = field.fileName {
            row.subtitle = name
        } else if !isShown {
            row.subtitle = ItemFields.dots
        } else if model.withValue(of: field, { row.show($0, ending: ending(field)) }) == nil {
            row.subtitle = tr("Each code is used once; the button shows the next one.")
        }
        if let ring = rings[field.id] {
            let share = model.shareLeft(of: field)
            ring.isVisible = share != nil
            if let share { ring.show(share) }
        }
        reveal?.setIcon(
            isShown ? "view-conceal-symbolic" : "view-reveal-symbolic",
            label: isShown ? tr("Hide %s", ItemText.label(field.label)) : tr("Show %s", ItemText.label(field.label)))
    }

    private func ending(_ field: ItemFieldsModel.Field) -> String {
        model.secondsLeft(of: field).map { " · " + trn("%d second left", "%d seconds left", $0) } ?? ""
    }

    /// While a code is shown, its time runs, and the next one follows it.
    private func tick() {
        ticking?.cancel()
        let codes = model.fields.filter { $0.kind == .oneTimeCode && model.revealed.contains($0.id) }
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
        guard let field = model.fields.first(where: isWanted) else { return false }
        copy(field)
        return true
    }

    private func copy(_ field: ItemFieldsModel.Field) {
        let seconds = parts.models.preferences.values.clipboardSeconds
        Task { [unowned parts, model] in
            let isDone = await model.withCopy(of: field) { bytes in
                (try? parts.clipboard.copySecret(bytes, for: seconds)) != nil
            }
            switch isDone {
            case true?: parts.toast(trn("Copied for %d second", "Copied for %d seconds", Int(seconds)))
            case false?: parts.toast(ProblemText.of(.outOfMemory))
            // Where it could not be read, the page says why.
            case nil where model.problem == nil && field.kind == .oneTimeCode && !parts.models.lock.isLocked:
                parts.toast(tr("Each code is used once; the button shows the next one."))
            case nil: break
            }
        }
    }

    private func showNextCode(_ field: ItemFieldsModel.Field) {
        Task { [unowned parts, model] in
            guard let problem = await model.revealNextCode(of: field) else { return }
            if !parts.models.lock.isLocked { parts.toast(ProblemText.of(problem)) }
        }
    }

    /// Only what a browser opens; an item may have come from somebody else.
    private func open(_ field: ItemFieldsModel.Field) {
        let address = model.withValue(of: field) { bytes in
            bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        }
        guard let address, ["https://", "http://"].contains(where: { address.lowercased().hasPrefix($0) }) else {
            return parts.toast(tr("Only addresses of the web are opened."))
        }
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

    private func change(_ field: ItemFieldsModel.Field) {
        let form = parts.sheets.edit
        form.prepare(.value, name: ItemText.label(field.label), collection: model.place.name)
        form.canGenerate = field.kind == .secret
        form.onRemove = { [unowned self] in
            parts.sheets.dismiss()
            remove(field)
        }
        form.onConfirm = { [unowned self] _ in
            guard let value = form.takeValue() else { return form.show(.outOfMemory) }
            let carried = SecretCarrier(value)
            Task { [unowned self, model, parts] in
                if let problem = await model.set(field, to: carried.take()) {
                    guard field.kind == .date, problem == .invalidName else { return form.show(problem) }
                    return form.show(text: ItemText.of(.date))
                }
                show()
                parts.sheets.dismiss()
                parts.toast(tr("Stored"))
            }
        }
        Task { [unowned parts, model] in
            let isRead: Void? = await model.withCopy(of: field) { bytes in
                if let lines = TextLines.count(bytes) { form.fill(bytes, hasSeveralLines: lines > 1) }
            }
            // Where it could not be read, the page says why.
            if isRead != nil { parts.sheets.showEdit() }
        }
    }
}

extension ItemFields {
    /// A file or a code is not changed: another one takes its place.
    private func askRemoval(_ field: ItemFieldsModel.Field) {
        parts.sheets.askConfirmation(
            tr("Remove %s?", ItemText.label(field.label)), tr("It is kept among the earlier values."),
            confirm: tr("Remove")
        ) { [unowned self] in remove(field) }
    }

    private func remove(_ field: ItemFieldsModel.Field) {
        report(tr("Removed")) { [model] in await model.remove(field) }
    }

    /// Does something to the item and says how it ended.
    func report(_ done: String, _ work: @escaping () async -> VaultProblem?) {
        Task { [unowned parts] in
            let problem = await work()
            if !parts.models.lock.isLocked { parts.toast(problem.map(ProblemText.of) ?? done) }
        }
    }

    func changeNotes() {
        let form = parts.sheets.edit
        form.prepare(.value, name: tr("Notes"), collection: model.place.name)
        form.canGenerate = false
        form.onConfirm = { [unowned parts, model] _ in
            guard let value = form.takeValue() else { return form.show(.outOfMemory) }
            let carried = SecretCarrier(value)
            Task {
                if let problem = await model.setNotes(carried.take()) { return form.show(problem) }
                parts.sheets.dismiss()
                parts.toast(tr("Stored"))
            }
        }
        guard model.hasNotes else {
            form.fill(RawSpan(), hasSeveralLines: true)
            return parts.sheets.showEdit()
        }
        Task { [unowned parts, model] in
            let isRead: Void? = await model.withNotesCopy { form.fill($0, hasSeveralLines: true) }
            if isRead != nil { parts.sheets.showEdit() }
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
