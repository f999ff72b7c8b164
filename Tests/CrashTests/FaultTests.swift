#if os(Linux) && !canImport(Darwin)
import CrashSubject
import Foundation
import TestSupport
import Testing
import VaultCore
import VaultHeader

/// Every call that changes a file fails in turn; afterwards, on a sound disk, the vault is whole.
@Suite(.seeded, .serialized) struct FaultTests {
    @Test(arguments: Fault.allCases)
    func `a fault at any call of the script loses nothing`(fault: Fault) throws {
        let scratch = try Scratch()
        var generator = TestRun.generator("script \(fault.rawValue)")
        let template = scratch["template"]
        try Vault.createKnown(template, scratch.clock)
        let vault = try Vault.known(template, scratch.clock)
        try vault.unlock(0)
        for operation in Script.before { try vault.perform(operation) }
        vault.lock()

        let disk = FaultyDisk(scratch: scratch)
        let arguments = ["script", scratch.home, scratch.clock.path]
        try scratch.copyHome(template, to: scratch.home)
        let calls = try disk.calls(of: arguments, under: scratch.home)
        let chosen = FaultyDisk.choose(calls, 8, fault, using: &generator)
        var codes: [String: Int] = [:]
        for call in chosen {
            let seed = generator.next() >> 2
            try scratch.copyHome(template, to: scratch.home)
            let context = "\(fault.rawValue), \(FaultyDisk.name(call, in: calls))"
            let environment = fault.environment(at: call, seed: seed)
            let lines = try disk.run(arguments, under: scratch.home, environment)
            #expect((lines.last == "end") == (fault.isSurvived || call > calls.count), "\(context)")
            let headerStays = fault == .inputOutput && FaultyDisk.isFirstCopy(call, in: calls)
            var journal = ScriptJournal(Script.before, headerStays: headerStays)
            try journal.follow(lines)
            for (index, failure) in journal.failures.enumerated() {
                codes[failure.code, default: 0] += 1
                let isExpected = FaultTests.isExpected(failure, fault, after: journal.failures[..<index])
                #expect(isExpected, "\(failure.step): \(failure.code), \(context)")
            }
            if fault == .inputOutput, let first = journal.failures.first?.step, !FaultTests.isLast(first) {
                let sticking = journal.failures.filter { FaultTests.isLast($0.step) }
                #expect(sticking.isEmpty, "an earlier failure sticks; \(context)")
            }
            let problem = Result { try journal.check(scratch.home, scratch.clock) }
            #expect(throws: Never.self, "\(context)") { try problem.get() }
            #expect((try? problem.get()) == .some(.none), "\(context)\n\(lines.joined(separator: "\n"))")
        }
        let figures = codes.sorted { $0.key < $1.key }.map { "\($0.value) steps \($0.key)" }
        TestRun.report(
            "script, \(fault.rawValue)",
            (["\(chosen.count) of \(calls.count) calls"] + figures).joined(separator: ", "))
    }

    /// The steps after the vault was locked and unlocked again.
    private static func isLast(_ step: String) -> Bool { step == "unlock-again" || step.contains("s/last") }

    /// What the fault is called, or what follows from a step that failed before.
    private static func isExpected(
        _ failure: (step: String, code: String), _ fault: Fault, after earlier: ArraySlice<(step: String, code: String)>
    ) -> Bool {
        switch failure.code {
        case fault.code: true
        // The database wants to be closed after a commit failed at its last page.
        // A rekey shuts older writers out with a commit whose failure does not undo it.
        case "inputOutput":
            failure.step == "finish" || earlier.contains { $0.step.hasPrefix("operation") || $0.step == "finish" }
        case "locked": earlier.contains { $0.step.hasPrefix("unlock-") }
        default: false
        }
    }

