internal import ProgramProtocols
package import Items
internal import SecretMemory
internal import VaultCore
internal import VaultFormat
package import VaultStorage

/// The keys of SSH that are in items: of kind ``VaultFormat/ItemKind/sshKey``, with the text of the private key in the
/// field `private key`, without a passphrase: the vault encrypts it; or with a key in the TPM in the field `TPM key`.
package struct SSHIdentities: Sendable {
    package static let privateLabel = "private key"
    package static let publicLabel = "public key"
    package static let certificateLabel = "certificate"
    /// Keys that are offered, at most: a server turns away a client that tries many.
    package static let most = 64

    private let items: ItemStore

    package init(_ items: ItemStore) { self.items = items }

    /// What is shown to a program.
    package struct Offer: Sendable {
        fileprivate struct Key {
            let blob: [UInt8]
            var certificates: [[UInt8]]
            let comment: String
            var isForHost: Bool
        }

        fileprivate var keys: [Key] = []
        /// Public keys that are not for whoever asks, whatever else has them.
        fileprivate var withheld: Set<[UInt8]> = []

        /// What a program is shown: what was added as well, and each key once. First come those that are for the host
        /// where the program logs in, since a host hears only a few; and a certificate before its key.
        package func list(
            with added: [SSHKey], hidden: Set<[UInt8]>
        ) -> [(blob: [UInt8], comment: String)] {
            let kept = keys.filter { !hidden.contains($0.blob) }
            func listed(_ keys: [Key]) -> [(blob: [UInt8], comment: String)] {
                keys.flatMap { key in (key.certificates + [key.blob]).map { ($0, key.comment) } }
            }
            let others = added.filter { !withheld.contains($0.blob) }.map { ($0.listed, $0.comment) }
            var seen: Set<[UInt8]> = []
            return (listed(kept.filter(\.isForHost)) + others + listed(kept.filter { !$0.isForHost }))
                .filter { seen.insert($0.blob).inserted }
        }
    }

    /// All keys that can be read, by name; items that hold no key of a kind that is kept are left out.
    /// - Parameters:
    ///   - forwarded: Whether a host asks that the agent was handed on to: keys with the tag `no-forwarding` are not
    ///     for it.
    ///   - host: Where the program is about to log in, if that is known: keys for other hosts are not for it.
    /// - Throws: What a search throws.
    package func offer(forwarded: Bool, at host: SSHHost? = nil) throws(VaultError) -> Offer {
        var offer = Offer()
        var elsewhere: Set<[UInt8]> = []
        try forEach { (key, item, _, _) throws(VaultError) in
            if forwarded, item.isKeptFromForwarding { offer.withheld.insert(key.blob) }
            let answer = try host?.isWanted(item) ?? .perhaps
            if answer == .no { elsewhere.insert(key.blob) }
            let certificates = [try SSHCertificate.blob(of: item, for: key)].compactMap(\.self)
            if let known = offer.keys.firstIndex(where: { $0.blob == key.blob }) {
                offer.keys[known].certificates += certificates
                offer.keys[known].isForHost = offer.keys[known].isForHost || answer == .yes
            } else if offer.keys.count < SSHIdentities.most {
                offer.keys.append(
                    Offer.Key(
                        blob: key.blob, certificates: certificates, comment: key.comment, isForHost: answer == .yes))
            }
        }
        offer.withheld.formUnion(elsewhere.subtracting(offer.keys.filter(\.isForHost).map(\.blob)))
        offer.keys.removeAll { offer.withheld.contains($0.blob) }
        return offer
    }

    /// The key that signs for a public key or a certificate, nil where no item has it.
    /// - Parameter look: Is told each item that has the key, with that item's name and collection: what one of them
    ///   says of its key holds.
    /// - Throws: As ``offer(forwarded:at:)``, and what `look` throws; `notAllowed` for a key that stays on this
    ///   machine.
    package func key(
        _ listed: [UInt8], forwarded: Bool,
        _ look: (borrowing Item, _ name: String, _ collection: String) throws(VaultError) -> Void
    ) throws(VaultError) -> SSHKey? {
        let plain = SSHPublicKey.plain(listed)
        var found: SSHKey?
        try forEach(plain) { (key, item, name, collection) throws(VaultError) in
            guard key.blob == plain else { return }
            guard !forwarded || !item.isKeptFromForwarding else {
                throw VaultError(VaultError.Code(.notAllowed), "this SSH key has the tag \(GuardTag.forwarding)")
            }
            try look(item, name, collection)
            let certificate = try SSHCertificate.blob(of: item, for: key)
            if found == nil, plain == listed || certificate == listed { found = key }
        }
        return found
    }

    /// - Parameter wanted: The one public key that is looked for; items with others may be left out.
    private func forEach(
        _ wanted: [UInt8]? = nil,
        _ body: (SSHKey, borrowing Item, _ name: String, _ collection: String) throws(VaultError) -> Void
    ) throws(VaultError) {
        for match in try items.search(ItemQuery("", kind: .sshKey)) {
            do throws(VaultError) {
                let item = try items.item(match.name, in: match.collection)
                let comment = EntryPath(collection: match.collection, name: match.name).spelled
                guard let key = try SSHIdentities.key(of: item, comment, wanted) else { continue }
                try body(key, item, match.name, match.collection)
            } catch  where error.code == .invalidItem || error.code == .recordNotFound {}
        }
    }

    /// Nil for an item without a key.
    static func key(
        of item: borrowing Item, _ name: String, _ wanted: [UInt8]? = nil
    ) throws(VaultError) -> SSHKey? {
        if let field = item.field(privateLabel) {
            return try item.withValue(of: field) { text throws(VaultError) in
                let text = try SSHKeyText(parsing: text, comment: name, wanted: wanted)
                return text.key
            }
        }
        guard let field = item.field(SSHChipKey.label) else { return nil }
        return try item.withValue(of: field) { bytes throws(VaultError) in
            try SSHKey(SSHChipKey(parsing: bytes), comment: name)
        }
    }

    /// Why an item that looks like a key is not offered, or not with its certificate; nil for every other.
    package static func problem(of item: borrowing Item) -> String? {
        guard item.kind == .sshKey else { return nil }
        do throws(VaultError) {
            guard let key = try key(of: item, "") else { return "it has no private key" }
            guard item.field(certificateLabel) != nil, try SSHCertificate.blob(of: item, for: key) == nil else {
                return nil
            }
            return "its certificate is none, or is for another key"
        } catch { return error.reason }
    }

    /// Stores a key as an item, with the certificate that is behind it in the text.
    /// - Throws: As ``SSHKeyText/init(parsing:comment:)``; `invalidItem` for what is behind it and no certificate of
    ///   it; `recordExists` and what storing throws.
    /// - Returns: The public key in one line.
    package func add(_ text: RawSpan, as name: String, in collection: String) throws(VaultError) -> String {
        let read = try SSHKeyText(parsing: text)
        let line = read.key.line
        var item = try Item(.sshKey)
        switch read.converted {
        case .some(let own): try item.add(.secret, SSHIdentities.privateLabel, own)
        case .none:
            // Its last line ends; what is around the key is not kept.
            var own = SecretBuffer()
            do throws(SecretMemoryError) {
                try own.append(text.extracting(read.range))
                try own.append("\n")
            } catch { throw VaultError(error) }
            try own.withBytes { own throws(VaultError) in
                try item.add(.secret, SSHIdentities.privateLabel, bytes: own)
            }
        }
        try unsafe item.add(.text, SSHIdentities.publicLabel, bytes: Array(line.utf8).span.bytes)
        let rest = text.extracting(read.range.upperBound..<text.byteCount)
        if !rest.isBlank { try SSHCertificate.set(rest, in: &item, for: read.key) }
        try items.add(item, asNew: EntryPath(collection: collection, name: name))
        return line
    }
}

