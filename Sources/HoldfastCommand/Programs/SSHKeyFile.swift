internal import AgentMessages
internal import ProgramAccess
internal import Holdfast
internal import SystemCalls

/// The file of an SSH key, without its passphrase.
enum SSHKeyFile {
    private static let longest = ProgramRequest.keySizes.upperBound

    /// The key, and behind it the certificate that lies beside its file.
    /// - Throws: A usage error for what is no key; a failure when it cannot be decrypted.
    static func read(_ path: String?) throws(CommandError) -> SecretBytes {
        let text = try content(path)
        let key = try isEncrypted(text) ? decrypted(text) : text
        guard let path, unsafe access("\(path)-cert.pub", F_OK) == 0 else { return key }
        Output.note("with the certificate \(Escaping.name("\(path)-cert.pub"))")
        let certificate = try content("\(path)-cert.pub")
        return try vaultCall {
            var both = SecretBuffer(limit: longest)
            try key.withBytes { key throws(SecretMemoryError) in try both.append(key) }
            try both.append("\n")
            try certificate.withBytes { certificate throws(SecretMemoryError) in try both.append(certificate) }
            return try both.bytes()
        }
    }

    private static func isEncrypted(_ text: borrowing SecretBytes) throws(CommandError) -> Bool {
        do throws(VaultError) {
            _ = try text.withBytes { text throws(VaultError) in try SSHKeyText(parsing: text) }
            return false
        } catch {
            guard error.reason == VaultError.encryptedSSHKey.reason else { throw CommandError(error) }
            return true
        }
    }

    /// A file, or standard input.
    static func content(_ path: String?) throws(CommandError) -> SecretBytes {
        guard let path else { return try content(STDIN_FILENO) }
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .failure(.input, "\(Escaping.name(path)): \(SystemError.last)") }
        defer { close(descriptor) }
        return try content(descriptor)
    }

    private static func content(_ descriptor: Int32) throws(CommandError) -> SecretBytes {
        var buffer = try secret(longest + 1)
        var size = 0
        while size < buffer.count {
            let got = try buffer.withMutableBytes { bytes throws(CommandError) in
                try bytes.withPart(size..<bytes.byteCount) { part throws(CommandError) in
                    try Descriptors.read(descriptor, into: &part)
                }
            }
            if got == 0 { break }
            size += got
        }
        guard size <= longest else { throw .usage("a private key has at most \(longest) bytes") }
        return try buffer.prefix(size)
    }

    /// Has ssh-keygen take the passphrase off a copy: no library that we use derives keys as OpenSSH does
    /// (bcrypt_pbkdf). It asks on the terminal, or through `SSH_ASKPASS`. The copy has no name, so nothing of it is
    /// left, however we end.
    private static func decrypted(_ text: borrowing SecretBytes) throws(CommandError) -> SecretBytes {
        guard let program = ProgramPath.find("ssh-keygen") else {
            throw .failure(.notStarted, "ssh-keygen, which takes the passphrase off, is not installed")
        }
        guard let copy = MemoryFiles.make() else {
            throw .failure(
                .system,
                "the key cannot be decrypted in memory: \(SystemError.last); remove its passphrase with ssh-keygen -p")
        }
        defer { close(copy) }
        try text.withBytes { text throws(CommandError) in try Descriptors.write(text, to: copy) }
        let words = [program, "-q", "-p", "-N", "", "-f", "/proc/self/fd/\(ChildProcess.file)"]
        // What it says is for the user; standard output is for the public key.
        var child = try ChildProcess(
            words, input: STDIN_FILENO, output: STDERR_FILENO, errors: STDERR_FILENO, file: copy)
        guard child.wait() == 0 else {
            throw CommandError(.refused, code: .wrongPasscode, "ssh-keygen did not decrypt the key")
        }
        guard lseek(copy, 0, SEEK_SET) == 0 else { throw .failure(.input, "the key: \(SystemError.last)") }
        return try content(copy)
    }
}
