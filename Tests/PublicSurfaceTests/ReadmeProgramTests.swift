import Foundation
import RealParts
import TestSupport
import Testing

/// The program that the README begins with: someone copies it, builds it, starts it, and starts it again.
@Suite struct ReadmeProgramTests {
    private static func blocks() throws -> [Snippet] {
        let text = try String(contentsOf: Outsider.root.appending(path: "README.md"), encoding: .utf8)
        return Snippet.all(in: "README.md", text: text)
    }

    /// What the command is made of, without the command: the library as it was built for these tests.
    private static func objects(in folder: ScratchFolder) throws -> String {
        let list = Outsider.products + "/holdfast.product/Objects.LinkFileList"
        let command = ["HoldfastProgram", "HoldfastCommand", "HoldfastAgent", "HoldfastDoctor"]
        let objects = try String(contentsOfFile: list, encoding: .utf8).split(separator: "\n").filter { object in
            !command.contains { object.contains("/\($0).build/") }
        }
        try objects.joined(separator: "\n").write(toFile: folder["objects"], atomically: true, encoding: .utf8)
        return "@" + folder["objects"]
    }

    @Test func `the program of the README runs, and runs again, where nothing but a disk is`() throws {
        let source = try #require(Self.blocks().first { $0.place == .file && $0.lines.contains("@main") })
        let folder = try ScratchFolder("readme")
        try source.lines.joined(separator: "\n").write(
            toFile: folder["Token.swift"], atomically: true, encoding: .utf8)
        let built = try Outsider.check(
            [folder["Token.swift"], try Self.objects(in: folder)], mode: ["-o", folder["token"]])
        try #require(built.status == 0, "\(built.words.prefix(3000))")
        for _ in 0..<2 {
            let said = try Self.run(folder)
            #expect(said.status == 0 && said.words == "the token has 11 bytes\n", "\(said.words)")
        }
    }

    @Test func `without a key store the program is told what to write`() throws {
        let source = try #require(Self.blocks().first { $0.place == .file && $0.lines.contains("@main") })
        let folder = try ScratchFolder("readme")
        let text = source.lines.joined(separator: "\n").replacing(", stores: .file", with: "")
        try text.write(toFile: folder["Token.swift"], atomically: true, encoding: .utf8)
        let built = try Outsider.check(
            [folder["Token.swift"], try Self.objects(in: folder)], mode: ["-o", folder["token"]])
        try #require(built.status == 0, "\(built.words.prefix(3000))")
        let said = try Self.run(folder)
        #expect(said.status != 0 && said.words.contains("needs stores: .file"), "\(said.words)")
        #expect(!FileManager.default.fileExists(atPath: folder["token-vault"]))
    }

    /// In a folder of its own, with neither a TPM, a keyring nor a screen.
    private static func run(_ folder: ScratchFolder) throws -> (status: Int32, words: String) {
        let said = unsafe open(folder["said"], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        defer { close(said) }
        let program = try Spawned(
            ["env", "--chdir=\(folder.path)", folder["token"]],
            environment: [
                "HOME": folder.path, "HOLDFAST_TPM": "swtpm:path=/nonexistent/socket",
                "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent", "SWIFT_BACKTRACE": "enable=no",
            ], output: said)
        let status = program.wait()
        return (status, try String(contentsOfFile: folder["said"], encoding: .utf8))
    }

    @Test func `the manifest of the README names a product that is there`() throws {
        let manifest = try #require(Self.blocks().first { $0.lines.first?.hasPrefix("// swift-tools-version") == true })
        let folder = try ScratchFolder("manifest")
        try manifest.lines.joined(separator: "\n").write(
            toFile: folder["Package.swift"], atomically: true, encoding: .utf8)
        let said = unsafe open(folder["said"], O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(said) }
        let dump = try Spawned(
            ["swift", "package", "--package-path", folder.path, "dump-package"],
            environment: ["HOME": folder.path, "TMPDIR": folder.path], output: said)
        #expect(dump.wait() == 0)
        let text = try String(contentsOfFile: folder["said"], encoding: .utf8)
        #expect(text.contains("\"Holdfast\"") && text.contains("\"token\""), "\(text.prefix(2000))")
        let own = try String(contentsOf: Outsider.root.appending(path: "Package.swift"), encoding: .utf8)
        #expect(own.contains(".library(name: \"Holdfast\""))
        #expect(own.contains("name: \"holdfast\""))
    }
}
