import Foundation
import Testing
import VaultFormat

/// Docs/app-lock.md shows the presets as they are: one in full, and the others as parts of it.
@Suite struct FallbackDocumentTests {
    private static let text: String = {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return (try? String(contentsOf: root.appending(path: "Docs/app-lock.md"), encoding: .utf8)) ?? ""
    }()

    @Test func theDocumentShowsThePreset() throws {
        let block = try #require(Self.text.components(separatedBy: "```json\n").dropFirst().first)
        let json = try #require(block.components(separatedBy: "```").first)
        #expect(try FallbackPolicy(json: Array(json.utf8)) == .neverBlocks)
        #expect(json == FallbackPolicy.neverBlocks.jsonText)
    }

    @Test func theOtherPresetsAreTheStepsThatTheDocumentSays() {
        #expect(FallbackPolicy.convenient.rules == Array(FallbackPolicy.neverBlocks.rules.prefix(4)))
        #expect(FallbackPolicy.strict.rules.map(\.step) == [.appPasscode, .recoveryPhrase])
    }

    @Test func theDocumentNamesEveryWord() {
        for word in FallbackStep.allCases.map(\.name) + FallbackCondition.allCases.map(\.name)
            + Assurance.allCases.map(\.name) + FallbackPolicy.presets.map(\.name)
        {
            #expect(Self.text.contains("`\(word)`"), "\(word)")
        }
    }
}
