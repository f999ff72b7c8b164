internal import Holdfast
internal import SecretMemory
internal import VaultFormat

extension EditedItem {
    /// Makes an item what the text says. Values that change or go become earlier values; what the text does not show,
    /// such as the content of files and what a newer program wrote, stays.
    borrowing func apply(to item: inout Item) throws(CommandError) {
        if let kind, kind != item.kind { item.kind = kind }
        if isFavourite != item.isFavourite { item.isFavourite = isFavourite }
        try applyTags(to: &item)
        try applyNotes(to: &item)
        try applyFields(to: &item)
    }

    private borrowing func applyTags(to item: inout Item) throws(CommandError) {
        let wanted = tags
        try vaultCall {
            for tag in item.tags where !wanted.contains(tag) { try item.removeTag(tag) }
            for tag in wanted { try item.addTag(tag) }
        }
    }

    private borrowing func applyNotes(to item: inout Item) throws(CommandError) {
        let notes = notes
        let isSame = item.withNotes { old in notes?.bytes.isEqual(to: old) ?? false }
        switch notes {
        case .some(let notes):
            if !(isSame ?? (notes.bytes.count == 0)) { try vaultCall { try item.setNotes(notes.bytes) } }
        case .none:
            guard isSame != nil else { return }
            let nothing = try secret(0)
            try vaultCall { try item.setNotes(nothing) }
        }
    }

    private borrowing func applyFields(to item: inout Item) throws(CommandError) {
        let wanted = fields
        // Which of the wanted fields each of the item's is; nil for one that goes.
        var order = try match(item)
        for (index, place) in order.enumerated() {
            guard let place, item.fields[index].label != wanted[place].label else { continue }
            try vaultCall { try item.rename(item.fields[index], to: wanted[place].label) }
        }
        for index in order.indices.reversed() where order[index] == nil {
            try vaultCall { try item.remove(item.fields[index]) }
            order.remove(at: index)
        }
        for (index, place) in order.enumerated() {
            guard let place, wanted[place].kind != .file else { continue }
            try at(wanted[place].line) { try item.set(item.fields[index], wanted[place].value.bytes) }
        }
        for place in wanted.indices where !order.contains(place) {
            try at(wanted[place].line) {
                try item.add(wanted[place].kind, wanted[place].label, wanted[place].value.bytes)
            }
            order.append(place)
        }
        for place in order.indices {
            guard let index = order.firstIndex(of: place), index != place else { continue }
            try vaultCall { try item.move(item.fields[index], to: place) }
            order.remove(at: index)
            order.insert(place, at: place)
        }
    }

    private func at(_ line: Int, _ body: () throws -> Void) throws(CommandError) {
        do throws(CommandError) { try vaultCall(body) } catch {
            var error = error
            error.what = "line \(line): \(error.what)"
            throw error
        }
    }

    /// A field is the same one by its kind and label; else one that has gone and one that is new, of the same kind and
    /// value, are one with another label. Files are known by their names.
    private borrowing func match(_ item: borrowing Item) throws(CommandError) -> [Int?] {
        let old = item.fields
        var order: [Int?] = old.map { _ in nil }
        var free = Set(fields.indices)
        for byValue in [false, true] {
            for field in old where order[field.index] == nil {
                let place = fields.indices.first { place in
                    guard free.contains(place), fields[place].kind == field.kind else { return false }
                    guard byValue || fields[place].label == field.label else { return false }
                    let value = fields[place].value
                    let name = item.withFile(of: field) { name, _ in name }
                    if let name { return value.bytes.withBytes { $0.text(0..<$0.byteCount) } == name }
                    return !byValue || item.withValue(of: field) { value.bytes.isEqual(to: $0) }
                }
                guard let place else { continue }
                order[field.index] = place
                free.remove(place)
            }
        }
        if let place = free.sorted().first(where: { fields[$0].kind == .file }) {
            throw CommandError(
                .usage, code: .invalidEdit,
                "line \(fields[place].line): an editor cannot add a file or change its name",
                advice: "holdfast edit NAME --attach FILE adds one")
        }
        return order
    }
}
