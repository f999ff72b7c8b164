import Foundation

/// File systems that only one program sees.
package enum Mounted {
    /// Whether this user may mount, in a name space of its own.
    package static let isAllowed =
        geteuid() == 0
        && (try? Spawned(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"]).wait()) == 0

    /// Words in front of a program that run it where something is mounted.
    /// - Parameters:
    ///   - command: Mounts it, for the shell.
    ///   - last: What the shell does when the program has ended, whose exit code counts.
    package static func words(_ command: String, after last: String = "true") -> [String] {
        ["unshare", "-m", "sh", "-c", "\(command) || exit 99; \"$0\" \"$@\"; code=$?; \(last); exit $code"]
    }

    /// A folder to mount something at.
    package static func folder(in parent: String) throws -> String {
        let path = "\(parent)/mounted-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        return path
    }
}
