package import SystemCalls
package import VaultFormat

/// Why a folder is no road, or could not be read or written. The text says what the user can do.
package enum RoadError: Error, Sendable, Hashable {
    /// There is no folder at this path.
    case notThere(String)
    /// At this path is no folder.
    case notFolder(String)
    /// The folder is no road: it has no marker.
    case noRoad(String)
    /// The folder has a road's folders but no marker, which a sync tool may still bring.
    case markerMissing(String)
    /// The marker is not whole, or was changed.
    case markerDamaged(FormatError)
    /// A newer version made the road.
    case newerVersion(UInt32)
    /// The road is another group's.
    case foreignGroup
    /// The folder is a vault's, or lies in one.
    case isVault(String)
    /// The folder that shall become a road has something else in it; one name of that.
    case notEmpty(String)
    /// The folder was removed, replaced or unmounted since it was opened.
    case gone
    case diskFull
    case readOnly
    /// What may not be read or written, from the road's folder.
    case permissionDenied(String)
    /// The server that has the folder does not answer.
    case unreachable(SystemError)
    /// The disk reports an error.
    case inputOutput(String)
    /// More names in a folder than are read.
    case tooManyFiles(String, limit: Int)
    /// Something else has the name of a folder or file of ours and is not removed.
    case occupied(String)
    /// Bytes that their name does not fit, or of a size that no file of its kind has: nothing was written.
    case wrongBytes(String)
    /// Random numbers cannot be had.
    case noRandomness
    /// Anything else that the system says.
    case system(SystemError, String)

    /// - Parameters:
    ///   - error: The system's.
    ///   - place: What it is about, from the road's folder.
    package init(_ error: SystemError, _ place: String) {
        switch error.number {
        case ENOSPC, EDQUOT: self = .diskFull
        case EROFS: self = .readOnly
        case EACCES, EPERM: self = .permissionDenied(place)
        case ENOENT, ESTALE, ENODEV, ENXIO, ENOTCONN: self = .gone
        case EHOSTDOWN, EHOSTUNREACH, ETIMEDOUT, ENETDOWN, ENETUNREACH, ECONNABORTED, ECONNREFUSED, ECONNRESET:
            self = .unreachable(error)
        case EIO: self = .inputOutput(place)
        default: self = .system(error, place)
        }
    }

    init(_ error: BeneathError, _ place: String) {
        switch error {
        // Its folder was there a moment ago.
        case .notThere: self = .gone
        case .link, .notRegular, .notFolder, .hardLinked: self = .occupied(place)
        case .system(let number): self.init(SystemError(number), place)
        }
    }

    /// Whether it may be different soon, with nobody doing anything to the folder itself.
    package var mayPass: Bool {
        switch self {
        case .gone, .markerMissing, .unreachable, .inputOutput, .diskFull, .notThere: true
        default: false
        }
    }

    /// Its word, for programs.
    package var code: String {
        switch self {
        case .notThere: "notThere"
        case .notFolder: "notFolder"
        case .noRoad: "noRoad"
        case .markerMissing: "markerMissing"
        case .markerDamaged: "markerDamaged"
        case .newerVersion: "newerVersion"
        case .foreignGroup: "foreignGroup"
        case .isVault: "isVault"
        case .notEmpty: "notEmpty"
        case .gone: "gone"
        case .diskFull: "diskFull"
        case .readOnly: "readOnly"
        case .permissionDenied: "permissionDenied"
        case .unreachable: "unreachable"
        case .inputOutput: "inputOutput"
        case .tooManyFiles: "tooManyFiles"
        case .occupied: "occupied"
        case .wrongBytes: "wrongBytes"
        case .noRandomness: "noRandomness"
        case .system: "system"
        }
    }
}

extension RoadError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notThere(let path): "there is no folder at \(path); connect the disk, or choose another folder"
        case .notFolder(let path): "\(path) is not a folder; choose one"
        case .noRoad(let path):
            "\(path) is not a sync folder; check that its disk is connected, or set the folder up first"
        case .markerMissing(let path):
            "\(path) has no HOLDFAST-SYNC file yet; wait until your sync tool has copied everything"
        case .markerDamaged:
            "the file HOLDFAST-SYNC is not whole; wait for your sync tool, or copy the file from another device"
        case .newerVersion(let version):
            "the sync folder has version \(version), which needs a newer Holdfast; update this device"
        case .foreignGroup:
            "the sync folder belongs to another group; choose another folder, or leave your group and join that one"
        case .isVault(let path): "\(path) is a vault's folder; choose a folder outside of every vault"
        case .notEmpty(let name): "the folder is not empty: it has \(name); choose an empty folder"
        case .gone: "the sync folder was removed, replaced or unmounted; it is opened again when it is back"
        case .diskFull: "the disk of the sync folder is full; free some space there"
        case .readOnly: "the sync folder is read-only; mount it so that it can be written"
        case .permissionDenied(let place): "access to \(place) in the sync folder is denied; change its permissions"
        case .unreachable(let error): "the sync folder cannot be reached (\(error)); check the network"
        case .inputOutput(let place): "the disk of the sync folder reports an error at \(place); check the disk"
        case .tooManyFiles(let place, let limit):
            "too many files: \(place) in the sync folder has more than \(limit); remove what is not the sync's"
        case .occupied(let place):
            "something else has the name \(place) in the sync folder; move it away"
        case .wrongBytes(let place): "\(place) and its bytes do not fit each other; nothing was written"
        case .noRandomness: "random numbers are unavailable; nothing was written"
        case .system(let error, let place): "\(place) in the sync folder: \(error)"
        }
    }
}

/// Repeats an interrupted call, and says what its failure is about.
@discardableResult
func onRoad<Result: SignedInteger>(_ place: String, _ call: () -> Result) throws(RoadError) -> Result {
    do throws(SystemError) { return try uninterrupted(call) } catch { throw RoadError(error, place) }
}
