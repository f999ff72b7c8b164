import Foundation

/// `pam_matrix` of pam_wrapper: a module of PAM that takes its accounts from a file, so that a test needs none of the
/// system's.
package enum AccountModule {
    /// Where it is installed; nil where it is not.
    package static let path: String? = {
        for root in ["/usr/lib", "/usr/lib64", "/lib"] {
            let below = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
            for folder in below.map({ "\(root)/\($0)" }) + [root] {
                let module = folder + "/pam_wrapper/pam_matrix.so"
                if FileManager.default.fileExists(atPath: module) { return module }
            }
        }
        return nil
    }()

    /// Writes rules of the service `holdfast` into a folder, with an account "anna" whose password is "correct".
    package static func writeRules(into folder: String) throws {
        guard let path else { throw Spawned.Problem("libpam-wrapper is not installed") }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try "anna:correct:holdfast\n".write(toFile: folder + "/passdb", atomically: true, encoding: .utf8)
        try """
        auth required \(path) passdb=\(folder)/passdb verbose
        account required \(path) passdb=\(folder)/passdb

        """.write(toFile: folder + "/holdfast", atomically: true, encoding: .utf8)
    }
}
