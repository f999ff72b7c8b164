#if os(Linux) && !canImport(Darwin)
import CrashSubject
import Foundation
import SyncFormat
import TestSupport
import Testing
import VaultSync

/// Every call of a round that changes the vault or the folder fails in turn, or is the last one.
@Suite(.seeded, .serialized) struct SyncRoundCrashTests {
    @Test(arguments: Fault.allCases)
    func `a fault at any call of a round loses nothing, and the next rounds do the rest`(fault: Fault) throws {
        let scratch = try Scratch()
        var generator = TestRun.generator("sync round \(fault.rawValue)")
        let disk = FaultyDisk(scratch: scratch)
        let (work, template) = (scratch["work"], scratch["template"])
        try FileManager.default.createDirectory(atPath: work, withIntermediateDirectories: false)
        try SyncRounds.prepare(work, scratch.clock)
        try FileManager.default.copyItem(atPath: work, toPath: template)
        let laptop = "\(work)/laptop"
        let arguments = ["sync-round", laptop, scratch.clock.path]
        let calls = try disk.calls(of: arguments, under: work)
        let expected = try Self.settled(work, scratch)
        #expect(expected.count == 10, "\(expected.keys.sorted())")
        let chosen = FaultyDisk.choose(
            calls, TestRun.count(test: 8, check: 60, soak: .max), fault, using: &generator)
        var ended = 0
        for call in chosen {
            try FileManager.default.removeItem(atPath: work)
            try FileManager.default.copyItem(atPath: template, toPath: work)
            let context = "\(fault.rawValue), \(FaultyDisk.name(call, in: calls))"
            let environment = fault.environment(at: call, seed: generator.next() >> 2)
            let lines = try disk.run(arguments, under: work, environment)
            if let failed = lines.first(where: { $0.hasPrefix("failed ") }) {
                #expect(failed == "failed \(fault.code ?? "")", "\(context)")
            }
            ended += lines.contains("done") ? 1 : 0
            #expect(try Self.settled(work, scratch) == expected, "\(context)")
        }
        TestRun.report(
            "sync round, \(fault.rawValue)", "\(chosen.count) of \(calls.count) calls, \(ended) came to the end")
    }

    /// What both devices show in the end.
    private static func settled(_ work: String, _ scratch: Scratch) throws -> [String: [UInt8]] {
        var all: [[String: [UInt8]]] = []
        for name in ["laptop", "phone", "laptop", "phone"] {
            let (report, values) = try SyncRounds.shown("\(work)/\(name)", scratch.clock)
            #expect(report.hitches.isEmpty, "\(report.hitches)")
            all.append(values)
        }
        #expect(all[2] == all[3])
        return all[3]
    }
}
#endif
