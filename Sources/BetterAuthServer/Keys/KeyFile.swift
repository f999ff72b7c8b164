package import BetterAuthMessages
package import Cryptography
internal import SecretMemory
internal import SystemCalls

/// The server's keys in a file that only its owner reads, where wanted sealed to the machine.
package struct KeyFile: Sendable {
    private static let largest = 8192
    package let path: String
    /// What errors call it.
    let name: String
    private let protection: KeyProtection

    /// - Parameter name: What errors call it; nil for its path.
    package init(_ path: String, _ protection: KeyProtection = .file, named name: String? = nil) {
        self.path = path
        self.name = name ?? path
        self.protection = protection
    }

    /// Why the file gives no keys.
    package enum Failure: Error, Sendable, CustomStringConvertible {
        /// There is no such file.
        case missing(String)
        case system(String, Int32)
        /// Others may read it.
        case exposed(String)
        case damaged(String)
        /// A later version of the program wrote it.
        case newer(String)
        /// It has no room for another key; it is as it was.
        case full(String)
        /// What was to take its place could not be read again; it is as it was.
        case unreadable(String)
        /// Another process changes it, and does not end.
        case busy(String)
        /// Its keys are sealed, but no key store was named.
        case sealed(String)
        /// Its keys are not sealed, as they should be.
        case plain(String)
        /// The chip did not do its part; its own words.
        case seal(String, String)
        case cryptography(CryptographyError)

        package var description: String {
            switch self {
            case .missing(let path): "\(path) does not exist"
            case .system(let path, let number): "\(path): \(SystemError(number))"
            case .exposed(let path): "\(path) can be read by other users"
            case .damaged(let path): "\(path) is no file of server keys"
            case .newer(let path): "\(path) was written by a later version of the program"
            case .full(let path): "\(path) has as many keys as it can have; it was not changed"
            case .unreadable(let path): "what was to be written to \(path) cannot be read again; it was not changed"
            case .busy(let path): "another process is changing \(path), and does not end"
            case .sealed(let path): "\(path) has sealed keys, and nothing was named that unseals them"
            case .plain(let path): "\(path) has keys that are not sealed"
            case .seal(let path, let reason): "\(path): \(reason)"
            case .cryptography(.memory(_)): "there is no locked memory for the keys"
            case .cryptography: "the keys cannot be made"
            }
        }
    }

    /// The keys of the file.
    /// - Parameters:
    ///   - responseLifetime: Milliseconds for which a response counts after its key was replaced.
    ///   - accessLifetime: The same for tokens.
    /// - Throws: ``Failure``.
    package func load(responseLifetime: Int64, accessLifetime: Int64) throws(Failure) -> ServerKeys {
        guard let file = try open() else { throw .missing(name) }
        let status: stat
        do throws(SystemError) { status = try file.status() } catch { throw .system(name, error.number) }
        guard KeyFile.mayBeOne(status) else { throw .damaged(name) }
        return try named { () throws in
            let whole = try read(file, Int(status.st_size))
            // What has no keys has none that others may have read.
            guard KeyFile.isOne(whole) else { throw KeyFile.isLater(whole) ? Failure.newer(name) : .damaged(name) }
            guard status.st_mode & 0o077 == 0 else { throw Failure.exposed(name) }
            if let contents = try opened(whole) { return try parse(contents, responseLifetime, accessLifetime) }
            return try parse(whole, responseLifetime, accessLifetime)
        }
    }

    /// The keys of the file; where there is none, fresh ones, which are kept in it first. Of processes that do so at
    /// the same time one makes them, and all have the same.
    /// - Parameter moment: Since when fresh keys are in use: the present, for keys that have an age.
    /// - Returns: The keys, and whether they are new.
    /// - Throws: ``Failure``.
    package func loadOrCreate(
        responseLifetime: Int64, accessLifetime: Int64, usedFrom moment: Timestamp
    ) throws(Failure) -> (keys: ServerKeys, isNew: Bool) {
        while true {
            do throws(Failure) {
                return (try load(responseLifetime: responseLifetime, accessLifetime: accessLifetime), false)
            } catch {
                guard case .missing = error else { throw error }
            }
            let keys = try KeyFile.fresh(responseLifetime, accessLifetime, moment)
            if try write(keys, isFirst: true) { return (keys, true) }
        }
    }

    /// Changes the keys of the file as they are then: of several that do so at the same time none is lost.
    /// - Parameter change: Returns whether there is something to be written.
    /// - Returns: The keys of the file as it is afterwards.
    /// - Throws: ``Failure``.
    package func update(
        responseLifetime: Int64, accessLifetime: Int64, _ change: (ServerKeys) throws(CryptographyError) -> Bool
    ) throws(Failure) -> ServerKeys {
        let folder = try lockedFolder()
        defer { flock(folder.number, LOCK_UN) }
        let keys = try load(responseLifetime: responseLifetime, accessLifetime: accessLifetime)
        let isChanged: Bool
        do throws(CryptographyError) { isChanged = try change(keys) } catch { throw .cryptography(error) }
        if isChanged { try save(keys) }
        return keys
    }

    /// The folder of the file, which nobody else changes keys in until its lock is let go.
    private func lockedFolder() throws(Failure) -> OwnedDescriptor {
        do throws(SystemError) {
            return try FolderLock.acquire(Paths.parent(of: path))
        } catch { throw error.number == EWOULDBLOCK ? .busy(name) : .system(name, error.number) }
    }

    private static func mayBeOne(_ status: stat) -> Bool {
        status.st_mode & mode_t(S_IFMT) == mode_t(S_IFREG) && (1...largest).contains(Int(status.st_size))
    }

    /// Whether it begins as one of the two forms does.
    private static func isOne(_ contents: borrowing SecretBytes) -> Bool {
        let start = contents.withBytes { bytes in
            unsafe bytes.withUnsafeBytes { unsafe Array($0.prefix(max(mark.count, KeySealing.mark.count))) }
        }
        return start.starts(with: mark) || KeySealing.isSealed(start)
    }

    /// Whether it begins as one of the two forms does, but for the number of its version.
    private static func isLater(_ contents: borrowing SecretBytes) -> Bool {
        let start = contents.withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0.prefix(mark.count)) } }
        return [mark, KeySealing.mark].contains { start.starts(with: $0.dropLast(2)) }
    }

    /// Nil where there is none. A pipe with that name is not waited for.
    private func open() throws(Failure) -> OwnedDescriptor? {
        do throws(SystemError) { return try OwnedDescriptor(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) } catch {
            guard error.number == ENOENT else { throw .system(name, error.number) }
            return nil
        }
    }

    /// When the file was last written; nil when there is none.
    package var changed: Timestamp? {
        version.map {
            // A file system may say any number.
            let (moment, isTooLarge) = Int64($0[1]).multipliedReportingOverflow(by: 1000)
            return Timestamp(clamping: isTooLarge ? $0[1] < 0 ? .min : .max : moment)
        }
    }

    /// Something that changes whenever the file is replaced; nil when it cannot be told.
    package var version: [Int]? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        #if canImport(Glibc) && !canImport(Darwin)
        let changed = status.st_mtim
        #else
        let changed = status.st_mtimespec
        #endif
        return [Int(truncatingIfNeeded: status.st_ino), Int(changed.tv_sec), Int(changed.tv_nsec)]
    }

    private static func fresh(
        _ responseLifetime: Int64, _ accessLifetime: Int64, _ moment: Timestamp
    ) throws(Failure) -> ServerKeys {
        do throws(CryptographyError) {
            return ServerKeys(
                response: KeySchedule(try .generate(), usedFrom: moment, lifetime: responseLifetime),
                access: KeySchedule(try .generate(), usedFrom: moment, lifetime: accessLifetime))
        } catch { throw .cryptography(error) }
    }

    /// Errors of the libraries, as those of this file.
    private func named<Value: ~Copyable>(_ body: () throws -> Value) throws(Failure) -> Value {
        do { return try body() } catch let error as Failure {
            throw error
        } catch let error as SecretMemoryError {
            throw .cryptography(.memory(error))
        } catch let error as CryptographyError {
            if case .memory = error { throw .cryptography(error) }
            throw .damaged(name)
        } catch { throw .seal(name, "\(error)") }
    }

    private func read(_ file: borrowing OwnedDescriptor, _ size: Int) throws -> SecretBytes {
        var contents = try SecretBytes(zeroed: size)
        do throws(SystemError) {
            let count = try contents.withMutableBytes { bytes throws(SystemError) in try file.read(into: &bytes) }
            guard count == size else { throw SystemError(EIO) }
        } catch { throw Failure.system(name, error.number) }
        return contents
    }

    /// What was sealed in the file; nil for one that is not sealed and need not be.
    private func opened(_ whole: borrowing SecretBytes) throws -> SecretBytes? {
        let start = whole.withBytes { bytes in
            unsafe bytes.withUnsafeBytes { unsafe Array($0.prefix(KeySealing.mark.count)) }
        }
        guard KeySealing.isSealed(start) else {
            if case .sealed = protection { throw Failure.plain(name) }
            return nil
        }
        guard let seal = protection.seal else { throw Failure.sealed(name) }
        // Nothing in it is secret.
        let file = whole.withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } }
        guard let contents = try KeySealing.open(file, with: seal) else { throw Failure.damaged(name) }
        return contents
    }

    /// Copies the file as it is, durably, for its owner alone.
    /// - Parameters:
    ///   - target: A file that does not exist yet.
    ///   - place: The path that it will have; nil for the one it has.
    /// - Throws: ``Failure``.
    package func copy(to target: String, for place: String? = nil) throws(Failure) {
        guard let file = try open() else { throw .missing(name) }
        let status: stat
        do throws(SystemError) { status = try file.status() } catch { throw .system(name, error.number) }
        guard KeyFile.mayBeOne(status) else { throw .damaged(name) }
        let contents = try named { () throws in try read(file, Int(status.st_size)) }
        // Of a sealed one nothing but its form can be told on another machine.
        let isNew = try contents.withBytes { bytes throws(Failure) in
            try KeyFile(target).put(bytes, true, for: place) { _ throws(Failure) in }
        }
        guard isNew else { throw .system(target, EEXIST) }
    }

    /// Replaces the file as a whole, durably.
    /// - Throws: ``Failure``.
    package func save(_ keys: ServerKeys) throws(Failure) { _ = try write(keys, isFirst: false) }

    /// - Parameter isFirst: Whether a file that is there stays as it is.
    /// - Returns: Whether it was written.
    private func write(_ keys: ServerKeys, isFirst: Bool) throws(Failure) -> Bool {
        let contents = try named { () throws -> SecretBytes in try self.contents(of: keys) }
        func check(_ written: String) throws(Failure) { try expect(keys, in: written) }
        if let seal = protection.seal {
            let file = try named { () throws in try KeySealing.seal(contents, with: seal) }
            return try unsafe put(file.span.bytes, isFirst, check)
        }
        return try contents.withBytes { bytes throws(Failure) in try put(bytes, isFirst, check) }
    }

    /// Reads a file that is to take the place of this one, as it will be read there.
    private func expect(_ keys: ServerKeys, in written: String) throws(Failure) {
        let found: ServerKeys
        do throws(Failure) {
            found = try KeyFile(written, protection, named: name).load(responseLifetime: 0, accessLifetime: 0)
        } catch {
            guard case .damaged = error else { throw error }
            throw .unreadable(name)
        }
        guard found.mark == keys.mark, found.auditKeys.map(\.name) == keys.auditKeys.map(\.name) else {
            throw .unreadable(name)
        }
    }

    /// - Parameters:
    ///   - place: As for ``copy(to:for:)``.
    ///   - check: Called with the name of what was written, before it has its own.
    private func put(
        _ bytes: RawSpan, _ isFirst: Bool, for place: String? = nil, _ check: (String) throws(Failure) -> Void
    ) throws(Failure) -> Bool {
        // A name of its own: another process may be writing too.
        let temporary = "\(path).\(getpid()).\(UInt64.random(in: 0 ... .max))"
        defer { unsafe unlink(temporary) }
        KeyLeftovers.remove(beside: path)
        do throws(SystemError) {
            let file = try NewFile.make(temporary, O_WRONLY, for: place ?? path)
            try file.write(bytes)
            try file.synchronize()
        } catch { throw .system(name, error.number) }
        try check(temporary)
        do throws(SystemError) {
            guard isFirst else {
                try renameDurably(temporary, to: path)
                return true
            }
            try uninterrupted { unsafe link(temporary, path) }
            try OwnedDescriptor(Paths.parent(of: path), O_RDONLY | O_DIRECTORY).synchronize()
            return true
        } catch {
            if isFirst, error.number == EEXIST { return false }
            throw .system(name, error.number)
        }
    }
}

