package import SecretMemory
internal import SyncFormat
internal import VaultFormat

/// What a join of two states gave.
package struct StateJoin: ~Copyable {
    /// All that either knows.
    package let state: SecretBytes
    /// Whether it is more than what was here.
    package let isNews: Bool
    /// Whether this device must say it once more (``SyncFormat/ItemState/mustRestate(after:)``).
    package let mustRestate: Bool

    /// Joins what is known here with what came.
    /// - Throws: ``SyncError/format(_:)`` for bytes that are no state, for states of two items, and for a join that is
    ///   larger than any reader takes; ``SyncError/memory(_:)``.
    package init(of own: RawSpan, with other: RawSpan) throws(SyncError) {
        var space = MergeSpace()
        let places = (own: try space.add(own), other: try space.add(other))
        let left = try space.layout(at: places.own)
        let right = try space.layout(at: places.other)
        guard left.id == right.id, left.form == right.form else { throw .format(.invalid(field: "state id")) }
        let table = space.table(of: (left.elements + right.elements).map(\.value))
        let before = try table.numbered(left)
        var joined = before.joined(with: try table.numbered(right))
        // What was dropped here does not come back dead.
        if !before.hasContent && !joined.lives { joined.dropContent() }
        let encoded = try space.encoded(joined, of: left.id, form: left.form, values: table)
        isNews = joined != before
        mustRestate = joined.mustRestate(after: before)
        state = encoded
    }
}
