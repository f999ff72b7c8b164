internal import AgentMessages
internal import Faces
internal import Holdfast
internal import SystemCalls

/// The file of an SSH key, without its passphrase.
enum SSHKeyFile {
    private static let longest = Request.keySizes.upperBound

    /// - Throws: A usage error for what is no key; a failure when it cannot be decrypted.
    static func read(_ path: String?) throws(CommandError) -> SecretBytes {
        let text = try content(path)
        do throws(VaultError) {
            _ = try text.withBytes { text throws(VaultError) in try SSHIdentities.key(parsing: text) }
            return text
        } catch {
            guard error.reason == VaultError.encryptedSSHKey.reason else { throw CommandError(error) }
        }
        return try decrypted(text)
    }

    private static func content(_ path: String?) throws(CommandError) -> SecretBytes {
        guard let path else { return try content(STDIN_FILENO) }
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .failure("input", "\(Escaping.name(path)): \(SystemError.last)") }
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

    /// Has ssh-keygen take the passphrase off a copy, in a folder of its own in memory: no library that we use derives keys as
    /// OpenSSH does (bcrypt_pbkdf). It asks on the terminal, or through `SSH_ASKPASS`.
    private static func decrypted(_ text: borrowing SecretBytes) throws(CommandError) -> SecretBytes {
        guard let runtime = try HomeFolder.runtime() else { throw .noPlace }
        var name = Array("\(runtime)/holdfast-key.XXXXXX".utf8CString)
        guard let made = unsafe mkdtemp(&name) else { throw .failure("system", "\(runtime): \(SystemError.last)") }
        let folder = unsafe String(cString: made)
        let file = folder + "/key"
        defer {
            unsafe unlink(file)
            unsafe rmdir(folder)
        }
        let copy = unsafe open(file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard copy >= 0 else { throw .failure("system", "\(folder): \(SystemError.last)") }
        defer { close(copy) }
        guard MemoryFiles.contains(copy) else { throw .noPlace }
        try text.withBytes { text throws(CommandError) in try Descriptors.write(text, to: copy) }
        guard let program = ProgramPath.find("ssh-keygen") else {
            throw .failure("notStarted", "ssh-keygen, which takes the passphrase off, is not installed")
        }
        let status = try ask(program, ["ssh-keygen", "-q", "-p", "-N", "", "-f", file])
        guard status == 0 else {
            throw CommandError(.refused, code: "wrongPasscode", "ssh-keygen did not decrypt the key")
        }
        // It may have written a new file in place of the copy.
        return try content(file)
    }

    private static func ask(_ program: String, _ words: [String]) throws(CommandError) -> Int32 {
        #if os(Linux) && !canImport(Darwin)
        var actions = unsafe posix_spawn_file_actions_t()
        #else
        var actions: posix_spawn_file_actions_t?
        #endif
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        // What it says is for the user; standard output is for the public key.
        unsafe posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO)
        var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        defer { unsafe arguments.forEach { unsafe free($0) } }
        var process: pid_t = 0
        let error = unsafe posix_spawn(&process, program, &actions, nil, &arguments, environ)
        guard error == 0 else { throw .failure("notStarted", "ssh-keygen: \(SystemError(error))") }
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) == -1, errno == EINTR {}
        return status
    }
}

extension CommandError {
    fileprivate static let noPlace = CommandError.failure(
        "system",
        "$XDG_RUNTIME_DIR is not a folder in memory, where the key could be decrypted; remove its passphrase with ssh-keygen -p"
    )
}
