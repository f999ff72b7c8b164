internal import VaultFormat

/// What a device tells its user of the group that its vault is in.
package struct SyncStatus: Sendable, Hashable {
    /// How many words are shown.
    package static let words: UInt8 = 4

    /// A device of the group.
    package struct Member: Sendable, Hashable {
        package let id: SyncMemberID
        /// What its user called it.
        package let name: String
        package let isThisDevice: Bool

        package init(_ id: SyncMemberID, name: String, isThisDevice: Bool) {
            (self.id, self.name, self.isThisDevice) = (id, name, isThisDevice)
        }

        /// Digits of an id that are enough to name it.
        package static let digits = 8

        /// Whether a word means it: its name, or the beginning of its id.
        package func isCalled(_ word: String) -> Bool {
            name.utf8.elementsEqual(word.utf8)
                || word.utf8.count >= Self.digits && Hexadecimal.encode(id.bytes).utf8.starts(with: word.utf8)
        }
    }

    /// A folder that the group's files are carried in, and what the last round over it did.
    package struct Road: Sendable, Hashable {
        /// Absolute.
        package let path: String
        /// Changes of this device that became entries.
        package var given: UInt64 = 0
        /// Changes of others that were taken.
        package var taken: UInt64 = 0
        /// Entries that were put there.
        package var published: UInt64 = 0
        /// What stands in the way, in words, each once and sorted. Everything else was done.
        package var hitches: [String] = []
        /// Why the round ended there, in words; nil where it came to its end, or none was done.
        package var problem: String?
        /// When the round was over, milliseconds since 1970; nil where none was done.
        package var time: Int64?

        package init(path: String) { self.path = path }
    }

    /// In the order of their names.
    package let members: [Member]
    /// Of all that was taken: equal on two devices means that both have the same.
    package let words: [String]
    package var roads: [Road]

    package init(members: [Member], words: [String], roads: [Road]) {
        (self.members, self.words, self.roads) = (members, words, roads)
    }
}
