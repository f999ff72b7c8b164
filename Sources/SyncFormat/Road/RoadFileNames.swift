internal import VaultFormat

/// The name of an entry: its number and the start of its hash, so that two forked entries lie side by side.
package struct EntryFileName: Sendable, Hashable, Comparable {
    /// From 1.
    package let number: UInt64
    /// Of the file's bytes.
    package let hash: RoadNumber

    /// Nil for the number 0 and for a hash of fewer than 8 bytes.
    package init?(number: UInt64, hash: some Collection<UInt8>) {
        guard number > 0, let start = RoadNumber(hash: hash) else { return nil }
        self.number = number
        self.hash = start
    }

    /// Nil for any name that no writer gives.
    package init?(name: some Collection<UInt8>) {
        guard let (number, hash) = numberAndHash(name), number > 0 else { return nil }
        self.number = number
        self.hash = hash
    }

    package var name: String { "\(RoadNumber(number))-\(hash)" }

    package static func < (left: EntryFileName, right: EntryFileName) -> Bool {
        (left.number, left.hash) < (right.number, right.hash)
    }
}

/// The name of a roster: its number and the start of its hash, because two rosters may have one number.
package struct RosterFileName: Sendable, Hashable, Comparable {
    /// From 1.
    package let number: UInt32
    /// Of the file's bytes.
    package let hash: RoadNumber

    /// Nil for the number 0 and for a hash of fewer than 8 bytes.
    package init?(number: UInt32, hash: some Collection<UInt8>) {
        guard number > 0, let start = RoadNumber(hash: hash) else { return nil }
        self.number = number
        self.hash = start
    }

    /// Nil for any name that no writer gives.
    package init?(name: some Collection<UInt8>) {
        guard let (number, hash) = numberAndHash(name), let small = UInt32(exactly: number), small > 0 else {
            return nil
        }
        self.number = small
        self.hash = hash
    }

    package var name: String { "\(RoadNumber(UInt64(number)))-\(hash)" }

    package static func < (left: RosterFileName, right: RosterFileName) -> Bool {
        (left.number, left.hash) < (right.number, right.hash)
    }
}

/// The name of a piece of a large content: its id, which says nothing to anyone without the group's key.
package struct PieceFileName: Sendable, Hashable, Comparable {
    /// Bytes of an id.
    package static let size = 32

    /// 32 bytes.
    package let id: [UInt8]

    /// Nil unless there are 32 bytes.
    package init?(id: some Collection<UInt8>) {
        guard id.count == PieceFileName.size else { return nil }
        self.id = Array(id)
    }

    /// Nil for any name that no writer gives.
    package init?(name: some Collection<UInt8>) {
        guard name.count == 2 * PieceFileName.size,
            let id = Hexadecimal.decode(String(decoding: name, as: UTF8.self)),
            id.count == PieceFileName.size
        else { return nil }
        self.id = id
    }

    package var name: String { Hexadecimal.encode(id) }

    package static func < (left: PieceFileName, right: PieceFileName) -> Bool {
        left.id.lexicographicallyPrecedes(right.id)
    }
}

/// The name of a message of two devices of which one joins: the invitation, what it is, and the start of its hash, so
/// that a second card does not take the place of the first.
package struct JoinFileName: Sendable, Hashable, Comparable {
    package enum Message: UInt8, Sendable, Hashable, CaseIterable {
        /// Of the member, with its keys.
        case invitation = 0
        /// Of the device that joins.
        case card = 1
        /// The member's answer.
        case welcome = 2

        var word: String {
            switch self {
            case .invitation: "invitation"
            case .card: "card"
            case .welcome: "welcome"
            }
        }
    }

    package let invitation: InvitationID
    package let message: Message
    /// Of the file's bytes.
    package let hash: RoadNumber

    /// Nil for a hash of fewer than 8 bytes.
    package init?(invitation: InvitationID, message: Message, hash: some Collection<UInt8>) {
        guard let start = RoadNumber(hash: hash) else { return nil }
        self.invitation = invitation
        self.message = message
        self.hash = start
    }

    /// Nil for any name that no writer gives.
    package init?(name: some Collection<UInt8>) {
        let parts = name.split(separator: hyphen, omittingEmptySubsequences: false)
        guard parts.count == 3, let invitation = InvitationID(digits: parts[0]),
            let message = Message.allCases.first(where: { $0.word.utf8.elementsEqual(parts[1]) }),
            let hash = RoadNumber(digits: parts[2])
        else { return nil }
        self.invitation = invitation
        self.message = message
        self.hash = hash
    }

    package var name: String { "\(invitation)-\(message.word)-\(hash)" }

    package static func < (left: JoinFileName, right: JoinFileName) -> Bool {
        (left.invitation, left.message.rawValue, left.hash) < (right.invitation, right.message.rawValue, right.hash)
    }
}

extension SyncID {
    /// Nil unless there are 32 lower-case hexadecimal digits.
    package init?(digits: some Collection<UInt8>) {
        guard digits.count == 2 * Self.size,
            let bytes = Hexadecimal.decode(String(decoding: digits, as: UTF8.self))
        else { return nil }
        self.init(bytes)
    }
}

private let hyphen = UInt8(ascii: "-")

/// `NUMBER-HASH`, 16 digits each.
private func numberAndHash(_ name: some Collection<UInt8>) -> (UInt64, RoadNumber)? {
    guard name.count == 33 else { return nil }
    let parts = name.split(separator: hyphen, omittingEmptySubsequences: false)
    guard parts.count == 2, let number = RoadNumber(digits: parts[0]), let hash = RoadNumber(digits: parts[1]) else {
        return nil
    }
    return (number.value, hash)
}
