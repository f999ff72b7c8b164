import GtkKit
import Holdfast
import HoldfastUI

// How things come into the vault: typed, from files, from other programs.
extension VaultPage {
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
            Task {
                if let problem = await model.put(carried.take(), at: id) { return form.show(problem) }
                parts.sheets.dismiss()
                parts.toast(tr("Stored"))
            }
        }
        parts.sheets.showEdit()
    }

    func addItem(_ template: ItemTemplate) {
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
        let name = path.split(separator: "/").last.map(String.init) ?? path
        form.prepare(.file, name: name, collection: model.collection ?? "files")
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
    func takeDropped(_ paths: [String]) -> Bool {
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
}
