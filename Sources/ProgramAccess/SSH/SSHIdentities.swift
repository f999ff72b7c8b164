internal import ProgramProtocols
package import Items
internal import SecretMemory
internal import VaultCore
internal import VaultFormat
package import VaultStorage

/// The keys of SSH that are in items: of kind ``VaultFormat/ItemKind/sshKey``, with OpenSSH's text of the private key
/// in the field `private key`, without a passphrase: the vault encrypts it; or with a key in the TPM in the field
/// `TPM key`.
package struct SSHIdentities: Sendable {
    package static let privateLabel = "private key"
    package static let publicLabel = "public key"
    /// Keys that are offered, at most: a server turns away a client that tries many.
    package static let most = 64

    private let items: ItemStore

    package init(_ items: ItemStore) { self.items = items }

    /// What is shown to a program.
    package struct Offer: Sendable {
        package fileprivate(set) var keys: [SSHKey] = []
        /// Public keys that stay on this machine, whatever else has them.
        package fileprivate(set) var withheld: Set<[UInt8]> = []
    }

    /// All keys that can be read, by name; items that hold no key of a kind that is kept are left out.
    /// - Parameter forwarded: Whether a host asks that the agent was handed on to: keys with the tag `no-forwarding`
    ///   are not for it.
    /// - Throws: What a search throws.
    package func offer(forwarded: Bool) throws(VaultError) -> Offer {
        var offer = Offer()
        try forEach { (key, item, _, _) throws(VaultError) in
            if forwarded, item.isKeptFromForwarding {
                offer.withheld.insert(key.blob)
            } else if offer.keys.count < SSHIdentities.most {
                offer.keys.append(key)
            }
        }
        offer.keys.removeAll { offer.withheld.contains($0.blob) }
        return offer
    }

    /// The key that signs for a public key, nil where no item has it.
    /// - Parameter look: Is told each item that has the key, with that item's name and collection: what one of them
    ///   says of its key holds.
    /// - Throws: As ``offer(forwarded:)``, and what `look` throws; `notAllowed` for a key that stays on this machine.
    package func key(
        _ blob: [UInt8], forwarded: Bool,
        _ look: (borrowing Item, _ name: String, _ collection: String) throws(VaultError) -> Void
    ) throws(VaultError) -> SSHKey? {
        var found: SSHKey?
        try forEach { (key, item, name, collection) throws(VaultError) in
            guard key.blob == blob else { return }
            guard !forwarded || !item.isKeptFromForwarding else {
                throw VaultError(VaultError.Code(.notAllowed), "this SSH key has the tag \(GuardTag.forwarding)")
            }
            try look(item, name, collection)
            found = found ?? key
        }
        return found
    }

    private func forEach(
        _ body: (SSHKey, borrowing Item, _ name: String, _ collection: String) throws(VaultError) -> Void
    ) throws(VaultError) {
        for match in try items.search(ItemQuery("", kind: .sshKey)) {
            do throws(VaultError) {
                let item = try items.item(match.name, in: match.collection)
                let comment = EntryPath(collection: match.collection, name: match.name).spelled
                guard let key = try SSHIdentities.key(of: item, comment) else { continue }
                try body(key, item, match.name, match.collection)
            } catch  where error.code == .invalidItem || error.code == .recordNotFound {}
        }
    }

    /// Nil for an item without a key.
    private static func key(of item: borrowing Item, _ name: String) throws(VaultError) -> SSHKey? {
        if let field = item.field(privateLabel) {
            return try item.withValue(of: field) { text throws(VaultError) in try key(parsing: text, comment: name) }
        }
        guard let field = item.field(SSHChipKey.label) else { return nil }
        return try item.withValue(of: field) { bytes throws(VaultError) in
            try SSHKey(SSHChipKey(parsing: bytes), comment: name)
        }
    }

    /// Reads `-----BEGIN OPENSSH PRIVATE KEY-----`.
    /// - Throws: `invalidItem` for another text, for a key with a passphrase, and for a kind that is not kept.
    package static func key(parsing text: RawSpan, comment: String? = nil) throws(VaultError) -> SSHKey {
        guard let range = body(text) else { throw .noSSHKey }
        do {
            var bytes = SecretBuffer(limit: text.byteCount)
            guard try Base64.decode(text.extracting(range), skipsBlanks: true, into: &bytes) else {
                throw VaultError.noSSHKey
            }
            return try bytes.withBytes { bytes throws(VaultError) in
                let layout: SSHPrivateLayout
                do throws(SSHError) { layout = try SSHPrivateLayout(file: bytes) } catch {
                    switch error {
                    case .encrypted: throw .encryptedSSHKey
                    case .otherKey:
                        throw VaultError(.invalidItem, "only SSH keys of the kinds Ed25519 and ECDSA P-256 are kept")
                    case .truncated, .invalid: throw .noSSHKey
                    }
                }
                return try SSHKey(layout, in: bytes, comment: comment)
            }
        } catch { throw VaultError(any: error) }
    }

    /// Stores a key as an item.
    /// - Throws: As ``key(parsing:comment:)``; `recordExists` and what storing throws.
    /// - Returns: The public key in one line.
    package func add(_ text: RawSpan, as name: String, in collection: String) throws(VaultError) -> String {
        let key = try SSHIdentities.key(parsing: text)
        var item = try Item(.sshKey)
        try item.add(.secret, SSHIdentities.privateLabel, bytes: text)
        try unsafe item.add(.text, SSHIdentities.publicLabel, bytes: Array(key.line.utf8).span.bytes)
        try items.add(item, asNew: EntryPath(collection: collection, name: name))
        return key.line
    }

    /// What is between the first and the last line.
    private static func body(_ text: RawSpan) -> Range<Int>? {
        guard let begin = find(SSHPrivateFrame.begin, text, from: 0),
            let end = find(SSHPrivateFrame.end, text, from: begin.upperBound)
        else { return nil }
        return begin.upperBound..<end.lowerBound
    }

    private static func find(_ words: StaticString, _ text: RawSpan, from start: Int) -> Range<Int>? {
        var offset = start
        while offset + words.utf8CodeUnitCount <= text.byteCount {
            if text.extracting(offset..<text.byteCount).begins(with: words) {
                return offset..<offset + words.utf8CodeUnitCount
            }
            offset += 1
        }
        return nil
    }
}

extension VaultError {
    package static let noSSHKey = VaultError(.invalidItem, "this is no private key as OpenSSH writes it")
    package static let encryptedSSHKey = VaultError(.invalidItem, "this SSH key is encrypted with a passphrase")
}
