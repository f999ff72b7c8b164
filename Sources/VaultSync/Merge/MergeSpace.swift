package import SecretMemory
package import SyncFormat
internal import VaultFormat

/// The bytes of states and records that are merged, one behind the other in locked memory: all values lie in one run,
/// and the merge knows them by their places.
package struct MergeSpace: ~Copyable {
    /// A state and a record of the largest size, and what is made of them.
    private static let limit = 4 * StateLimits.size
    private var buffer = SecretBuffer(limit: MergeSpace.limit)

    package init() {}

    /// Copies bytes in.
    /// - Throws: ``SyncError/memory(_:)``.
    package mutating func add(_ bytes: RawSpan) throws(SyncError) -> Range<Int> {
        let start = buffer.count
        do throws(SecretMemoryError) { try buffer.append(bytes) } catch { throw .memory(error) }
        return start..<buffer.count
    }

    /// As ``add(_:)``, for what is no secret.
    package mutating func add(_ bytes: [UInt8]) throws(SyncError) -> Range<Int> {
        try unsafe add(bytes.span.bytes)
    }

    /// What stands in `prefix` and then what lies at a place, as one value.
    package mutating func add(_ prefix: [UInt8], _ place: Range<Int>) throws(SyncError) -> Range<Int> {
        let copy: SecretBytes
        do throws(SecretMemoryError) {
            copy = try buffer.withBytes { bytes throws(SecretMemoryError) in
                try SecretBytes(copying: bytes.extracting(place))
            }
        } catch { throw .memory(error) }
        let start = try add(prefix).lowerBound
        _ = try copy.withBytes { bytes throws(SyncError) in try add(bytes) }
        return start..<buffer.count
    }

    /// What lies at some places, one behind the other.
    /// - Throws: ``SyncError/memory(_:)``.
    package borrowing func copy(_ places: [Range<Int>]) throws(SyncError) -> SecretBytes {
        do throws(SecretMemoryError) {
            return try buffer.withBytes { values throws(SecretMemoryError) in
                try SecretBytes(count: places.reduce(0) { $0 + $1.count }) { output in
                    var position = 0
                    for place in places {
                        output.store(copying: values.extracting(place), at: position)
                        position += place.count
                    }
                }
            }
        } catch { throw .memory(error) }
    }

    /// Whether two fields are one-time codes that differ in the counter alone, and the first one's is the higher.
    borrowing func isHigherCounter(_ place: Range<Int>, than other: Range<Int>) -> Bool {
        buffer.withBytes { bytes in
            CounterText.isHigher(bytes.extracting(place), than: bytes.extracting(other)) == true
        }
    }

    /// Lends all of it.
    package borrowing func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try buffer.withBytes(body)
    }

    /// Reads a state that was added.
    /// - Throws: ``SyncError/format(_:)``.
    package borrowing func layout(at place: Range<Int>) throws(SyncError) -> StateLayout {
        try buffer.withBytes { bytes throws(SyncError) in
            do throws(FormatError) { return try StateLayout(parsing: bytes, in: place) } catch { throw .format(error) }
        }
    }

    /// The numbers of values that were added.
    package borrowing func table(of places: some Sequence<Range<Int>>) -> ValueTable {
        buffer.withBytes { ValueTable(places, in: $0) }
    }

    /// The bytes of a state whose values are here.
    /// - Throws: ``SyncError/format(_:)`` for one that is too large, ``SyncError/memory(_:)``.
    package borrowing func encoded(
        _ state: ItemState, of id: SyncItemID, form: StateLayout.Form, values table: ValueTable
    ) throws(SyncError) -> SecretBytes {
        let writer: StateWriter
        do throws(FormatError) {
            writer = try StateWriter(state, of: id, form: form, values: table)
        } catch { throw .format(error) }
        do throws(SecretMemoryError) {
            return try buffer.withBytes { values throws(SecretMemoryError) in
                try SecretBytes(count: writer.size) { writer.write(into: &$0, values: values) }
            }
        } catch { throw .memory(error) }
    }
}

extension ValueTable {
    /// A state with numbers for its values.
    func numbered(_ layout: StateLayout) throws(SyncError) -> ItemState {
        do throws(FormatError) { return try state(of: layout) } catch { throw .format(error) }
    }
}
