import Foundation

/// A folder of one test, removed with this object and with everything in it.
package final class ScratchFolder: Sendable {
    package let path: String

    /// - Parameter name: What it is for, as part of its name.
    package init(_ name: String = "tests") throws {
        TestRun.chooseLocks()
        // What the kernel calls it: tests compare paths with what processes report.
        let parent = URL(fileURLWithPath: NSTemporaryDirectory()).resolvingSymlinksInPath().path
        path = "\(parent)/holdfast-\(name)-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of something in it.
    package subscript(name: String) -> String { "\(path)/\(name)" }
}
