#if canImport(Security)
internal import Foundation
public import VaultHeader

/// Files and folders of an app that go with its vault: a cache, a database, an app group's container.
///
/// They are removed and not overwritten: flash storage writes elsewhere whatever is written over a file. What must not
/// be read afterwards belongs into the vault. A link is removed, and what it points at stays.
public struct FilesWipeTarget: WipeTarget {
    /// Names the target for good, as `org.example.notes.cache`.
    public let identifier: String
    private let paths: @Sendable () throws -> [String]

    /// A folder with everything in it.
    /// - Parameters:
    ///   - identifier: Names the target for good.
    ///   - path: The folder. It is there again, empty, at the app's next use if the app makes it.
    public static func folder(_ identifier: String, at path: String) -> FilesWipeTarget {
        FilesWipeTarget(identifier: identifier) { [path] }
    }

    /// A store of Core Data or SwiftData: the file, its log and index, and the folder of its large values.
    /// - Parameters:
    ///   - identifier: Names the target for good.
    ///   - path: The file of the store, such as `default.store`. Close its container before the wipe, or end the
    ///     process after it: an open file lives until it is closed.
    public static func database(_ identifier: String, at path: String) -> FilesWipeTarget {
        FilesWipeTarget(identifier: identifier) {
            let file = URL(filePath: path)
            let name = file.deletingPathExtension().lastPathComponent
            let support = file.deletingLastPathComponent().appending(path: ".\(name)_SUPPORT").path
            return [path, path + "-wal", path + "-shm", path + "-journal", support]
        }
    }

    #if os(iOS) || os(macOS) || os(tvOS) || os(watchOS) || os(visionOS)
    /// Everything in the container that an app and its extensions share.
    /// - Parameters:
    ///   - identifier: Names the target for good.
    ///   - group: The app group, as in the entitlements. A container that cannot be found makes the wipe wait: it is
    ///     not taken for an empty one.
    public static func appGroup(_ identifier: String, _ group: String) -> FilesWipeTarget {
        FilesWipeTarget(identifier: identifier) {
            let files = FileManager.default
            guard let container = files.containerURL(forSecurityApplicationGroupIdentifier: group) else {
                throw CocoaError(.fileNoSuchFile)
            }
            return try files.contentsOfDirectory(atPath: container.path).map { container.appending(path: $0).path }
        }
    }
    #endif

    /// Removes what is there.
    /// - Returns: How many files and folders were named and found.
    /// - Throws: What the file system says.
    public func erase() throws -> Int {
        let found = try paths().filter(FilesWipeTarget.isThere)
        for path in found { try FileManager.default.removeItem(atPath: path) }
        return found.count
    }

    /// Whether nothing is left.
    /// - Throws: What the file system says.
    public func isErased() throws -> Bool { try !paths().contains(where: FilesWipeTarget.isThere) }

    /// A link that leads nowhere is there too.
    private static func isThere(_ path: String) -> Bool {
        (try? FileManager.default.attributesOfItem(atPath: path)) != nil
    }
}
#endif
