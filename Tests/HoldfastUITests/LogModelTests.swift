import Foundation
import Holdfast
import HoldfastUI
import TestSupport
import Testing

@MainActor @Suite(.patient) struct LogModelTests {
    @Test func showsWhatHappenedNewestFirstAndFiltersIt() async throws {
        let scratch = try Scratch()
        let models = try await scratch.models()
        await models.lock.unlock(.passcode, try secret("wrong"))
        await models.lock.unlock(.passcode, try secret("right"))
        let log = models.log
        await log.load()
        #expect(log.verdict == .intact(entries: log.lines.count))
        #expect(log.lines.map(\.event.name) == ["unlocked", "refused", "created"])
        #expect(log.lines.map(\.id) == [2, 1, 0])
        log.category = .warning
        #expect(log.lines.map(\.event.name) == ["unlocked", "refused"], "an unlock after refusals is worth a look")
        log.category = nil
        #expect(log.lines.count == 3)
        models.lock.panic()
        #expect(log.lines.isEmpty && log.verdict == .unknown)
        await log.load()
        #expect(log.lines.isEmpty && log.problem == nil, "what is asked for while shut is not shown")
    }

    @Test func `what comes in a run is counted by its kind`() async throws {
        let scratch = try Scratch()
        let models = try await scratch.models()
        for wrong in ["one", "two"] { await models.lock.unlock(.passcode, try secret(wrong)) }
        let vault = models.lock.app.vault
        for number in 1...16 { _ = try vault.backup(to: scratch.path + "-copy-\(number)") }
        await models.lock.unlock(.passcode, try secret("right"))
        await models.log.load()
        let told = models.log.lines.filter { $0.event.name != "created" }.map(\.counts)
        typealias Count = LogLine.Count
        // What ends the run, and the last of it, the seventeenth and eighteenth event, have one entry.
        let whole = [Count(kind: .refused, number: 2), Count(kind: .backedUp, number: 16)]
        #expect(told.prefix(2) == [[], whole], "an unlock, and what ends the run")
        #expect(told.dropFirst(2).first == [Count(kind: .backedUp, number: 14)], "the sixteenth event of all")
        #expect(
            told.suffix(3) == [
                [Count(kind: .backedUp, number: 1)], [Count(kind: .refused, number: 2)],
                [Count(kind: .refused, number: 1)],
            ])
    }

    @Test func aLogThatWasEditedSaysWhere() async throws {
        let scratch = try Scratch()
        let models = try await scratch.open()
        let url = URL(fileURLWithPath: scratch.path + "/log")
        var bytes = try Data(contentsOf: url)
        bytes[bytes.count - 20] ^= 1
        try bytes.write(to: url)
        await models.log.load()
        guard case .altered = models.log.verdict else { return #expect(Bool(false), "\(models.log.verdict)") }
        #expect(!models.log.findings.isEmpty)
    }
}
