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

    /// - Returns: What the compiler says; empty when it has nothing to say.
    private func check(_ file: URL) throws -> (status: Int32, words: String) {
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
                "swiftc", "-typecheck", "-swift-version", "6", "-package-name", "another", "-warnings-as-errors",
                "-I", Self.modules,
            ] + maps.flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] } + [file.path], output: output)
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

    @Test func theDocumentsShowTheExample() throws {
        let source = try String(contentsOf: Self.example, encoding: .utf8)
        let begin = try #require(source.range(of: "// Example begins\n"))
        let end = try #require(source.range(of: "    // Example ends"))
        let lines = source[begin.upperBound..<end.lowerBound].split(separator: "\n", omittingEmptySubsequences: false)
        let example = lines.map { $0.hasPrefix("    ") ? String($0.dropFirst(4)) : String($0) }.joined(separator: "\n")
        #expect(example.count > 300)
        for document in ["Docs/identity.md"] {
            let text = try String(contentsOf: Self.root.appending(path: document), encoding: .utf8)
            #expect(text.contains(example), "\(document)")
        }
    }
}
