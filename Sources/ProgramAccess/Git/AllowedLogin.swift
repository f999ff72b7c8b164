package import Items
package import ProgramProtocols
internal import VaultFormat

/// A login outside of git's collection, such as an imported one, that git gets for a server because the user allowed
/// it: the tag `git:example.org` says so. The tag stays with the login when that is renamed, backed up, exported and
/// imported, and no program writes it while the vault is locked.
package enum AllowedLogin {
    /// What the tag begins with.
    package static let mark = "git:"

    /// The tag that allows it; nil where a server's name is too long for a tag.
    package static func tag(for server: CredentialAddress) -> String? {
        let tag = mark + (server.scheme == "https" ? "" : server.scheme + "://") + server.host
        return tag.utf8.count <= ItemLimits.tag ? tag : nil
    }

    /// The server that a tag is for; nil for any other tag.
    package static func server(of tag: String) -> CredentialAddress? {
        guard tag.utf8.starts(with: mark.utf8),
            let server = CredentialAddress(serverOf: String(tag.dropFirst(mark.count))),
            AllowedLogin.tag(for: server)?.utf8.elementsEqual(tag.utf8) ?? false
        else { return nil }
        return server
    }

    /// Whether it is a login with an address on this server: the very host and port, encrypted where the server is, and
    /// nothing that a program stored over the session bus.
    package static func isPossible(_ item: borrowing Item, for server: CredentialAddress) -> Bool {
        guard !item.isOfSecretService, item.field("password") != nil else { return false }
        return item.fields.contains { field in
            guard field.kind == .url else { return false }
            let address = item.withValue(of: field) { value in
                unsafe value.withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
            }
            return address.flatMap { CredentialAddress(serverOf: $0) } == server
        }
    }

    /// Whether git gets it for this server.
    package static func isAllowed(_ item: borrowing Item, for server: CredentialAddress) -> Bool {
        guard let tag = tag(for: server) else { return false }
        return item.tags.contains { $0.utf8.elementsEqual(tag.utf8) } && isPossible(item, for: server)
    }
}
