internal import Cryptography
internal import Items
internal import OneTimeCodes
internal import SecretMemory
internal import SystemCalls
internal import VaultCore
internal import VaultFormat
internal import VaultStorage

/// Compares items by digests of their fields. A digest of a secret could be guessed; under a key that is gone with the
/// comparison it cannot.
struct ItemComparison: ~Copyable {
    private let key: SecretBytes

    init() throws(VaultError) { key = try crypto(SecureRandom.secret(32)) }

    /// What an item has.
    struct Content {
        let kind: ItemKind
        let isFavourite: Bool
        /// Nil where nobody says it.
        let modified: Int64?
        /// Nil where a file does not say it.
        let created: Int64?
        let tags: Set<String>
        /// Of each field, and of the notes: what it is called, and a digest of that and of its value.
        fileprivate let parts: [(label: String, digest: Digest)]
        fileprivate let earlier: Set<Digest>
        /// Whether there is room for no more earlier values.
        fileprivate let isHistoryFull: Bool
        /// A sum of all of these, in whatever order: what has the same parts has the same.
        let whole: UInt64
        /// What tells an account from others of the same title; nil without a user name.
        let account: Digest?

        /// Whether it is another version of an item at the same path: of the same account, of one that had the name
        /// before, or of one that had none and nothing else.
        func isVersion(of stored: Content) -> Bool {
            guard let name = stored.account else {
                return account == nil || Set(stored.parts.map(\.digest)).isSubset(of: parts.map(\.digest))
            }
            return account == name || earlier.contains(name)
        }

        /// Whether it is an item at the same path whose user name was changed: of the same kind, made in the same
        /// millisecond, and with something else that is the same. The first year of the clock is no time.
        func isRenamed(_ stored: Content) -> Bool {
            guard let created, created > Content.firstYear, created == stored.created, kind == stored.kind,
                let account, let other = stored.account
            else { return false }
            let known = Set(stored.parts.map(\.digest)).subtracting([other])
            return parts.contains { $0.digest != account && known.contains($0.digest) }
        }

        private static let firstYear: Int64 = 366 * 86_400_000
    }

    func content(of item: borrowing Item, created: Int64?, modified: Int64?) throws(VaultError) -> Content {
        var parts: [(String, Digest)] = []
        var account: Digest?
        for field in item.fields {
            let digest = try item.withValue(of: field) { value throws(VaultError) in
                try self.digest(field.label, field.kind, value)
            }
            parts.append((field.label, digest))
            if account == nil, field.label.lowercased() == "username" { account = digest }
        }
        let notes = try item.withNotes { notes throws(VaultError) in try digest("notes", nil, notes) }
        if let notes { parts.append(("notes", notes)) }
        var earlier: Set<Digest> = []
        for value in item.history {
            earlier.insert(
                try item.withValue(of: value) { bytes throws(VaultError) in
                    try self.digest(value.label, value.kind, bytes)
                })
        }
        return Content(
            kind: item.kind, isFavourite: item.isFavourite, modified: modified, created: created, tags: Set(item.tags),
            parts: parts, earlier: earlier, isHistoryFull: item.history.count >= ItemLimits.history,
            whole: parts.reduce(0) { sum, part in sum &+ part.1.withBytes { $0.present(at: 0, as: UInt64.self) } },
            account: account)
    }

    /// What of a file's item a vault's item has not: labels, and words for what is no field; empty where it has all. An
    /// earlier value counts as there for a file's item that was changed before the vault's. What only the vault has is
    /// told of where the file's item was changed after it.
    static func difference(of item: Content, from stored: Content) -> [String] {
        var there: [Digest: Int] = [:]
        for part in stored.parts { there[part.digest, default: 0] += 1 }
        var found: [String] = []
        let isNewer = item.modified.map { $0 > stored.modified ?? .min }
        for part in item.parts {
            if let count = there[part.digest], count > 0 {
                there[part.digest] = count - 1
            } else if isNewer ?? true || !stored.earlier.contains(part.digest) {
                if !found.contains(part.label) { found.append(part.label) }
            }
        }
        if isNewer ?? false {
            for part in stored.parts where there[part.digest, default: 0] > 0 && !found.contains(part.label) {
                there[part.digest, default: 0] -= 1
                found.append("\(part.label) (only in the vault)")
            }
        }
        let known = stored.earlier.union(stored.parts.map(\.digest))
        if !stored.isHistoryFull, !item.earlier.isSubset(of: known) { found.append("history") }
        if !item.tags.isSubset(of: stored.tags) { found.append("tags") }
        if item.isFavourite, !stored.isFavourite { found.append("favourite") }
        return found
    }

    /// Under the key, of the size of a label, the label and a value. Which of the kinds of fields it is does not
    /// count, but a code is the same however its settings are written.
    private func digest(_ label: String, _ kind: FieldKind?, _ value: RawSpan) throws(VaultError) -> Digest {
        let label = label.lowercased()
        switch kind == .oneTimeCode ? try? OneTimeCode(parsing: value).text() : nil {
        case .none: return try digest(label, value)
        case .some(let text):
            return try text.withBytes { text throws(VaultError) in try digest(label, text) }
        }
    }

    private func digest(_ label: String, _ value: RawSpan) throws(VaultError) -> Digest {
        var front: [UInt8] = []
        for shift in 0..<4 { front.append(UInt8(truncatingIfNeeded: label.utf8.count >> (8 * shift))) }
        front += label.utf8
        let message: SecretBytes
        do throws(SecretMemoryError) {
            message = try SecretBytes(count: front.count + value.byteCount) { bytes in
                bytes.store(unsafe front.span.bytes, at: 0)
                bytes.store(value, at: front.count)
            }
        } catch { throw VaultError(error) }
        defer { WorkingMemory.wipe() }
        return try message.withBytes { message throws(VaultError) in
            try key.withBytes { key throws(VaultError) in
                try crypto(BLAKE3.keyedHash(message, key: key))
            }
        }
    }
}
