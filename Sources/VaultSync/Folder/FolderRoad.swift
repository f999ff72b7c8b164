internal import Cryptography
package import SyncFormat
internal import SystemCalls
internal import VaultFormat

/// A folder in which a group's devices leave files for each other: held open, reached through this descriptor alone and
/// never through a link. It knows names and sizes, and nothing of what the bytes say.
package final class FolderRoad: Sendable {
    /// As the caller gave it; for messages.
    package let path: String
    /// Whose road it is.
    package let group: SyncGroupID
    /// The folder itself.
    let folder: OwnedDescriptor
    // From the root folder: a change of the working folder leads nowhere else.
    private let absolutePath: String
    private let status: stat

    /// Opens a group's road.
    /// - Parameter streams: The streams that this device has written. Where one of them is in the folder, a marker that
    ///   is lost or not whole is written again; anywhere else the folder could be the place of a disk that is not
    ///   connected.
    /// - Throws: `noRoad`, `markerDamaged`, `foreignGroup`, `isVault`, and what the system says.
    package convenience init(
        opening path: String, of group: SyncGroupID, knowing streams: [StreamID] = []
    ) throws(RoadError) {
        try self.init(path, group)
        switch try FolderRoad.marker(in: folder) {
        case .group(let found):
            guard found == group else { throw .foreignGroup }
        case .absent:
            guard try isKnown(by: streams) else { throw hasFolders ? .markerMissing(path) : .noRoad(path) }
            _ = try markerFile.put(RoadMarker.bytes(of: group))
            try folder.flushNames(RoadMarker.name)
        case .damaged(let error):
            guard try isKnown(by: streams) else { throw .markerDamaged(error) }
            try markerFile.replace(with: RoadMarker.bytes(of: group))
            try folder.flushNames(RoadMarker.name)
        }
        makeMissingFolders()
    }

    /// Makes a folder a group's road, or opens it where it is that already. The folder may be there, empty but for what
    /// a sync tool put into it.
    /// - Throws: `notEmpty`, `markerMissing`, `markerDamaged`, `foreignGroup`, `isVault`, and what the system says.
    package static func create(at path: String, for group: SyncGroupID) throws(RoadError) -> FolderRoad {
        try makeFolder(path)
        let road = try FolderRoad(path, group)
        switch try marker(in: road.folder) {
        case .group(let found):
            guard found == group else { throw .foreignGroup }
        case .damaged(let error): throw .markerDamaged(error)
        case .absent:
            try road.refuseForeignContent()
            // Another device may be here, too.
            if try road.markerFile.put(RoadMarker.bytes(of: group)) == .differs { throw .foreignGroup }
            try road.folder.flushNames(RoadMarker.name)
        }
        for folder in RoadFolder.fixed { _ = try road.madeFolder(folder) }
        return road
    }

    /// Whether a folder can become a road. It is made where it is not there.
    /// - Throws: As ``create(at:for:)``; `foreignGroup` where it is one.
    package static func checkCanBegin(at path: String) throws(RoadError) {
        try makeFolder(path)
        let road = try FolderRoad(path, .none)
        switch try marker(in: road.folder) {
        case .group: throw .foreignGroup
        case .damaged(let error): throw .markerDamaged(error)
        case .absent: try road.refuseForeignContent()
        }
    }

    /// Whose road a folder is, for a device that is to join.
    /// - Throws: `noRoad`, `markerMissing`, `markerDamaged`, `newerVersion`, and what the system says.
    package static func group(at path: String) throws(RoadError) -> SyncGroupID {
        let folder = try opened(path)
        switch try marker(in: folder) {
        case .group(let group): return group
        case .damaged(let error): throw .markerDamaged(error)
        case .absent: throw hasFolders(folder) ? .markerMissing(path) : .noRoad(path)
        }
    }

    private init(_ path: String, _ group: SyncGroupID) throws(RoadError) {
        self.path = path
        self.group = group
        absolutePath = FolderRoad.absolute(path)
        folder = try FolderRoad.opened(path)
        do throws(SystemError) { status = try folder.status() } catch { throw RoadError(error, path) }
        if try VaultNeighbourhood.isInVault(folder) { throw .isVault(path) }
    }

    private static func opened(_ path: String) throws(RoadError) -> OwnedDescriptor {
        do throws(SystemError) { return try OwnedDescriptor(path, O_RDONLY | O_DIRECTORY) } catch {
            switch error.number {
            case ENOENT: throw .notThere(path)
            case ENOTDIR: throw .notFolder(path)
            default: throw RoadError(error, path)
            }
        }
    }

    private static func makeFolder(_ path: String) throws(RoadError) {
        guard unsafe access(path, F_OK) != 0, errno == ENOENT else { return }
        let parent = try opened(Paths.parent(of: path))
        if try VaultNeighbourhood.isInVault(parent) { throw .isVault(path) }
        guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else { throw RoadError(.last, path) }
        try parent.flushNames(path)
    }

    private static func absolute(_ path: String) -> String {
        guard path.utf8.first != UInt8(ascii: "/"), let folder = unsafe getcwd(nil, 0) else { return path }
        defer { unsafe free(folder) }
        return unsafe String(cString: folder) + "/" + path
    }

    /// Whether the path still leads to the folder that is open. What is written into a folder that was replaced reaches
    /// nobody.
    /// - Throws: `gone`.
    package func checkIsThere() throws(RoadError) {
        var now = stat()
        guard unsafe stat(absolutePath, &now) == 0 else {
            let error = SystemError.last
            guard error.number == ENOENT || error.number == ENOTDIR else { throw RoadError(error, path) }
            throw .gone
        }
        guard now.isSameFile(as: status) else { throw .gone }
    }
}

