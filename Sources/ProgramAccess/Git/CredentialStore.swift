internal import ProgramProtocols
package import Items
package import SecretMemory
package import VaultCore
internal import VaultFormat
package import VaultStorage
internal import SystemCalls

/// Passwords of servers, as git's credential helpers keep them: one login for each account, under its address, in one
/// collection. Where that has no answer, a login elsewhere gives it, if the user allowed that (``AllowedLogin``); none
/// of these is ever changed or erased here.
package struct CredentialStore: Sendable {
    /// Where they are unless another collection is named.
    package static let defaultCollection = "git"

    private let vault: Vault
    private let items: ItemStore
    private let collection: String

    private static let expiryLabel = "password expiry"
    private static let refreshLabel = "OAuth refresh token"

    package init(_ vault: Vault, _ items: ItemStore, collection: String) {
        self.vault = vault
        self.items = items
        self.collection = collection
    }

    /// The lines that answer a question: user, password, and what else was stored with it. Empty where nothing answers.
    ///
    /// The longest path wins, then what was changed last; a login elsewhere comes after those of the collection. What
    /// has expired is not an answer, and neither is what a program stored over the session bus: it is not what git or
    /// the user put there.
    /// - Parameter check: Looks at an item, its name and collection before it is the answer.
    /// - Throws: What reading items and `check` throw; `invalidItem` for an invalid question.
    package func get(
        _ question: RawSpan,
        _ check: (borrowing Item, _ name: String, _ collection: String) throws(VaultError) -> Void = { _, _, _ in }
    ) throws(VaultError) -> SecretBytes {
        guard let wanted = try attributes(question).address else { return try empty() }
        var found: [(address: CredentialAddress, rank: Int, modified: Int64, name: String)] = []
        for record in try vault.records(in: collection) {
            guard let address = CredentialAddress(name: record.name), let rank = address.rank(for: wanted) else {
                continue
            }
            found.append((address, rank, record.modified, record.name))
        }
        found.sort { ($0.rank, $0.modified, $0.name) > ($1.rank, $1.modified, $1.name) }
        for one in found {
            let item = try items.item(one.name, in: collection)
            guard !item.isOfSecretService, !isOver(item) else { continue }
            guard let answer = try answer(item, one.address) else { continue }
            try check(item, one.name, collection)
            return answer
        }
        let elsewhere: SecretBytes? = try allowed(for: wanted) { (item, record) throws(VaultError) in
            guard !isOver(item), let answer = try answer(item, wanted) else { return nil }
            try check(item, record.name, record.collection)
            return answer
        }
        switch consume elsewhere {
        case .some(let answer): return answer
        case .none: return try empty()
        }
    }

    /// The first that is made of a login elsewhere that answers a question; the one that was changed last comes first.
    private func allowed<R: ~Copyable>(
        for wanted: CredentialAddress, _ body: (borrowing Item, ItemStore.Match) throws(VaultError) -> R?
    ) throws(VaultError) -> R? {
        guard let server = wanted.server, let tag = AllowedLogin.tag(for: server) else { return nil }
        let found = try items.search(ItemQuery("#" + tag)).filter { match in
            !match.collection.utf8.elementsEqual(collection.utf8)
                && !EntryPath(collection: match.collection, name: match.name).isReserved
        }
        for match in found.sorted(by: { ($0.modified, $0.name) > ($1.modified, $1.name) }) {
            // One that cannot be read keeps nobody from the others.
            let item: Item
            do throws(VaultError) { item = try items.item(match.name, in: match.collection) } catch {
                guard error.code != .locked else { throw error }
                continue
            }
            guard AllowedLogin.isAllowed(item, for: server), isFor(wanted.user, item) else { continue }
            if let result = try body(item, match) { return result }
        }
        return nil
    }

    /// Whether a login is of the user that a question names.
    private func isFor(_ user: String?, _ item: borrowing Item) -> Bool {
        guard let user else { return true }
        guard let field = item.field("username") else { return false }
        let bytes = Array(user.utf8)
        return item.withValue(of: field) { unsafe constantTimeEquals($0, bytes.span.bytes) }
    }

    /// Keeps a password; what was there for this account is changed. Incomplete attributes are ignored, as git asks
    /// for, and so are those with a path that no account can have
    /// (``ProgramProtocols/CredentialAddress/leadsElsewhere``), and what git got of a login elsewhere and says to be
    /// right.
    /// - Throws: As ``get(_:)``, and what storing throws; `invalidItem` where a program has stored an item of this name
    ///   over the session bus, which would get the password.
    package func store(_ bytes: RawSpan) throws(VaultError) {
        let attributes = try attributes(bytes)
        guard let address = attributes.address, address.user != nil || address.isFile, !address.leadsElsewhere,
            let password = attributes.password
        else { return }
        // One that asks is not even compared: what is stored would tell whether it was that. One that has expired was
        // no answer.
        let isKnown: Bool? = try allowed(for: address) { (item, _) throws(VaultError) in
            guard !isOver(item) else { return nil }
            guard item.askRule == .never, let field = item.field("password") else { return true }
            return item.withValue(of: field) { constantTimeEquals($0, bytes.extracting(password)) } ? true : nil
        }
        guard isKnown == nil else { return }
        func fill(_ item: inout Item) throws(VaultError) {
            if let user = address.user { try item.put(.text, "username", Array(user.utf8)) }
            try item.put(.secret, "password", bytes: bytes.extracting(password))
            let path = address.path.map { "/" + $0 } ?? ""
            let url = address.isFile ? address.name : "\(address.scheme)://\(address.host)\(path)"
            try item.put(.url, "url", Array(url.utf8))
            try item.put(.text, CredentialStore.expiryLabel, attributes.expiry.map { Array("\($0)".utf8) })
            if let token = attributes.refreshToken {
                try item.put(.secret, CredentialStore.refreshLabel, bytes: bytes.extracting(token))
            }
        }
        do {
            if try vault.contains(address.name, in: collection) {
                try items.change(address.name, in: collection) { item in
                    guard !item.isOfSecretService else {
                        throw VaultError(
                            .invalidItem,
                            "a program stored an entry under this account's name over the session bus; rename or remove it"
                        )
                    }
                    try fill(&item)
                }
            } else {
                var item = try Item(.login)
                try fill(&item)
                try items.add(item, as: address.name, in: collection)
            }
        } catch { throw VaultError(any: error) }
    }

    /// Moves what is stored for an account to the trash: for this very address, with the same path or none, or what git
    /// tries on one repository would cost the accounts of all. Where a password is named, only one that is the same:
    /// another program may have stored a better one.
    /// - Parameter check: As of ``get(_:_:)``, before a password is compared: what is erased tells whether it was that.
    /// - Throws: As ``get(_:_:)``, and what the trash throws.
    package func erase(
        _ bytes: RawSpan,
        _ check: (borrowing Item, _ name: String, _ collection: String) throws(VaultError) -> Void = { _, _, _ in }
    ) throws(VaultError) {
        let attributes = try attributes(bytes)
        guard let wanted = attributes.address else { return }
        for record in try vault.records(in: collection) {
            guard let address = CredentialAddress(name: record.name), address.isNamed(by: wanted) else { continue }
            let item = try items.item(record.name, in: collection)
            guard !item.isOfSecretService else { continue }
            if let password = attributes.password {
                guard let field = item.field("password") else { continue }
                try check(item, record.name, collection)
                let isSame = item.withValue(of: field) { constantTimeEquals($0, bytes.extracting(password)) }
                guard isSame else { continue }
            }
            try items.trash(record.name, in: collection)
        }
    }

    private func attributes(_ bytes: RawSpan) throws(VaultError) -> CredentialAttributes {
        do throws(CredentialError) { return try CredentialAttributes(parsing: bytes) } catch {
            throw VaultError(.invalidItem, error.words)
        }
    }

    /// Whether a password has expired.
    private func isOver(_ item: borrowing Item) -> Bool {
        guard let field = item.field(CredentialStore.expiryLabel) else { return false }
        return item.withValue(of: field, CredentialStore.seconds).map { $0 <= WallClock.milliseconds / 1000 } ?? false
    }

    /// Seconds since 1970; nil for any other text, of which git would read the first digits as such.
    private static func seconds(_ value: RawSpan) -> Int64? {
        let text = unsafe value.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
        return Int64(text).flatMap { $0 >= 0 && String($0) == text ? $0 : nil }
    }

    /// Nil where a value cannot stand in a line.
    private func answer(_ item: borrowing Item, _ address: CredentialAddress) throws(VaultError) -> SecretBytes? {
        var lines = try SecretLines()
        let fields = [
            ("username", "username"), ("password", "password"), ("password_expiry_utc", CredentialStore.expiryLabel),
            ("oauth_refresh_token", CredentialStore.refreshLabel),
        ]
        for (key, label) in fields {
            guard let field = item.field(label) else { continue }
            let isLine = try item.withValue(of: field) { value throws(VaultError) in
                guard value.byteCount > 0 || (key == "username" && address.user != nil), !value.hasLineEnd,
                    label != CredentialStore.expiryLabel || CredentialStore.seconds(value) != nil
                else {
                    return false
                }
                try lines.append(key, value)
                return true
            }
            if !isLine, label == "password" { return nil }
        }
        guard item.field("password") != nil else { return nil }
        if item.field("username") == nil, let user = address.user {
            let user = Array(user.utf8)
            guard unsafe !user.span.bytes.hasLineEnd else { return nil }
            try unsafe lines.append("username", user.span.bytes)
        }
        return try lines.lines()
    }

    private func empty() throws(VaultError) -> SecretBytes {
        do throws(SecretMemoryError) { return try SecretBytes(zeroed: 0) } catch { throw VaultError(error) }
    }
}

