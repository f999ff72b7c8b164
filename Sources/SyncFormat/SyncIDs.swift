internal import VaultFormat

/// 16 bytes that name something of a sync group. What they name is in the type: a stream cannot stand for a member.
package struct SyncID<Named: Sendable>: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Bytes of an id.
    package static var size: Int { 16 }

    // Big endian, so that ids have the order of their bytes.
    private let high: UInt64
    private let low: UInt64

    /// Nil unless there are 16 bytes.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.size else { return nil }
        var (high, low): (UInt64, UInt64) = (0, 0)
        for (index, byte) in bytes.enumerated() {
            if index < 8 { high = high << 8 | UInt64(byte) } else { low = low << 8 | UInt64(byte) }
        }
        (self.high, self.low) = (high, low)
    }

    /// The first 16 bytes of a hash. That it has as many is the caller's: nothing is filled with zeros.
    package init(truncating hash: RawSpan) {
        high = hash.present(at: 0, as: UInt64.self).byteSwapped
        low = hash.present(at: 8, as: UInt64.self).byteSwapped
    }

    private init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

    /// Zeros, where something belongs to none.
    package static var none: Self { Self(high: 0, low: 0) }

    /// The 16 bytes.
    package var bytes: [UInt8] {
        [high, low].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } }
    }

    package static func < (left: Self, right: Self) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }

    /// 32 lower-case hexadecimal digits.
    package var description: String { Hexadecimal.encode(bytes) }
}

/// The devices of one user that share items.
package enum SyncGroup: Sendable {}
/// A device in a group.
package enum SyncMember: Sendable {}
/// One life of one member as a writer: its numbered, chained entries.
package enum SyncStream: Sendable {}

package typealias SyncGroupID = SyncID<SyncGroup>
package typealias SyncMemberID = SyncID<SyncMember>
package typealias StreamID = SyncID<SyncStream>

/// The last entry of a stream that somebody knows.
package struct StreamHead: Sendable, Hashable {
    /// Whose entries they are.
    package let stream: StreamID
    /// From 1.
    package let number: UInt64
    /// BLAKE3 of the whole entry with that number, 32 bytes.
    package let hash: [UInt8]

    package init(stream: StreamID, number: UInt64, hash: [UInt8]) {
        self.stream = stream
        self.number = number
        self.hash = hash
    }
}