/// A certificate of a key of SSH, in one line as `ssh-keygen -s` writes it.
package enum SSHCertificate {
    /// Bytes of such a line, at most.
    package static let longest = 12_288

    /// The certificate that an item has for its key; nil where it has none, or that of another key.
    static func blob(of item: borrowing Item, for key: SSHKey) throws(VaultError) -> [UInt8]? {
        guard let field = item.field(SSHIdentities.certificateLabel) else { return nil }
        return try item.withValue(of: field) { text throws(VaultError) in try blob(text, for: key) }
    }

    /// Puts a certificate into an item with its key.
    /// - Throws: `invalidItem` for a text that is no certificate of the item's key.
    package static func set(_ text: RawSpan, in item: inout Item) throws(VaultError) {
        guard item.kind == .sshKey, let key = try SSHIdentities.key(of: item, "") else {
            throw VaultError(.invalidItem, "this entry has no SSH key")
        }
        try set(text, in: &item, for: key)
    }

    static func set(_ text: RawSpan, in item: inout Item, for key: SSHKey) throws(VaultError) {
        guard try blob(text, for: key) != nil else {
            throw VaultError(.invalidItem, "this is no certificate of this SSH key for users")
        }
        var end = text.byteCount
        while end > 0, RawSpan.isBlank(text.present(at: end - 1, as: UInt8.self)) { end -= 1 }
        var start = 0
        while start < end, RawSpan.isBlank(text.present(at: start, as: UInt8.self)) { start += 1 }
        let line = text.extracting(start..<end)
        if let field = item.field(SSHIdentities.certificateLabel) {
            let value: SecretBytes
            do throws(SecretMemoryError) { value = try SecretBytes(copying: line) } catch { throw VaultError(error) }
            try item.set(field, value)
        } else {
            try item.add(.text, SSHIdentities.certificateLabel, bytes: line)
        }
    }

    private static func blob(_ text: RawSpan, for key: SSHKey) throws(VaultError) -> [UInt8]? {
        guard text.byteCount <= longest else { return nil }
        let words = (0..<text.byteCount).split { RawSpan.isBlank(text.present(at: $0, as: UInt8.self)) }
        guard words.count >= 2 else { return nil }
        do {
            var buffer = SecretBuffer(limit: longest)
            let part = text.extracting(words[1].startIndex..<words[1].endIndex)
            guard try Base64.decode(part, into: &buffer) else { return nil }
            return buffer.withBytes { bytes in
                guard let read = try? SSHPublicKey(parsing: 0..<bytes.byteCount, in: bytes), read.isCertificate,
                    read.blob(in: bytes) == key.blob
                else { return nil }
                return bytes.array(0..<bytes.byteCount)
            }
        } catch { throw VaultError(any: error) }
    }
}

extension RawSpan {
    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    fileprivate var isBlank: Bool { (0..<byteCount).allSatisfy { RawSpan.isBlank(present(at: $0, as: UInt8.self)) } }
}
