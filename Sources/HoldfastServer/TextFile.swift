internal import BetterAuthServer
internal import CommandLineArguments
internal import SecretMemory
internal import Synchronization
internal import SystemCalls

/// Files that the command line names.
enum TextFile {
    /// Bytes of a file that nothing else is said of.
    private static let largest = 1 << 20

    /// - Parameter most: The bytes that it may have, the same wherever it is written.
    static func read(_ path: String, most: Int = largest) throws(UsageError) -> String {
        try readWithMode(path, most: most).text
    }

    /// Reads a file with a secret, which strangers on this machine must not be able to read or change.
    /// - Parameter isSecret: Whether there is one in it after all.
    static func read(
        _ path: String, withSecret isSecret: (String) -> Bool
    ) throws(UsageError) -> String {
        let (text, mode) = try readWithMode(path)
        // A group may be let in, as systemd and Kubernetes do with what they hand over.
        guard mode & 0o007 == 0 || !isSecret(text) else {
            throw UsageError("\(path) can be read by other users; give it the mode 0600, and replace the secret in it")
        }
        return text
    }

    /// Bytes of a file whose first line is a secret.
    private static let largestSecret = 65_536

    /// The first line of a file, which may be a secret; then strangers must not be able to read or change the file.
    static func firstLine(
        _ path: String, withSecret isSecret: ([UInt8]) -> Bool
    ) throws(UsageError) -> SecretText {
        var line: [UInt8] = []
        defer { SecretText.wipe(&line) }
        let mode: mode_t
        do {
            let file = try opened(path)
            mode = try file.status().st_mode
            var contents = try SecretBytes(zeroed: largestSecret)
            var count = 0
            while count < largestSecret {
                let (number, start) = (file.number, count)
                let got = try contents.withMutableBytes { bytes throws(SystemError) in
                    try unsafe bytes.withUnsafeMutableBytes { buffer throws(SystemError) in
                        try uninterrupted {
                            unsafe SystemCalls.read(
                                number, buffer.baseAddress.map { unsafe $0 + start }, largestSecret - start)
                        }
                    }
                }
                if got == 0 { break }
                count += got
            }
            guard count < largestSecret else { throw UsageError("\(path) is too large") }
            line = contents.withBytes { bytes in
                unsafe bytes.withUnsafeBytes { unsafe Array($0[..<count].prefix { $0 != 0x0A }) }
            }
        } catch let error as SystemError {
            throw UsageError("\(path): \(error)", mayPass: true)
        } catch let error as UsageError {
            throw error
        } catch { throw noMemory }
        guard String(validating: line, as: UTF8.self) != nil else { throw UsageError("\(path) is not UTF-8") }
        // A group may be let in, as systemd and Kubernetes do with what they hand over.
        guard mode & 0o007 == 0 || !isSecret(line) else {
            throw UsageError("\(path) can be read by other users; give it the mode 0600, and replace the secret in it")
        }
        do throws(SecretMemoryError) { return try SecretText(wiping: &line) } catch { throw noMemory }
    }

    /// A text from a command line.
    static func secret(_ text: String) throws(UsageError) -> SecretText {
        do throws(SecretMemoryError) { return try SecretText(text) } catch { throw noMemory }
    }

    private static let noMemory = UsageError(
        "the limit of locked memory is too low: raise LimitMEMLOCK (ulimit -l) to 64 MiB", mayPass: true)

    /// Descriptors that the caller has handed over: a pipe among them is waited for.
    private static let handedOver = ["/dev/fd/", "/dev/stdin", "/proc/self/fd/"]

    /// Those that nothing is left in.
    private static let readOnce = Mutex<Set<String>>([])

    /// Opens a file to read it. A pipe with a name might never have a writer.
    private static func opened(_ path: String) throws(UsageError) -> OwnedDescriptor {
        do throws(SystemError) {
            guard !handedOver.contains(where: { path.hasPrefix($0) }) else {
                let file = try OwnedDescriptor(path, O_RDONLY)
                guard try file.status().st_mode & mode_t(S_IFMT) != mode_t(S_IFREG) else { return file }
                // It would be empty, and settings would be those of nobody.
                let isFirst = readOnce.withLock { $0.insert(path).inserted }
                guard isFirst else { throw SystemError(ESPIPE) }
                return file
            }
            let file = try OwnedDescriptor(path, O_RDONLY | O_NONBLOCK)
            if try file.status().st_mode & mode_t(S_IFMT) == mode_t(S_IFREG) { return file }
        } catch {
            guard error.number != ESPIPE else { throw UsageError("\(path) was read already; restart, or name a file") }
            throw UsageError("\(path): \(error)", mayPass: true)
        }
        throw UsageError("\(path) is no ordinary file")
    }

    private static func readWithMode(
        _ path: String, most: Int = largest
    ) throws(UsageError) -> (text: String, mode: mode_t) {
        let (contents, mode): ([UInt8], mode_t)
        let file = try opened(path)
        do throws(SystemError) {
            (contents, mode) = (try file.readPrefix(most + 1), try file.status().st_mode)
        } catch { throw UsageError("\(path): \(error)", mayPass: true) }
        guard contents.count <= most else { throw UsageError("\(path) is too large") }
        guard let text = String(validating: contents, as: UTF8.self) else { throw UsageError("\(path) is not UTF-8") }
        return (text, mode)
    }

    /// Replaces a file as a whole, durably.
    /// - Parameter most: As for ``read(_:most:)``: what could not be read again is not written.
    static func replace(_ path: String, _ contents: [UInt8], most: Int) throws(UsageError) {
        guard contents.count <= most else { throw UsageError("\(path) has no room for more; it was not changed") }
        let temporary = path + ".new"
        do throws(SystemError) {
            // Of a process that was killed.
            unsafe unlink(temporary)
            let file = try NewFile.make(temporary, O_WRONLY, for: path)
            try unsafe file.write(contents.span.bytes)
            try file.synchronize()
            try renameDurably(temporary, to: path)
        } catch {
            unsafe unlink(temporary)
            throw UsageError("\(path): \(error)", mayPass: true)
        }
    }
}
