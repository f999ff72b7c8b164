/// Where each key lies in the plaintext of a keybag. Pure: the bytes themselves stay in the caller's locked memory.
///
/// Layout: version (1 byte), count (16 bit), then `count` times kind (1 byte), epoch (32 bit), key (32 bytes).
package struct KeybagLayout: Sendable, Hashable {
    /// What a key is for.
    package enum Kind: UInt8, Sendable, Hashable, CaseIterable {
        case records = 1
        case names = 2
        case files = 3
        case log = 4
        case identity = 5
        /// The seed of the private key that opens what was sealed to the vault while it was locked.
        case inbox = 6
        /// No key: says that the security log has gone over to the epoch's key, while a rekey is unfinished.
        case logReached = 7

        /// What each epoch has a key of.
        package static let ofEachEpoch = allCases.filter { $0 != .logReached }
    }

    /// A key's purpose, epoch and place.
    package struct Entry: Sendable, Hashable {
        package let kind: Kind
        package let epoch: UInt32
        /// Byte range of the 32-byte key in the plaintext.
        package let range: Range<Int>
    }

    static let version: UInt8 = 1
    static let prefixSize = 3
    static let entrySize = 37
    package static let keySize = 32
    static let maximumEntries = 100

    package let entries: [Entry]

    /// Bytes that a keybag of `count` keys takes.
    package static func size(entries count: Int) -> Int { prefixSize + count * entrySize }

    /// Reads the layout of a decrypted keybag.
    package init(parsing bytes: RawSpan) throws(FormatError) {
        guard bytes.integer(at: 0, as: UInt8.self) == KeybagLayout.version,
            let count = bytes.integer(at: 1, as: UInt16.self), count <= KeybagLayout.maximumEntries,
            bytes.byteCount == KeybagLayout.size(entries: Int(count))
        else { throw .invalid(field: "keybag") }
        var entries: [Entry] = []
        for index in 0..<Int(count) {
            let start = KeybagLayout.prefixSize + index * KeybagLayout.entrySize
            guard let kind = bytes.integer(at: start, as: UInt8.self).flatMap(Kind.init(rawValue:)),
                let epoch = bytes.integer(at: start + 1, as: UInt32.self),
                !entries.contains(where: { $0.kind == kind && $0.epoch == epoch })
            else { throw .invalid(field: "keybag entry") }
            entries.append(Entry(kind: kind, epoch: epoch, range: start + 5..<start + 5 + KeybagLayout.keySize))
        }
        self.entries = entries
    }

    /// Lays out new keys and writes all but the keys themselves.
    package init(
        writing keys: [(kind: Kind, epoch: UInt32)], into bytes: inout MutableRawSpan
    ) throws(FormatError) {
        guard keys.count <= KeybagLayout.maximumEntries,
            bytes.byteCount == KeybagLayout.size(entries: keys.count)
        else { throw .headerFull }
        bytes.store(KeybagLayout.version, at: 0)
        bytes.store(UInt16(keys.count), at: 1)
        var entries: [Entry] = []
        for (index, key) in keys.enumerated() {
            let start = KeybagLayout.prefixSize + index * KeybagLayout.entrySize
            bytes.store(key.kind.rawValue, at: start)
            bytes.store(key.epoch, at: start + 1)
            entries.append(
                Entry(kind: key.kind, epoch: key.epoch, range: start + 5..<start + 5 + KeybagLayout.keySize))
        }
        self.entries = entries
    }

    /// The byte range of one key.
    package func range(of kind: Kind, epoch: UInt32) -> Range<Int>? {
        entries.first { $0.kind == kind && $0.epoch == epoch }?.range
    }
}
