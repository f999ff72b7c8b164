import Foundation
import Testing

/// A home of gpg with one key without a passphrase. Its path is short: gpg's agent has a socket in it.
final class GPGHome {
    static let user = "ada@example"
    let variables: [String: String]
    private let path = NSTemporaryDirectory() + "hfgpg-\(UUID().uuidString.prefix(8))"
    private let sandbox: Sandbox

    init(_ sandbox: Sandbox) throws {
        self.sandbox = sandbox
        variables = ["GNUPGHOME": path]
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try run("gpg", ["--batch", "--passphrase", "", "--quick-gen-key", GPGHome.user, "default", "default"])
    }

    /// Runs a program of the system's with this home.
    func run(_ program: String, _ words: [String], input: String = "", _ more: [String: String] = [:]) throws {
        let done = try sandbox.run(
            "/usr/bin/" + program, raw: words.map { Array($0.utf8) }, input: .file(sandbox.file(input.utf8)),
            environment: variables.merging(more) { $1 })
        try #require(done.code == 0, "\(program): \(done.errors)")
    }

    /// Writes an entry of pass.
    func seal(_ text: String, as path: String) throws {
        try run(
            "gpg", ["--batch", "--trust-model=always", "-r", GPGHome.user, "-o", sandbox.path + "/" + path, "-e"],
            input: text)
    }

    deinit {
        _ = try? sandbox.run("/usr/bin/gpgconf", raw: ["--kill", "all"].map { Array($0.utf8) }, environment: variables)
        try? FileManager.default.removeItem(atPath: path)
    }
}
