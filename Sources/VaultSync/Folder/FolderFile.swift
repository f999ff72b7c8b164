internal import Cryptography
internal import SyncFormat
internal import SystemCalls

/// What a writer found or did at a file's name.
package enum RoadWritten: Sendable, Hashable {
    /// It is on the disk now.
    case written
    /// It was there, with these bytes, and is on the disk.
    case alreadyThere
    /// Something else has the name. It stays until it is repaired on purpose.
    case differs
}

/// How a file gets a name that must be free. Not every file system knows every way.
package enum NewNameWay: Sendable, Hashable, CaseIterable {
    /// `renameat2` with `RENAME_NOREPLACE`.
    case exclusiveRename
    /// A second name, and then the first one removed.
    case link
    /// A look, and then a rename. Between the two somebody else could take the name, but for the same bytes: under one
    /// name are one stream, one number and one hash (decision 866).
    case lookAndRename
}

/// One name in an open folder, for a file that is under it whole or not at all, power cuts included.
///
/// The name is durable when the folder has been flushed.
struct FolderFile {
    /// The open folder, which outlives this value.
    let folder: Int32
    let name: String
    /// Where the file lies until it is whole, on the same disk.
    let parts: Int32
    /// From the road's folder, for errors.
    let place: String
    let ways: [NewNameWay]

    init(_ folder: Int32, _ name: String, parts: Int32? = nil, place: String, ways: [NewNameWay]) {
        self.folder = folder
        self.name = name
        self.parts = parts ?? folder
        self.place = place
        self.ways = ways
    }

    /// Writes the file unless something has its name.
    func put(_ bytes: [UInt8]) throws(RoadError) -> RoadWritten {
        for _ in 0..<FolderFile.tries {
            // First, so that repeating what was done works on a full disk, too.
            switch try found(bytes) {
            case .equal: return .alreadyThere
            case .different: return .differs
            case .absent: break
            }
            if try placed(bytes, giveNewName) { return .written }
            // Somebody was faster, and may have removed it by now.
        }
        // A file system that gives no name and shows no file.
        throw .occupied(place)
    }

    /// Writes the file in place of whatever has its name, except a folder.
    func replace(with bytes: [UInt8]) throws(RoadError) {
        _ = try placed(bytes) { (part) throws(RoadError) in
            if unsafe renameat(parts, part, folder, name) == 0 { return true }
            let error = SystemError.last
            switch error.number {
            case EISDIR, ENOTEMPTY, EEXIST, ENOTDIR: throw .occupied(place)
            default: throw RoadError(error, place)
            }
        }
    }

    private static let tries = 8

    private enum Found { case absent, equal, different }

    /// What is there. Equal bytes are flushed: who brought them may not have done that.
    private func found(_ bytes: [UInt8]) throws(RoadError) -> Found {
        let file: OwnedDescriptor
        do throws(BeneathError) {
            file = OwnedDescriptor(owning: try Beneath(folder).file(name, O_RDONLY, evenIfLinked: true))
        } catch {
            switch error {
            case .notThere: return .absent
            case .link, .notRegular, .notFolder, .hardLinked: return .different
            case .system(let number): throw RoadError(SystemError(number), place)
            }
        }
        do throws(SystemError) {
            guard try file.readPrefix(bytes.count + 1) == bytes else { return .different }
            try file.synchronize()
            return .equal
        } catch { throw RoadError(error, place) }
    }

    /// Writes and flushes a part, and has it named.
    /// - Returns: What the naming returns; when that is false the part is gone.
    private func placed(
        _ bytes: [UInt8], _ naming: (String) throws(RoadError) -> Bool
    ) throws(RoadError) -> Bool {
        let part = try newPart(bytes)
        do throws(RoadError) {
            if try naming(part) { return true }
        } catch {
            unsafe unlinkat(parts, part, 0)
            throw error
        }
        unsafe unlinkat(parts, part, 0)
        return false
    }

    private func newPart(_ bytes: [UInt8]) throws(RoadError) -> String {
        guard let random = (try? SecureRandom.bytes(8)).flatMap(RoadNumber.init(hash:)) else { throw .noRandomness }
        let name = RoadPart.name(random.value)
        let file = OwnedDescriptor(
            owning: try onRoad(place) {
                unsafe openat(parts, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            })
        do throws(SystemError) {
            try unsafe file.write(bytes.span.bytes)
            try file.synchronize()
        } catch {
            unsafe unlinkat(parts, name, 0)
            throw RoadError(error, place)
        }
        return name
    }

    /// - Returns: False when something has the name.
    private func giveNewName(_ part: String) throws(RoadError) -> Bool {
        var last = SystemError(EOPNOTSUPP)
        for way in ways {
            switch try give(part, way) {
            case .given: return true
            case .taken: return false
            case .impossible(let error): last = error
            }
        }
        throw RoadError(last, place)
    }

    private enum Naming {
        case given, taken
        case impossible(SystemError)
    }

    private func give(_ part: String, _ way: NewNameWay) throws(RoadError) -> Naming {
        switch way {
        case .exclusiveRename:
            guard let renameNew = unsafe ExclusiveRename.function else { return .impossible(SystemError(ENOSYS)) }
            if unsafe renameNew(parts, part, folder, name, ExclusiveRename.noReplace) == 0 { return .given }
        case .link:
            if unsafe linkat(parts, part, folder, name, 0) == 0 {
                unsafe unlinkat(parts, part, 0)
                return .given
            }
        case .lookAndRename:
            if unsafe faccessat(folder, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 { return .taken }
            if unsafe renameat(parts, part, folder, name) == 0 { return .given }
        }
        let error = SystemError.last
        switch error.number {
        case EINTR: return try give(part, way)
        case EEXIST: return .taken
        case EINVAL, ENOSYS, EOPNOTSUPP: return .impossible(error)
        case EPERM, EMLINK: if way == .link { return .impossible(error) }
        default: break
        }
        throw RoadError(error, place)
    }
}

/// A call of the kernel that Swift does not import.
private enum ExclusiveRename {
    typealias Function =
        @convention(c) (
            Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32
        ) -> Int32

    static let noReplace: UInt32 = 1

    /// Nil where the C library has none.
    static let function: Function? = {
        #if os(Linux) && !canImport(Darwin)
        unsafe dlsym(nil, "renameat2").map { unsafe unsafeBitCast($0, to: Function.self) }
        #else
        nil
        #endif
    }()
}

extension OwnedDescriptor {
    /// Makes names in this folder durable.
    func flushNames(_ place: String) throws(RoadError) {
        do throws(SystemError) { try synchronize() } catch {
            // Some file systems flush no folders and write names by themselves (decision 866).
            guard error.number != EINVAL, error.number != EOPNOTSUPP else { return }
            throw RoadError(error, place)
        }
    }
}