extension FolderRoad {
    enum Marker {
        case absent
        case group(SyncGroupID)
        case damaged(FormatError)
    }

    /// - Throws: `newerVersion`, `occupied`, and what the system says.
    private static func marker(in folder: borrowing OwnedDescriptor) throws(RoadError) -> Marker {
        let file: OwnedDescriptor
        do throws(BeneathError) {
            file = OwnedDescriptor(
                owning: try Beneath(folder.number).file(RoadMarker.name, O_RDONLY, evenIfLinked: true))
        } catch {
            if error == .notThere { return .absent }
            throw RoadError(error, RoadMarker.name)
        }
        let bytes: [UInt8]
        do throws(SystemError) { bytes = try file.readPrefix(RoadMarker.size + 1) } catch {
            throw RoadError(error, RoadMarker.name)
        }
        do throws(FormatError) { return .group(try RoadMarker.group(in: bytes)) } catch {
            if case .newerVersion(let version) = error { throw .newerVersion(version) }
            return .damaged(error)
        }
    }

    /// Whether a stream of this device is here: so the folder is the one that the device wrote to.
    private func isKnown(by streams: [StreamID]) throws(RoadError) -> Bool {
        for stream in streams where try openedFolder(.entries(stream)) != nil { return true }
        return false
    }

    private var markerFile: FolderFile {
        FolderFile(folder.number, RoadMarker.name, place: RoadMarker.name, ways: NewNameWay.allCases)
    }

    private var hasFolders: Bool { FolderRoad.hasFolders(folder) }

    private static func hasFolders(_ folder: borrowing OwnedDescriptor) -> Bool {
        let number = folder.number
        return RoadFolder.fixed.contains { unsafe faccessat(number, $0.path, F_OK, AT_SYMLINK_NOFOLLOW) == 0 }
    }

    private func refuseForeignContent() throws(RoadError) {
        if hasFolders { throw .markerMissing(path) }
        guard let folder = try openedNumber(nil) else { throw .gone }
        for entry in try FolderNames.read(closing: folder, of: ".") where !RoadCompany.isHarmless(entry.name) {
            throw .notEmpty(String(decoding: entry.name, as: UTF8.self))
        }
    }

    /// Git carries no empty folders. Where this may not be written, they count as empty.
    private func makeMissingFolders() {
        for folder in RoadFolder.fixed { _ = try? madeFolder(folder) }
    }

    /// Opens a folder of the road.
    /// - Parameter folder: Nil for the road's own, opened anew: a descriptor remembers how far it was read.
    /// - Returns: Nil when it is not there.
    func openedFolder(_ folder: RoadFolder?) throws(RoadError) -> OwnedDescriptor? {
        guard let number = try openedNumber(folder) else { return nil }
        return OwnedDescriptor(owning: number)
    }

    /// As ``openedFolder(_:)``; the caller closes it.
    func openedNumber(_ folder: RoadFolder?) throws(RoadError) -> Int32? {
        do throws(BeneathError) {
            return try Beneath(self.folder.number).folder(folder?.path ?? ".")
        } catch {
            if error == .notThere { return nil }
            throw RoadError(error, folder?.path ?? path)
        }
    }

    /// Opens a folder of the road, and makes it durably where it is not there.
    func madeFolder(_ folder: RoadFolder) throws(RoadError) -> OwnedDescriptor {
        if let there = try openedFolder(folder) { return there }
        let parts = folder.path.split(separator: "/")
        let name = parts.last.map(String.init) ?? folder.path
        if parts.count > 1 {
            let outer: RoadFolder = if case .entries = folder { .streams } else { .pieces }
            try FolderRoad.make(name, in: madeFolder(outer), folder.path)
        } else {
            try FolderRoad.make(name, in: self.folder, folder.path)
        }
        guard let made = try openedFolder(folder) else { throw .gone }
        return made
    }

    private static func make(
        _ name: String, in parent: borrowing OwnedDescriptor, _ place: String
    ) throws(RoadError) {
        let number = parent.number
        guard unsafe mkdirat(number, name, 0o700) == 0 || errno == EEXIST else {
            let error = SystemError.last
            throw error.number == ENOENT ? .gone : RoadError(error, place)
        }
        try parent.flushNames(place)
    }
}
