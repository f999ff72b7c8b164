package import SecretMemory
package import SyncFormat
internal import VaultFormat

/// Where an item wants to be, by its state.
package struct StatePlace: Sendable, Hashable {
    package let minimum: UInt8
    package let collection: String
    package let name: String

    /// - Throws: ``SyncError/format(_:)``, ``SyncError/memory(_:)``.
    package init(of bytes: RawSpan) throws(SyncError) {
        var space = MergeSpace()
        let layout = try space.layout(at: try space.add(bytes))
        let table = space.table(of: layout.elements.map(\.value))
        let state = try table.numbered(layout)
        guard let place = state.shown(.place).map({ table.places[$0.value] }) else {
            throw .format(.invalid(field: "state place"))
        }
        try self.init(place, in: space)
    }

    /// - Parameter place: The minimum (u8), collection and name behind their sizes (u16).
    init(_ place: Range<Int>, in space: borrowing MergeSpace) throws(SyncError) {
        var reader = ByteReader(space.withBytes { $0.copied(place) })
        guard let minimum = try? reader.integer(UInt8.self),
            let collection = try? reader.counted(limit: RecordName.maximumCollectionSize, "state place"),
            let name = try? reader.counted(limit: RecordName.maximumNameSize, "state place"), reader.remaining == 0,
            let collection = String(validating: collection, as: UTF8.self),
            let name = String(validating: name, as: UTF8.self), !name.isEmpty
        else { throw .format(.invalid(field: "state place")) }
        self.minimum = minimum
        self.collection = collection
        self.name = name
    }
}

/// Removing an item for good.
package enum StateRemoval {
    /// What is left of a state: that the item was removed, by who had seen what.
    /// - Throws: ``SyncError/format(_:)``, ``SyncError/memory(_:)``.
    package static func removed(_ bytes: RawSpan) throws(SyncError) -> SecretBytes {
        var space = MergeSpace()
        let layout = try space.layout(at: try space.add(bytes))
        let table = space.table(of: layout.elements.map(\.value))
        var state = try table.numbered(layout)
        state.remove()
        return try space.encoded(state, of: layout.id, form: layout.form, values: table)
    }

    /// The state of an item that no other device is told of.
    /// - Throws: ``SyncError/memory(_:)``.
    package static func nothing(of id: SyncItemID) throws(SyncError) -> SecretBytes {
        let space = MergeSpace()
        return try space.encoded(ItemState(), of: id, form: .item, values: space.table(of: []))
    }
}
