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
