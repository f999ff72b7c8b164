import Foundation
import Holdfast
import Testing

@Suite struct ReadmeTests {
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    @Test func theExampleInTheReadmeRuns() async throws {
        let folder = NSTemporaryDirectory() + "holdfast-readme-\(UUID().uuidString.prefix(8))"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let passcode = try SecretBytes(count: 6) { $0.storeBytes(of: 0x61, toByteOffset: 0, as: UInt8.self) }
        let token = try SecretBytes(zeroed: 20)
        #expect(try await readmeExample(folder: folder, passcode: passcode, token: token) == 20)
        let app = try HoldfastApp(at: folder)
        #expect(!app.vault.isUnlocked)
        await #expect(throws: VaultError.self) { try await app.lock.unlock(.passcode, token) }
        try await app.lock.unlock(.passcode, passcode)
        #expect(app.vault.isUnlocked)
        await app.lock.forceLock()
        #expect(!app.vault.isUnlocked)
    }

    @Test func theReadmeShowsThatExample() throws {
        let source = try String(
            contentsOf: Self.root.appendingPathComponent("Tests/HoldfastTests/ReadmeExample.swift"), encoding: .utf8)
        let readme = try String(contentsOf: Self.root.appendingPathComponent("README.md"), encoding: .utf8)
        let begin = try #require(source.range(of: "// README begins\n"))
        let end = try #require(source.range(of: "    // README ends"))
        let lines = source[begin.upperBound..<end.lowerBound].split(separator: "\n", omittingEmptySubsequences: false)
        let example = lines.map { $0.hasPrefix("    ") ? String($0.dropFirst(4)) : String($0) }.joined(separator: "\n")
        #expect(example.count > 300)
        #expect(readme.contains(example))
    }
}
