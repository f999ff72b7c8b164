import Foundation

/// Servers that refuse to run as root, or should not, run as somebody else then.
package enum OrdinaryUser {
    /// Words before a command that make it run as an ordinary user.
    package static var words: [String] {
        guard geteuid() == 0 else { return [] }
        return ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--"]
    }

    /// Makes a folder that belongs to that user.
    package static func makeFolder(_ name: String) throws -> String {
        let folder = NSTemporaryDirectory() + "holdfast-\(name)-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        if geteuid() == 0, let entry = unsafe getpwnam("nobody") {
            unsafe chown(folder, entry.pointee.pw_uid, entry.pointee.pw_gid)
        }
        return folder
    }
}
