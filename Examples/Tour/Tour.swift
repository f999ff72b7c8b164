internal import Holdfast
internal import HoldfastCommand
internal import KeyStores
internal import SystemCalls

/// Takes the steps in order, and holds what they hand on to each other. Lives in one task.
final class Tour {
    /// The folder that everything is in.
    let scratch: String
    /// The vault of the tour, as an app holds it.
    var app: HoldfastApp?
    var phrase: RecoveryPhrase?
    /// A vault that a chapter makes to destroy it.
    var doomed: ScratchVault?
    /// The agent's process while its chapter runs.
    var agent: TourAgent?
    /// One for other programs, while their chapter runs.
    var programs: TourPrograms?
    /// A TPM while its chapter runs, and a share in it.
    var chip: TourChip?
    var share: HardwareObject?
    /// The servers and devices of the identity's chapters; nil where there is no server, which its step has said.
    var identity: TourIdentity?
    /// What opens the vault now. No secret: it is printed, and gone with the scratch folder.
    var passcode = Samples.firstPasscode
    /// What a step wants to show below its line.
    private var lines: [String] = []
    private var number = 0

    init(scratch: String) { self.scratch = scratch }

    var home: String { scratch + "/home" }

    /// Takes every chapter; stops at the first step that does not hold.
    /// - Returns: Whether all held.
    func take(_ chapters: [Chapter]) async throws(CommandError) -> Bool {
        let start = MonotonicClock.nanoseconds
        try Output.write("A tour of Holdfast in \(Escaping.sentence(scratch)), which is removed afterwards.\n")
        for chapter in chapters {
            try Output.write("\n\(chapter.title)\n")
            for step in chapter.steps {
                guard try await take(step) else { return false }
            }
        }
        let seconds = Tour.time(since: start)
        try Output.write("\nAll \(number) steps held, in \(seconds).\n")
        return true
    }

    private func take(_ step: Step) async throws(CommandError) -> Bool {
        if Task.isCancelled { throw .interrupted }
        number += 1
        let label = String(repeating: " ", count: number < 10 ? 2 : 1) + "\(number)  " + step.title
        let padding = String(repeating: " ", count: max(1, 50 - Escaping.width(label)))
        try Output.write(label + padding)
        let start = MonotonicClock.nanoseconds
        let failure: String
        do {
            let facts = try await step.run(self)
            let time = Tour.time(since: start)
            try Output.write(String(repeating: " ", count: max(0, 8 - time.utf8.count)) + time + "  " + facts + "\n")
            for line in lines { try Output.write("      " + line + "\n") }
            lines = []
            return true
        } catch {
            failure = (error as? TourFailure)?.description ?? CommandError(error).message
        }
        try Output.write("FAILED\n      \(Escaping.sentence(failure))\n")
        return false
    }

    /// A time that passed, in words.
    private static func time(since start: UInt64) -> String {
        let microseconds = (MonotonicClock.nanoseconds - start) / 1000
        if microseconds < 10_000 { return "\(microseconds / 1000).\(microseconds / 100 % 10) ms" }
        if microseconds < 1_000_000 { return "\(microseconds / 1000) ms" }
        let hundredths = microseconds / 10_000
        return "\(hundredths / 100).\(hundredths / 10 % 10)\(hundredths % 10) s"
    }
}

extension Tour {
    /// Shows a line below the step's own.
    func show(_ line: String) { lines.append(line) }

    /// Makes sure that something holds.
    func expect(_ condition: Bool, _ what: @autoclosure () -> String) throws {
        if !condition { throw TourFailure(description: what()) }
    }

    /// Makes sure that a call is refused for the right reason, and returns the refusal.
    @discardableResult
    func expectRefusal(
        _ code: VaultError.Code, _ what: String, _ body: () async throws -> Void
    ) async throws -> VaultError {
        let error: VaultError = try await refusal(of: what, body)
        try expect(error.code == code, "\(what) gave \"\(error.reason)\" instead of \(code)")
        return error
    }

    /// What a call that must be refused throws.
    func refusal<Failure: Error>(of what: String, _ body: () async throws -> Void) async throws -> Failure {
        do { try await body() } catch let error as Failure { return error }
        throw TourFailure(description: "\(what) was not refused")
    }

    /// The app of the chapters behind the first.
    func openedApp() throws -> HoldfastApp {
        guard let app else { throw TourFailure(description: "the vault was not created") }
        return app
    }
}
