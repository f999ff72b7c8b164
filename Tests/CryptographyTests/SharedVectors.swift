import Foundation

/// Finds the optional folder of public test vectors that lies beside the package; tests that need it skip without it.
///
/// `HOLDFAST_SHARED` names the folder; without that variable it is `../shared` seen from the package root.
enum SharedVectors {
    /// The reason every skipped test gives, as `Comment(rawValue:)`.
    static let missing = "shared vectors not found: set HOLDFAST_SHARED or place them in ../shared"

    /// The folder, or nil when there is none.
    static let directory: String? = {
        let given = ProcessInfo.processInfo.environment["HOLDFAST_SHARED"]
        let path = given ?? packageRoot.deletingLastPathComponent().appending(path: "shared").path
        var isDirectory: ObjCBool = false
        let exists = unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
        return exists && isDirectory.boolValue ? path : nil
    }()

    /// Whether the file is there, for `.enabled(if:)`.
    static func has(_ relative: String) -> Bool {
        directory.map { FileManager.default.isReadableFile(atPath: "\($0)/\(relative)") } ?? false
    }

    /// The contents of a file such as `vectors/blake3/test_vectors.json`, or nil when it is not there.
    static func data(_ relative: String) -> Data? {
        directory.flatMap { try? Data(contentsOf: URL(filePath: "\($0)/\(relative)")) }
    }

    // This file is <package root>/Tests/CryptographyTests/SharedVectors.swift.
    private static var packageRoot: URL {
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    }
}
