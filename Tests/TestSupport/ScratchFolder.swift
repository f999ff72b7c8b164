import Foundation
import Synchronization

/// A folder of one test, removed with this object and with everything in it; at the latest when the process ends, where
/// something still runs that keeps this object.
package final class ScratchFolder: Sendable {
    package let path: String

    /// - Parameter name: What it is for, as part of its name.
    package init(_ name: String = "tests") throws {
        TestRun.chooseDatabases()
        // What the kernel calls it: tests compare paths with what processes report.
        let parent = URL(fileURLWithPath: NSTemporaryDirectory()).resolvingSymlinksInPath().path
        path = "\(parent)/holdfast-\(name)-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        ScratchFolder.there.withLock { there in
            if there == nil {
                atexit { for path in ScratchFolder.there.withLock({ $0 ?? [] }) { ScratchFolder.remove(path) } }
            }
            there = (there ?? []).union([path])
        }
    }

    deinit {
        ScratchFolder.remove(path)
        _ = ScratchFolder.there.withLock { $0?.remove(path) }
    }

    /// Those that are there; nil before the first.
    private static let there = Mutex<Set<String>?>(nil)

    /// A task of the test that still writes into it can be in the way for a moment.
    private static func remove(_ path: String) {
        for _ in 0..<100 {
            try? FileManager.default.removeItem(atPath: path)
            if !FileManager.default.fileExists(atPath: path) { return }
            usleep(10_000)
        }
    }

    /// The path of something in it.
    package subscript(name: String) -> String { "\(path)/\(name)" }
}
