internal import BetterAuthMessages
package import Cryptography
internal import SecretMemory

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The server's keys in a file that only its owner reads: a mark, then for each key its purpose (1), the moment of its
/// first use (8, milliseconds, big-endian) and its scalar (32).
package struct KeyFile: Sendable {
    private static let mark = Array("HOLDFAST SERVER KEYS 1\n".utf8)
    private static let entrySize = 41
    private static let mostEntries = 64
    private let path: String

    package init(_ path: String) { self.path = path }

    /// Why the file gives no keys.
    package enum Failure: Error, Sendable, CustomStringConvertible {
        case system(String, Int32)
        /// Others may read it.
        case exposed(String)
        case damaged(String)
        case cryptography(CryptographyError)

        package var description: String {
            switch self {
            case .system(let path, let number): "\(path): \(unsafe String(cString: strerror(number)))"
            case .exposed(let path): "\(path) can be read by others; keys belong in a file of mode 0600"
            case .damaged(let path): "\(path) is no file of server keys"
            case .cryptography: "the keys cannot be made"
            }
        }
    }

    /// What a schedule is for.
    private enum Purpose: UInt8 { case response = 1, access = 2 }

    /// The keys of the file; where there is none, fresh ones, which are kept in it first.
    /// - Parameters:
    ///   - responseLifetime: Milliseconds for which a response counts after its key was replaced.
    ///   - accessLifetime: The same for tokens.
    /// - Throws: ``Failure``.
    package func load(responseLifetime: Int64, accessLifetime: Int64) throws(Failure) -> ServerKeys {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            guard errno == ENOENT else { throw .system(path, errno) }
            let keys = try KeyFile.fresh(responseLifetime, accessLifetime)
            try save(keys)
            return keys
        }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw .system(path, errno) }
        guard status.st_mode & 0o077 == 0 else { throw .exposed(path) }
        let count = Int(status.st_size) - KeyFile.mark.count
        guard count > 0, count % KeyFile.entrySize == 0, count / KeyFile.entrySize <= KeyFile.mostEntries else {
            throw .damaged(path)
        }
        return try read(descriptor, Int(status.st_size), responseLifetime, accessLifetime)
    }

    private static func fresh(_ responseLifetime: Int64, _ accessLifetime: Int64) throws(Failure) -> ServerKeys {
        do throws(CryptographyError) {
            return ServerKeys(
                response: KeySchedule(try .generate(), lifetime: responseLifetime),
                access: KeySchedule(try .generate(), lifetime: accessLifetime))
        } catch { throw .cryptography(error) }
    }

    private func read(
        _ descriptor: Int32, _ size: Int, _ responseLifetime: Int64, _ accessLifetime: Int64
    ) throws(Failure) -> ServerKeys {
        do {
            var contents = try SecretBytes(zeroed: size)
            let isWhole = contents.withMutableBytes { bytes in
                unsafe bytes.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) == size }
            }
            guard isWhole else { throw Failure.system(path, errno) }
            let isOurs = contents.withBytes { bytes in
                KeyFile.mark.indices.allSatisfy {
                    unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) == KeyFile.mark[$0]
                }
            }
            guard isOurs else { throw Failure.damaged(path) }
            var entries: [Purpose: [KeySchedule.Entry]] = [:]
            for start in stride(from: KeyFile.mark.count, to: size, by: KeyFile.entrySize) {
                let (kind, moment) = contents.withBytes { bytes in
                    unsafe (
                        bytes.unsafeLoad(fromByteOffset: start, as: UInt8.self),
                        Int64(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: start + 1, as: Int64.self))
                    )
                }
                guard let purpose = Purpose(rawValue: kind), let usedFrom = Timestamp(milliseconds: moment) else {
                    throw Failure.damaged(path)
                }
                let scalar = try contents.copy(start + 9..<start + KeyFile.entrySize)
                entries[purpose, default: []].append(
                    KeySchedule.Entry(key: try ServerKey(scalar: scalar), usedFrom: usedFrom))
            }
            guard let response = KeySchedule(entries[.response] ?? [], lifetime: responseLifetime),
                let access = KeySchedule(entries[.access] ?? [], lifetime: accessLifetime)
            else { throw Failure.damaged(path) }
            return ServerKeys(response: response, access: access)
        } catch let error as Failure {
            throw error
        } catch {
            throw .damaged(path)
        }
    }

    /// Replaces the file as a whole, durably.
    /// - Throws: ``Failure``.
    package func save(_ keys: ServerKeys) throws(Failure) {
        let schedules = keys.schedulesForKeeping
        let entries =
            schedules.response.entries.map { (Purpose.response, $0) } + schedules.access.entries.map { (.access, $0) }
        let temporary = path + ".new"
        unsafe unlink(temporary)
        let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .system(temporary, errno) }
        defer { close(descriptor) }
        do {
            var contents = try SecretBytes(zeroed: KeyFile.mark.count + entries.count * KeyFile.entrySize)
            try contents.withMutableBytes { bytes in
                for (index, byte) in KeyFile.mark.enumerated() {
                    bytes.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
                }
                for (index, (purpose, entry)) in entries.enumerated() {
                    let start = KeyFile.mark.count + index * KeyFile.entrySize
                    bytes.storeBytes(of: purpose.rawValue, toByteOffset: start, as: UInt8.self)
                    bytes.storeBytes(
                        of: entry.usedFrom.milliseconds.bigEndian, toByteOffset: start + 1, as: Int64.self)
                    let scalar = try entry.key.scalar()
                    scalar.withBytes { scalar in
                        for offset in 0..<32 {
                            let byte = unsafe scalar.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
                            bytes.storeBytes(of: byte, toByteOffset: start + 9 + offset, as: UInt8.self)
                        }
                    }
                }
            }
            let isWritten = contents.withBytes { bytes in
                unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) == $0.count }
            }
            guard isWritten, fsync(descriptor) == 0, unsafe rename(temporary, path) == 0 else {
                throw Failure.system(path, errno)
            }
        } catch let error as Failure {
            throw error
        } catch {
            throw .damaged(path)
        }
        let folder = path.contains("/") ? String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) : "."
        let parent = unsafe open(folder.isEmpty ? "/" : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard parent >= 0 else { throw .system(folder, errno) }
        defer { close(parent) }
        guard fsync(parent) == 0 else { throw .system(folder, errno) }
    }
}