extension Item {
    /// Changes the field with this label, adds it, or removes it where there is no value.
    fileprivate mutating func put(_ kind: FieldKind, _ label: String, _ value: [UInt8]?) throws(VaultError) {
        guard let value else {
            if let field = field(label) { try remove(field) }
            return
        }
        try unsafe put(kind, label, bytes: value.span.bytes)
    }
}

/// Lines `key=value` in locked memory.
struct SecretLines: ~Copyable {
    private var bytes: SecretBytes
    private var count = 0

    init() throws(VaultError) {
        do throws(SecretMemoryError) { bytes = try SecretBytes(zeroed: CredentialAttributes.longest) } catch {
            throw VaultError(error)
        }
    }

    mutating func append(_ key: String, _ value: RawSpan) throws(VaultError) {
        let key = Array(key.utf8) + [UInt8(ascii: "=")]
        let start = count
        guard start + key.count + value.byteCount + 1 <= bytes.count else {
            throw VaultError(.tooLarge, "the stored credential is too large")
        }
        bytes.withMutableBytes { bytes in
            unsafe bytes.store(key.span.bytes, at: start)
            bytes.store(value, at: start + key.count)
            bytes.storeBytes(
                of: UInt8(ascii: "\n"), toByteOffset: start + key.count + value.byteCount, as: UInt8.self)
        }
        count += key.count + value.byteCount + 1
    }

    borrowing func lines() throws(VaultError) -> SecretBytes {
        do throws(SecretMemoryError) { return try bytes.copy(0..<count) } catch { throw VaultError(error) }
    }
}

extension RawSpan {
    /// Whether it could be mistaken for two lines.
    fileprivate var hasLineEnd: Bool {
        (0..<byteCount).contains { offset in
            let byte = present(at: offset, as: UInt8.self)
            return byte == 0 || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
        }
    }
}
