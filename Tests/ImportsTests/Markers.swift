import Items
import TestSupport
import Testing
import VaultFormat

@testable import Imports

extension Imported {
    /// Markers of a file that are in no item and that no note tells of.
    /// - Parameter noted: What is not taken over: each marker with words of its note, which names an entry.
    func lost(_ markers: [String], noted: [String: String] = [:]) -> [String] {
        let texts = items.flatMap(\.texts)
        return markers.filter { marker in
            guard let words = noted[marker] else { return !texts.contains { $0.contains(marker) } }
            return !notes.contains { !$0.entry.isEmpty && $0.what.contains(words) }
        }
    }
}

extension ImportedItem {
    /// All that the vault would have of it: its path, labels and values, notes, tags, earlier values, times.
    var texts: [String] {
        var all = [name, "\(item.created)", "\(item.modified)"] + item.tags
        for field in item.fields {
            all.append(field.label)
            if let file = item.withFile(of: field, { $0 + " " + ($1.array.text) }) {
                all.append(file)
            } else {
                all.append(item.withValue(of: field) { $0.array.text })
            }
        }
        for earlier in item.history {
            all += [earlier.label, "\(earlier.replaced)", item.withValue(of: earlier) { $0.array.text }]
        }
        if let notes { all.append(notes) }
        return all
    }
}
