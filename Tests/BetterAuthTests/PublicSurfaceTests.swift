import Foundation
import RealParts
import Testing

/// What apps use of the identity is public: a file of theirs is checked as a module of another package.
@Suite struct PublicSurfaceTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    private static let example = root.appending(path: "Tests/PublicSurface/IdentityOfAnApp.swift")

    /// Where the modules lie that this test was built with.
    private static var modules: String {
        let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(filePath: tests).deletingLastPathComponent().appending(path: "Modules").path
    }

    /// - Parameter mode: How far it is compiled: what is used up twice is only seen behind the types.
    /// - Returns: What the compiler says; empty when it has nothing to say.
    private func check(_ file: URL, mode: [String] = ["-typecheck"]) throws -> (status: Int32, words: String) {
        let sources = try FileManager.default.contentsOfDirectory(atPath: Self.root.path + "/Sources")
        let maps = sources.filter { $0.hasPrefix("C") }.map { Self.root.path + "/Sources/\($0)/module.modulemap" }
            .filter { FileManager.default.fileExists(atPath: $0) }
        let said = NSTemporaryDirectory() + "holdfast-surface-\(UUID().uuidString)"
        let output = unsafe open(said, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer {
            close(output)
            try? FileManager.default.removeItem(atPath: said)
        }
        let compiler = try Spawned(
            [
                "swiftc", "-swift-version", "6", "-package-name", "another", "-warnings-as-errors",
                "-I", Self.modules,
            ] + mode + maps.flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] } + [file.path], output: output)
        let status = compiler.wait()
        return (status, try String(contentsOfFile: said, encoding: .utf8))
    }

    @Test func anAppUsesTheIdentity() throws {
        let checked = try check(Self.example)
        #expect(checked.status == 0, "\(checked.words.prefix(4000))")
    }

    /// What is the package's own stays so; else the check above would prove nothing.
    @Test func whatIsOursIsNotTheirs() throws {
        let file = URL(filePath: NSTemporaryDirectory() + "holdfast-ours-\(UUID().uuidString).swift")
        try "import BetterAuth\nlet keys = SoftwareDeviceKeys()\n".write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        let checked = try check(file)
        #expect(checked.status != 0 && checked.words.contains("SoftwareDeviceKeys"), "\(checked.words.prefix(4000))")
    }

    /// Lines of an app that must not compile, and what the compiler says of them.
    static let refused: [(lines: String, words: String)] = [
        ("try await identity.deleteAccount()", "missing argument for parameter 'proof'"),
        ("try await identity.erase()", "missing argument for parameter 'proof'"),
        ("_ = try await identity.link(\"\")", "missing argument for parameter 'proof'"),
        ("_ = Proof()", "inaccessible"),
        ("_ = Proof(.passcode)", "inaccessible"),
        ("try await identity.erase(proof: given); try await identity.deleteAccount(proof: given)", "consumed"),
        ("let copies = [given]; _ = copies", "'Copyable'"),
        ("try app.vault.redeem(given)", "package"),
        ("_ = app.vault.identityRecord", "package"),
        ("_ = VaultCredentials(in: app.vault)", "VaultCredentials"),
        ("_ = identity.client", "internal"),
    ]

    /// Who has no proof cannot write down a call that wants one, and nobody writes down a proof.
    @Test("line", arguments: refused.indices)
    func whatNeedsTheOwnerCannotBeCalledWithoutHim(_ index: Int) throws {
        let (lines, words) = Self.refused[index]
        let file = URL(filePath: NSTemporaryDirectory() + "holdfast-proof-\(UUID().uuidString).swift")
        let source = """
            import BetterAuth
            import Holdfast
            func attempt(app: HoldfastApp, identity: VaultIdentity, given: consuming Proof) async throws { \(lines) }

            """
        try source.write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        let checked = try check(file, mode: ["-emit-sil", "-o", "/dev/null"])
        #expect(checked.status != 0 && checked.words.contains(words), "\(lines): \(checked.words.prefix(2000))")
    }

    @Test func theDocumentsShowTheExample() throws {
        let source = try String(contentsOf: Self.example, encoding: .utf8)
        let examples = try ["Example", "Owner"].map { name in
            let begin = try #require(source.range(of: "// \(name) begins\n"))
            let end = try #require(source.range(of: "    // \(name) ends"))
            let lines = source[begin.upperBound..<end.lowerBound].split(
                separator: "\n", omittingEmptySubsequences: false)
            return lines.map { $0.hasPrefix("    ") ? String($0.dropFirst(4)) : String($0) }.joined(separator: "\n")
        }
        #expect(examples[0].count > 300 && examples[1].count > 100)
        for document in ["Docs/identity.md"] {
            let text = try String(contentsOf: Self.root.appending(path: document), encoding: .utf8)
            for example in examples { #expect(text.contains(example), "\(document)") }
        }
    }
}