/// Files that processes which were killed while they wrote keys have left beside them: `NAME.PROCESS.NUMBER`. They have
/// keys in them, which must not outlive those of the file.
enum KeyLeftovers {
    /// Seconds after which nobody is writing any more, also one in another container, whose processes are not seen.
    private static let age: Int64 = 60

    static func remove(beside path: String) {
        let folder = Paths.parent(of: path)
        let prefix = (path.split(separator: "/").last.map(String.init) ?? path) + "."
        guard let entries = unsafe opendir(folder) else { return }
        defer { unsafe closedir(entries) }
        while let entry = unsafe readdir(entries) {
            let bytes = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe Array($0.prefix { $0 != 0 }) }
            let name = String(decoding: bytes, as: UTF8.self)
            guard name.hasPrefix(prefix) else { continue }
            let parts = name.dropFirst(prefix.count).split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 2, let process = pid_t(parts[0]), process > 0, UInt64(parts[1]) != nil else {
                continue
            }
            if isLeft("\(folder)/\(name)", by: process) { unsafe unlink("\(folder)/\(name)") }
        }
    }

    private static func isLeft(_ path: String, by process: pid_t) -> Bool {
        var status = stat()
        guard unsafe lstat(path, &status) == 0, status.st_mode & mode_t(S_IFMT) == mode_t(S_IFREG) else { return false }
        #if canImport(Glibc) && !canImport(Darwin)
        let changed = status.st_mtim.tv_sec
        #else
        let changed = status.st_mtimespec.tv_sec
        #endif
        let isGone = process != getpid() && kill(process, 0) != 0 && errno == ESRCH
        return isGone && WallClock.milliseconds / 1000 - Int64(changed) > age
    }
}
