package import SecretMemory
package import SyncFormat
internal import VaultFormat

/// What a state becomes, and what others are told of it, when entries that it names do not count.
package struct StateAmendment: ~Copyable {
    /// What is kept.
    package let state: SecretBytes
    /// Whether it differs from what was there.
    package let isChanged: Bool
    /// Whether it names somebody who removed the item for good.
    package let hasRemovals: Bool
    /// Whose entries its values may be of: an item that was first met names a stream that nobody writes.
    package let streams: Set<StreamID>
    /// Whether there is anything to say: of an item that no other device is told of there is not.
    package let isAnything: Bool
    /// What travels: of an item that was removed for good the removal alone, whatever lies in the trash here.
    package let said: SecretBytes
    /// Whether what travels is less than the state because an entry may not have it all. It is kept then, too.
    let isReduced: Bool

    /// Takes over the values that entries behind the last ones that count have.
    /// - Parameters:
    ///   - last: Of each stream that is cut off the last entry that counts; 0 for none.
    ///   - stamp: Of this write, never used before.
    /// - Throws: ``SyncError/format(_:)``, ``SyncError/memory(_:)``.
    package init(adopting bytes: RawSpan, after last: [StreamID: UInt64], at stamp: Stamp) throws(SyncError) {
        try self.init(bytes, stamp) { state throws(SyncError) in
            try state.checkWrite(at: stamp)
            return state.adopt(where: { dot in last[dot.stream].map { dot.number > $0 } ?? false }, at: stamp)
        }
    }

    /// Takes back the numbers of the own stream behind the last entry that this life and the other one have.
    /// - Parameter stamp: Of this write, of the new stream.
    /// - Throws: ``SyncError/format(_:)``, ``SyncError/memory(_:)``.
    package init(
        rebasing bytes: RawSpan, of stream: StreamID, after last: UInt64, at stamp: Stamp
    ) throws(SyncError) {
        guard stamp.dot.stream != stream else { throw .format(.invalid(field: "state stamp")) }
        try self.init(bytes, stamp) { state throws(SyncError) in
            try state.checkWrite(at: stamp)
            return state.rebase(stream, after: last, at: stamp)
        }
    }

    private init(
        _ bytes: RawSpan, _ stamp: Stamp, _ change: (inout ItemState) throws(SyncError) -> Bool
    ) throws(SyncError) {
        var space = MergeSpace()
        let layout = try space.layout(at: try space.add(bytes))
        let table = space.table(of: layout.elements.map(\.value))
        var state = try table.numbered(layout)
        let isChanged = try change(&state)
        let kept = try space.encoded(state, of: layout.id, form: layout.form, values: table)
        let isAnything = state.hasContent || !state.removals.isEmpty
        let streams = Set(state.context.highest.map(\.stream))
        let whole = state
        state = try space.said(whole, at: stamp, of: layout.id, form: layout.form, values: table)
        let isLess = state != whole
        if !state.lives { state.dropContent() }
        said = try space.encoded(state, of: layout.id, form: layout.form, values: table)
        self.state = kept
        (self.isChanged, isReduced) = (isChanged, isLess)
        (self.isAnything, self.streams) = (isAnything, streams)
        hasRemovals = !state.removals.isEmpty
    }
}
