package import SecretMemory
package import SyncFormat
internal import VaultFormat

/// What a join of two states gave.
package struct StateJoin: ~Copyable {
    /// All that either knows.
    package let state: SecretBytes
    /// Whether it is more than what was here.
    package let isNews: Bool
    /// Whether the item lives after it.
    package let lives: Bool
    /// Whether this device must say it once more (``SyncFormat/ItemState/mustRestate(after:)``).
    package let mustRestate: Bool

    /// The item of a state that came.
    /// - Parameter heads: The last entry that was taken of each stream, the own one too; nil for what this device
    /// wrote.
    /// - Throws: ``SyncError/format(_:)`` for bytes that are no state, and for one that names writes that are not
    /// known.
    package static func id(of bytes: RawSpan, within heads: [StreamID: UInt64]? = nil) throws(SyncError) -> SyncItemID {
        do throws(FormatError) {
            let layout = try StateLayout(parsing: bytes, in: 0..<bytes.byteCount)
            if let heads, !layout.isWithin(heads) { throw FormatError.invalid(field: "state context") }
            return layout.id
        } catch { throw .format(error) }
    }

    /// The item of a state as it came in an entry, and whether it names nothing but what was taken.
    /// - Throws: ``SyncError/format(_:)``, also for one that is larger than an entry's may be.
    static func received(
        _ bytes: RawSpan, within heads: [StreamID: UInt64]
    ) throws(SyncError) -> (id: SyncItemID, isWithin: Bool) {
        let layout = try format { () throws(FormatError) in
            try StateLayout(parsing: bytes, in: 0..<bytes.byteCount)
        }
        guard layout.fitsEntry else { throw .format(.wrongSize) }
        return (layout.id, layout.isWithin(heads))
    }

    /// Whether a state names more streams that nobody writes than an item can come to.
    static func isCrowded(_ bytes: RawSpan, knowing heads: [StreamID: UInt64]) throws(SyncError) -> Bool {
        let seen = try format { () throws(FormatError) in try StateSeen(parsing: bytes, in: 0..<bytes.byteCount) }
        return seen.unknownStreams { heads[$0] != nil } > StateLimits.unknownStreams
    }

    /// What came of an item that was never met here.
    /// - Throws: As ``init(of:with:)``.
    package init(first bytes: RawSpan) throws(SyncError) {
        var space = MergeSpace()
        let layout = try space.layout(at: try space.add(bytes))
        let table = space.table(of: layout.elements.map(\.value))
        var state = try table.numbered(layout)
        if !state.lives { state.dropContent() }
        let encoded = try space.encoded(state, of: layout.id, form: layout.form, values: table)
        isNews = true
        lives = state.lives
        mustRestate = false
        self.state = encoded
    }

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
        lives = joined.lives
        mustRestate = joined.mustRestate(after: before)
        state = encoded
    }
}

extension StateJoin {
    /// The state once more, as a write of this device.
    /// - Parameter stamp: Never used before.
    /// - Throws: ``SyncError/format(_:)``, ``SyncError/memory(_:)``.
    package static func restated(_ bytes: RawSpan, at stamp: Stamp) throws(SyncError) -> SecretBytes {
        var space = MergeSpace()
        let layout = try space.layout(at: try space.add(bytes))
        let table = space.table(of: layout.elements.map(\.value))
        var state = try table.numbered(layout)
        try state.checkWrite(at: stamp)
        state.write(at: stamp)
        let said = try space.said(state, at: stamp, of: layout.id, form: layout.form, values: table)
        return try space.encoded(said, of: layout.id, form: layout.form, values: table)
    }
}
