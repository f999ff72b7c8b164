internal import Cryptography
internal import Items
internal import ProgramProtocols
internal import SecretMemory
internal import SystemCalls
internal import VaultFormat
internal import VaultStorage

/// The host where a program is about to log in, by the names that `known_hosts` has for its key. Its key was proved;
/// the names are believed, since they only choose what is offered.
package struct SSHHost: Sendable {
    package static let label = "hosts"

    private let names: [SSHKnownHosts.Name]

    /// Nil where no name is known.
    /// - Parameters:
    ///   - key: The host's public key.
    ///   - files: The files to look in.
    package init?(_ key: [UInt8], files: [String] = SSHHost.files) {
        let text = Base64.text(key)
        names = files.flatMap { path -> [SSHKnownHosts.Name] in
            // Not a pipe: nobody would write to it.
            guard let file = try? OwnedDescriptor(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC),
                let bytes = try? file.readAll(limit: SSHKnownHosts.longest)
            else { return [] }
            return SSHKnownHosts.names(of: text, in: bytes)
        }
        guard !names.isEmpty else { return nil }
    }

    /// Where ssh looks by itself.
    package static var files: [String] {
        let home = unsafe getenv("HOME").map { unsafe String(cString: $0) }
        return (home.map { ["\($0)/.ssh/known_hosts", "\($0)/.ssh/known_hosts2"] } ?? [])
            + ["/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"]
    }

    /// Whether a key is for this host, as its item says; perhaps for one that says nothing.
    func isWanted(_ item: borrowing Item) throws(VaultError) -> SSHHostPatterns.Answer {
        guard let field = item.field(SSHHost.label), field.kind.isOpen, field.size <= 4_096 else { return .perhaps }
        let text = item.withValue(of: field) { value in
            unsafe value.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
        }
        return SSHHostPatterns(text)?.answer(names, isName: SSHHost.isName) ?? .perhaps
    }

    private static func isName(_ text: String, _ salt: String, _ hash: String) -> Bool {
        guard let salt = bytes(salt), let hash = bytes(hash), !salt.isEmpty,
            let key = try? unsafe SecretBytes(copying: salt.span.bytes),
            let tag = try? unsafe OneTimeMAC.authenticate(Array(text.utf8).span.bytes, key: key, hash: .sha1)
        else { return false }
        return unsafe tag.isEqual(to: hash.span.bytes)
    }

    private static func bytes(_ text: String) -> [UInt8]? {
        var buffer = SecretBuffer(limit: 64)
        guard text.utf8.count <= 64, (try? unsafe Base64.decode(Array(text.utf8).span.bytes, into: &buffer)) == true
        else { return nil }
        return buffer.withBytes { $0.array(0..<$0.byteCount) }
    }
}
