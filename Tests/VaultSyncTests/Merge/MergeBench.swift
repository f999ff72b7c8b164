import SecretMemory
import SyncFormat
import TestSupport
import Testing
import VaultFormat
import VaultSync

/// Makes items and states for tests: what an item holds is text here.
struct MergeBench {
    var kind = ItemKind.login
    var id = [UInt8](repeating: 5, count: 16)
    var collection = "logins"
    var name = "mail"
    var minimum: UInt8 = 0
    var fields: [(FieldKind, String, String)] = [(.text, "username", "ada"), (.secret, "password", "first")]
    var tags: [String] = []
    var notes: String?
    var trash: (moved: Int64, expires: Int64)?
    /// When it was replaced, and what was in the password.
    var history: [(Int64, String)] = []
    var unknown: [(UInt8, [UInt8])] = []
    var modified: Int64 = 1_000

    static let widening: Set<String> = ["secret-service"]

    func record() throws -> SyncRecord {
        SyncRecord(
            id: try #require(SyncItemID(id)), form: .item, collection: collection, name: name, minimum: minimum,
            content: try content())
    }

    func content() throws -> SecretBytes {
        var parts: [(ItemEntry, [UInt8])] = fields.map { (.field($0.0, label: $0.1), Array($0.2.utf8)) }
        parts += tags.sorted().map { (.tag($0), []) }
        if let notes { parts.append((.notes, Array(notes.utf8))) }
        if let trash { parts.append((.trash(moved: trash.moved, expires: trash.expires, name: name), [])) }
        for (time, value) in history {
            parts.append((.earlier(replaced: time, .secret, label: "password"), Array(value.utf8)))
        }
        let later = unknown.flatMap { tag, bytes in
            [tag] + (0..<4).map { UInt8(truncatingIfNeeded: bytes.count >> (8 * $0)) } + bytes
        }
        let front = ItemFront(kind: kind, id: try #require(ItemID(id)), created: 500, modified: modified)
        let size = ItemLayout.frontSize + parts.reduce(0) { $0 + $1.0.size(value: $1.1.count) } + later.count
        return try SecretBytes(count: size) { output in
            front.write(into: &output)
            var offset = ItemLayout.frontSize
            for (entry, value) in parts {
                offset = unsafe entry.write(value.span.bytes, into: &output, at: offset)
            }
            unsafe output.store(copying: later.span.bytes, at: offset)
        }
    }

    func first() throws -> [UInt8] { bytes(try ItemDifference.first(record(), wideningTags: MergeBench.widening)) }

    /// The state after a device wrote this; nil when nothing is to be said.
    func changed(_ state: [UInt8], by device: UInt8, _ number: UInt64, time: Int64) throws -> [UInt8]? {
        let stream = try #require(StreamID([UInt8](repeating: device, count: 16)))
        let change = try unsafe ItemDifference.change(
            record(), from: state.span.bytes, at: Stamp(Dot(stream, number), time: time),
            wideningTags: MergeBench.widening)
        guard let change else { return nil }
        return bytes(change)
    }
}

/// What is shown of a state, as texts.
struct Shown: Equatable {
    var name = ""
    var collection = ""
    var isInTrash = false
    var isPartial = false
    var kind: UInt8 = 0
    var fields: [String] = []
    var tags: [String] = []
    var notes: String?
    var history: [String] = []
    var unknown: [[UInt8]] = []

    init(_ state: [UInt8]) throws {
        let projection = try unsafe ItemProjection(of: state.span.bytes)
        name = projection.record.name
        collection = projection.record.collection
        isInTrash = projection.isInTrash
        isPartial = projection.isPartial
        projection.record.content.withBytes { bytes in
            guard let layout = try? ItemLayout(parsing: bytes) else { return }
            kind = layout.front.kind.rawValue
            func text(_ field: ItemLayout.Field) -> String { "\(bytes.text(field.label))=\(bytes.text(field.value))" }
            fields = layout.fields.map(text)
            tags = layout.tags.map { bytes.text($0) }
            notes = layout.notes.map { bytes.text($0) }
            history = layout.history.map { text($0.field) }
            unknown = layout.entries.filter { $0.tag > 5 }.map { bytes.copied($0.whole) }
        }
    }
}

func join(_ left: [UInt8], _ right: [UInt8]) throws -> [UInt8] {
    bytes(try unsafe StateJoin(of: left.span.bytes, with: right.span.bytes).state)
}

func bytes(_ state: borrowing SecretBytes) -> [UInt8] {
    state.withBytes { $0.copied(0..<$0.byteCount) }
}