    @Test(arguments: Fault.allCases)
    func `a fault at any call of a creation leaves a vault or a place for one`(fault: Fault) throws {
        let scratch = try Scratch()
        var generator = TestRun.generator("create \(fault.rawValue)")
        let disk = FaultyDisk(scratch: scratch)
        let arguments = ["script-create", scratch.home, scratch.clock.path]
        let calls = try disk.calls(of: arguments, under: scratch.home)
        let chosen = FaultyDisk.choose(calls, 4, fault, using: &generator)
        var (created, again) = (0, 0)
        for call in chosen {
            try? FileManager.default.removeItem(atPath: scratch.home)
            let environment = fault.environment(at: call, seed: generator.next() >> 2)
            let lines = try disk.run(arguments, under: scratch.home, environment)
            let context = "\(fault.rawValue), \(FaultyDisk.name(call, in: calls))"
            let isDone = lines.contains("done")
            if let line = lines.first(where: { $0.hasPrefix("failed") }) {
                #expect(line == "failed \(fault.code ?? "")", "\(context)")
                // What cannot be written cannot be removed either.
                let isLeft = FileManager.default.fileExists(atPath: scratch.home)
                #expect(!isLeft || fault == .readOnly, "something is left; \(context)")
            }
            var vault = try? Vault.known(scratch.home, scratch.clock)
            #expect(vault != nil || !isDone, "an acknowledged vault is lost; \(context)")
            if vault == nil {
                again += 1
                let settings = VaultSettings.costsForTests(clock: scratch.clock)
                #expect(throws: Never.self, "\(context)") {
                    _ = try Vault.create(at: scratch.home, passcode: Known.passcode(0), settings: settings)
                }
                vault = try Vault.known(scratch.home, scratch.clock)
            } else {
                created += 1
            }
            let whole = try #require(vault)
            #expect(throws: Never.self, "\(context)") { try whole.unlock(0) }
            #expect(try whole.verifyAndClean() == nil, "\(context)")
        }
        TestRun.report(
            "create, \(fault.rawValue)",
            "\(chosen.count) of \(calls.count) calls, \(created) whole, \(again) created again")
    }

    @Test(arguments: Fault.allCases)
    func `a fault at any call of a backup leaves the source and a copy or a place for one`(fault: Fault) throws {
        let scratch = try Scratch()
        var generator = TestRun.generator("backup \(fault.rawValue)")
        try Vault.createKnown(scratch.home, scratch.clock)
        let source = try Vault.known(scratch.home, scratch.clock)
        try source.unlock(0)
        var expected = Acknowledged()
        for operation in Script.before.dropLast() {
            expected.begin(operation)
            try source.perform(operation)
            expected.end(done: true)
        }
        let disk = FaultyDisk(scratch: scratch)
        let target = scratch["target"]
        let arguments = ["script-backup", scratch.home, scratch.clock.path, target]
        let calls = try disk.calls(of: arguments, under: target)
        let chosen = FaultyDisk.choose(calls, 4, fault, using: &generator)
        var (copied, again) = (0, 0)
        for call in chosen {
            try? FileManager.default.removeItem(atPath: target)
            let environment = fault.environment(at: call, seed: generator.next() >> 2)
            let lines = try disk.run(arguments, under: target, environment)
            let context = "\(fault.rawValue), \(FaultyDisk.name(call, in: calls))"
            if let line = lines.first(where: { $0.hasPrefix("failed") }) {
                #expect(line == "failed \(fault.code ?? "")", "\(context)")
                let isLeft = FileManager.default.fileExists(atPath: target)
                #expect(!isLeft || fault == .readOnly, "something is left; \(context)")
            }
            if (try? Vault.known(target, scratch.clock)) == nil {
                #expect(!lines.contains("done"), "an acknowledged backup is lost; \(context)")
                again += 1
                #expect(throws: Never.self, "\(context)") { _ = try source.backup(to: target) }
            } else {
                copied += 1
            }
            #expect(throws: Never.self, "\(context)") { _ = try Vault.restore(from: target, to: scratch["restored"]) }
            let copy = try Vault.known(scratch["restored"], scratch.clock)
            try copy.unlock(0)
            #expect(try expected.compare(copy) == nil, "\(context)")
            copy.lock()
            try FileManager.default.removeItem(atPath: scratch["restored"])
        }
        #expect(try expected.compare(source) == nil)
        #expect(try source.verify().isIntact)
        TestRun.report(
            "backup, \(fault.rawValue)",
            "\(chosen.count) of \(calls.count) calls, \(copied) whole, \(again) made again")
    }
}
#endif
