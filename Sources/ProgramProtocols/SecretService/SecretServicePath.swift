internal import VaultFormat

/// An object of the Secret Service and its path on the bus (Secret Service API 0.2, chapter 3). The path has the names
/// in it, so nothing has to be kept for a client: letters and digits stand for themselves, every other byte is `_` and
/// two digits in lower case.
package enum SecretServicePath: Sendable, Hashable {
    case service
    case collection(String)
    /// The collection that is kept in memory until the vault locks, and one of its items.
    case sessionCollection, sessionItem(UInt64)
    /// The collection that a short name stands for.
    case alias(String)
    case item(collection: String, name: String)
    case session(UInt64)
    /// A question to the user, of one client.
    case prompt(UInt64)
    /// The item that has these attributes, whichever that is once the vault is open; anywhere, or in one collection.
    case found(SecretServiceAttributes, in: String?)

    package static let root = "/org/freedesktop/secrets"
    /// The alias of the collection in memory, and its path's last part.
    package static let sessionName = "session"
    /// A folder of this name in the vault is at another path, as `session` itself is taken.
    private static let sessionFolder = "_73ession"
    /// Bytes of a collection's and an item's name, at most.
    package static let longestCollection = RecordName.maximumCollectionSize, longestItem = RecordName.maximumNameSize
    /// Bytes of the text of attributes that a path can have.
    private static let longestQuestion = 16_384

    /// Nil for what is no path of ours. Each object has one path only.
    package init?(parsing path: String) {
        // Three bytes for each byte of the names, and what is around them.
        let longest = max(SecretServicePath.longestItem, SecretServicePath.longestQuestion)
        guard path.utf8.count <= 64 + 3 * (SecretServicePath.longestCollection + longest) else {
            return nil
        }
        guard path != SecretServicePath.root else {
            self = .service
            return
        }
        guard path.utf8.starts(with: (SecretServicePath.root + "/").utf8), path.utf8.allSatisfy({ $0 < 0x80 }) else {
            return nil
        }
        let parts = path.dropFirst(SecretServicePath.root.count + 1).split(
            separator: "/", omittingEmptySubsequences: false)
        func name(_ index: Int, _ longest: Int) -> String? {
            SecretServicePath.decoded(parts[index], longest: longest)
        }
        func collection(_ index: Int = 1) -> String? {
            parts[index] == SecretServicePath.sessionFolder
                ? SecretServicePath.sessionName : name(index, SecretServicePath.longestCollection)
        }
        switch (parts.first, parts.count) {
        case ("collection", 2) where parts[1] == SecretServicePath.sessionName: self = .sessionCollection
        case ("collection", 3) where parts[1] == SecretServicePath.sessionName:
            guard let number = SecretServicePath.number(parts[2]) else { return nil }
            self = .sessionItem(number)
        case ("collection", 2):
            guard let collection = collection() else { return nil }
            self = .collection(collection)
        case ("collection", 3):
            guard let collection = collection(),
                let item = name(2, SecretServicePath.longestItem)
            else { return nil }
            self = .item(collection: collection, name: item)
        case ("aliases", 2):
            guard let alias = name(1, SecretServicePath.longestCollection) else { return nil }
            self = .alias(alias)
        case ("session", 2):
            guard let number = SecretServicePath.number(parts[1]) else { return nil }
            self = .session(number)
        case ("prompt", 2):
            guard let number = SecretServicePath.number(parts[1]) else { return nil }
            self = .prompt(number)
        case ("search", 2), ("search", 3):
            guard let text = name(1, SecretServicePath.longestQuestion),
                let attributes = SecretServiceAttributes(parsing: Array(text.utf8)),
                attributes.text.elementsEqual(text.utf8)
            else { return nil }
            let place = parts.count == 3 ? collection(2) : nil
            guard parts.count == 2 || place != nil, parts.last != SecretServicePath.sessionName[...] else { return nil }
            self = .found(attributes, in: place)
        default: return nil
        }
    }

    /// The path that stands for the answer to a search; nil for a search for everything, and for a long one.
    /// - Parameter collection: Where the search is; everywhere when nil.
    package init?(answering question: SecretServiceAttributes, in collection: String?) {
        guard !question.values.isEmpty, question.text.count <= SecretServicePath.longestQuestion else { return nil }
        self = .found(question, in: collection)
    }

    private static func number(_ text: Substring) -> UInt64? { UInt64(text).flatMap { String($0) == text ? $0 : nil } }

    package var text: String {
        let root = SecretServicePath.root
        switch self {
        case .service: return root
        case .collection(let name): return "\(root)/collection/\(SecretServicePath.folder(name))"
        case .sessionCollection: return "\(root)/collection/\(SecretServicePath.sessionName)"
        case .sessionItem(let number): return "\(root)/collection/\(SecretServicePath.sessionName)/\(number)"
        case .alias(let name): return "\(root)/aliases/\(SecretServicePath.encoded(name))"
        case .item(let collection, let name):
            return "\(root)/collection/\(SecretServicePath.folder(collection))/\(SecretServicePath.encoded(name))"
        case .session(let number): return "\(root)/session/\(number)"
        case .prompt(let number): return "\(root)/prompt/\(number)"
        case .found(let attributes, let collection):
            let text = String(decoding: attributes.text, as: UTF8.self)
            let place = collection.map { "/" + SecretServicePath.folder($0) } ?? ""
            return "\(root)/search/\(SecretServicePath.encoded(text))\(place)"
        }
    }

    /// By their bytes: a path is ASCII, and names that only look alike have different ones.
    package static func == (left: SecretServicePath, right: SecretServicePath) -> Bool { left.text == right.text }

    package func hash(into hasher: inout Hasher) { hasher.combine(text) }

    private static let digits = Array("0123456789abcdef".utf8)

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    private static func folder(_ name: String) -> String {
        name.utf8.elementsEqual(sessionName.utf8) ? sessionFolder : encoded(name)
    }

    private static func encoded(_ name: String) -> String {
        var bytes: [UInt8] = []
        for byte in name.utf8 {
            if isPlain(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "_"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func decoded(_ text: Substring, longest: Int) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if isPlain(byte) {
                bytes.append(byte)
                continue
            }
            guard byte == UInt8(ascii: "_"), let high = rest.popFirst().flatMap(digits.firstIndex(of:)),
                let low = rest.popFirst().flatMap(digits.firstIndex(of:))
            else { return nil }
            let value = UInt8(high << 4 | low)
            // What can stand for itself has no other form, and a zero byte is in no name.
            guard value != 0, !isPlain(value) else { return nil }
            bytes.append(value)
        }
        guard !bytes.isEmpty, bytes.count <= longest else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}
