import Foundation
import Testing
import VaultFormat

/// Docs/fallback-policy.md shows the presets as they are.
@Suite struct FallbackDocumentTests {
    private static let text: String = {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return (try? String(contentsOf: root.appending(path: "Docs/fallback-policy.md"), encoding: .utf8)) ?? ""
    }()

    @Test(arguments: FallbackPolicy.presets.map(\.name)) func theDocumentShowsThePreset(_ name: String) throws {
        let preset = try #require(FallbackPolicy.presets.first { $0.name == name }).policy
        let section = try #require(Self.text.components(separatedBy: "\n## \(name)\n").dropFirst().first)
        let block = try #require(section.components(separatedBy: "```json\n").dropFirst().first)
        let json = try #require(block.components(separatedBy: "```").first)
        #expect(try FallbackPolicy(json: Array(json.utf8)) == preset)
        #expect(json == preset.jsonText)
    }

    @Test func theDocumentNamesEveryWord() {
        for word in FallbackStep.allCases.map(\.name) + FallbackCondition.allCases.map(\.name)
            + Assurance.allCases.map(\.name)
        {
            #expect(Self.text.contains("`\(word)`"), "\(word)")
        }
    }
}
