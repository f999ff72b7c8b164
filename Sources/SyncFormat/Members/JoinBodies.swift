package import VaultFormat

/// One way for a device to come into a group.
package enum SyncInvitation: Sendable {}
package typealias InvitationID = SyncID<SyncInvitation>

extension SyncID where Named == SyncInvitation {
    /// As the front has it, in the stream's place.
    package var stream: StreamID { StreamID(bytes) ?? .none }
}

/// What the new device says of itself.
package struct MemberCard: Sendable, Hashable {
    static let prefix = Array("holdfast/1/sync-card\n".utf8)
    /// Bytes of a card.
    package static let size = prefix.count + 1 + secretSize + MemberRecord.size
    private static let secretSize = 16

    /// How the card comes to the member. One that is linked by the identity will have a join secret.
    private enum Way: UInt8 {
        case code = 1
    }

    /// The new member.
    package let member: MemberRecord

    package init(_ member: MemberRecord) { self.member = member }

    /// Reads a card; everything behind it must be zeros.
    package init(parsing bytes: RawSpan) throws(FormatError) {
        var offset = 0
        guard try bytes.nextCopy(Self.prefix.count, &offset) == Self.prefix else { throw .wrongMagic }
        guard Way(rawValue: try bytes.next(UInt8.self, &offset)) == .code else { throw .invalid(field: "card way") }
        guard try bytes.nextCopy(Self.secretSize, &offset).isZero else { throw .invalid(field: "card secret") }
        member = try MemberRecord(parsing: bytes, &offset)
        try bytes.expectZeros(from: offset, "card padding")
    }

    package var encoded: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Self.size)
        var elements = bytes.mutableSpan
        var target = unsafe elements.mutableBytes
        write(into: &target)
        return bytes
    }

    /// Writes it; what is behind becomes zeros.
    package func write(into bytes: inout MutableRawSpan) {
        var offset = 0
        bytes.put(Self.prefix, &offset)
        bytes.put(Way.code.rawValue, &offset)
        bytes.put([UInt8](repeating: 0, count: Self.secretSize), &offset)
        member.write(into: &bytes, &offset)
        bytes.zeros(from: offset)
    }
}

/// What an invitation says: who invites.
package struct InvitationBody: Sendable, Hashable {
    package let inviter: MemberRecord

    package init(_ inviter: MemberRecord) { self.inviter = inviter }

    package init(parsing bytes: RawSpan) throws(FormatError) {
        var offset = 0
        inviter = try MemberRecord(parsing: bytes, &offset)
        try bytes.expectZeros(from: offset, "invitation padding")
    }

    /// Writes it; what is behind becomes zeros.
    package func write(into bytes: inout MutableRawSpan) {
        var offset = 0
        inviter.write(into: &bytes, &offset)
        bytes.zeros(from: offset)
    }
}

/// Where everything is in a welcome's plaintext: two secret keys, the roster as it is on the road, and the keys of
/// earlier rosters under which entries still lie there.
package struct WelcomeBody: Sendable {
    package static let epochKeyRange = 0..<32
    package static let nameKeyRange = 32..<64
    private static let frontSize = 70
    /// Bytes of the hash of an earlier roster and its key.
    private static let earlierSize = 64

    package let roster: Range<Int>
    /// Of each earlier roster its hash and its key.
    package let earlier: [(hash: Range<Int>, key: Range<Int>)]

    package init(parsing bytes: RawSpan) throws(FormatError) {
        guard let size = bytes.integer(at: 64, as: UInt32.self) else { throw .wrongSize }
        guard RosterSize.boxes(in: Int(size)) != nil else { throw .invalid(field: "welcome roster") }
        guard let count = bytes.integer(at: 68, as: UInt16.self), count <= SyncLimits.removed else {
            throw .invalid(field: "welcome keys")
        }
        var offset = Self.frontSize
        roster = try bytes.next(Int(size), &offset)
        let keys = try bytes.next(Int(count) * Self.earlierSize, &offset)
        earlier = Self.earlier(Int(count), from: keys.lowerBound)
        try bytes.expectZeros(from: offset, "welcome padding")
    }

    /// Writes the size of a roster and the number of earlier ones, which tell where they go. All else is the caller's.
    package init(writing rosterSize: Int, earlier count: Int, into bytes: inout MutableRawSpan) throws(FormatError) {
        let size = WelcomeBody.size(roster: rosterSize, earlier: count)
        guard RosterSize.boxes(in: rosterSize) != nil, count <= SyncLimits.removed, size <= bytes.byteCount else {
            throw .wrongSize
        }
        bytes.store(UInt32(clamping: rosterSize), at: 64)
        bytes.store(UInt16(clamping: count), at: 68)
        roster = Self.frontSize..<Self.frontSize + rosterSize
        earlier = Self.earlier(count, from: roster.upperBound)
        bytes.zeros(from: size)
    }

    private static func earlier(_ count: Int, from start: Int) -> [(hash: Range<Int>, key: Range<Int>)] {
        (0..<count).map { index in
            let place = start + index * earlierSize
            return (place..<place + 32, place + 32..<place + earlierSize)
        }
    }

    /// Bytes without padding.
    package static func size(roster: Int, earlier count: Int) -> Int { frontSize + roster + count * earlierSize }
}

/// How far an invitation has come, on the member's side: one card, ten minutes, one welcome. Pure.
package struct InvitationProgress: Sendable, Hashable {
    package enum State: Sendable, Hashable {
        case waiting
        /// A card opened, with this hash; the user compares the words.
        case compares([UInt8])
        /// A welcome was written for it.
        case welcomed
        case ended(End)
    }

    package enum End: Sendable, Hashable {
        /// Ten minutes are over.
        case late
        /// Another card opened: somebody else has the code.
        case secondCard
        case refused
    }

    /// Milliseconds of uptime that an invitation is good for.
    package static let life: UInt64 = 10 * 60 * 1000

    package private(set) var state: State = .waiting
    private let begun: UInt64

    /// - Parameter uptime: Milliseconds of a clock that nobody sets.
    package init(uptime: UInt64) { begun = uptime }

    /// A card that opens under the code, by its hash.
    package mutating func card(_ hash: [UInt8], uptime: UInt64) {
        expire(uptime)
        switch state {
        case .waiting: state = .compares(hash)
        case .compares(let first) where first != hash: state = .ended(.secondCard)
        case .compares, .welcomed, .ended: break
        }
    }

    /// The user says whether the words are equal, and has proved to be there.
    /// - Returns: The hash of the card that a welcome may be written for now; nil for none.
    package mutating func confirm(_ areEqual: Bool, uptime: UInt64) -> [UInt8]? {
        expire(uptime)
        guard case .compares(let hash) = state else { return nil }
        state = areEqual ? .welcomed : .ended(.refused)
        return areEqual ? hash : nil
    }

    /// Ends it once its time is over; a clock that goes back ends it too.
    package mutating func expire(_ uptime: UInt64) {
        switch state {
        case .waiting, .compares: if uptime < begun || uptime - begun >= Self.life { state = .ended(.late) }
        case .welcomed, .ended: break
        }
    }
}
