#if os(Linux) && !canImport(Darwin)
import CrashSubject
import Foundation
import TestSupport
import Testing

/// What the fault library is told to do at one call.
enum Fault: String, CaseIterable, CustomTestStringConvertible {
    case kill = "SIGKILL before it"
    case tear = "SIGKILL in the middle of it"
    case cut = "power cut before it"
    case inputOutput = "EIO once"
    case noSpace = "ENOSPC from then on"
    case readOnly = "EROFS from then on"

    var testDescription: String { rawValue }

    /// Whether the process continues.
    var isSurvived: Bool { errorNumber != nil }

    private var errorNumber: Int32? {
        switch self {
        case .kill, .tear, .cut: nil
        case .inputOutput: EIO
        case .noSpace: ENOSPC
        case .readOnly: EROFS
        }
    }

    /// How the vault reports it.
    var code: String? {
        switch self {
        case .kill, .tear, .cut: nil
        case .inputOutput: "inputOutput"
        case .noSpace: "diskFull"
        case .readOnly: "readOnly"
        }
    }

    private var action: String {
        switch self {
        case .kill: "kill"
        case .tear: "tear"
        case .cut: "cut"
        case .inputOutput, .noSpace, .readOnly: "fail"
        }
    }

    func environment(at call: Int, seed: UInt64) -> [String: String] {
        var variables = ["HOLDFAST_FAULT": action, "HOLDFAST_FAULT_AT": "\(call)", "HOLDFAST_FAULT_SEED": "\(seed)"]
        if let errorNumber { variables["HOLDFAST_FAULT_ERROR"] = "\(errorNumber)" }
        if self == .inputOutput { variables["HOLDFAST_FAULT_ONCE"] = "1" }
        return variables
    }
}

/// Runs the subject with a disk that fails.
struct FaultyDisk {
    let scratch: Scratch

    /// - Parameter folder: Calls that concern it count.
    func run(_ arguments: [String], under folder: String, _ environment: [String: String]) throws -> [String] {
        let trash = scratch["trash"]
        try FileManager.default.createDirectory(atPath: trash, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: trash) }
        var variables = environment
        let library = "\(Child.products)/libFaultInjection.so"
        guard FileManager.default.fileExists(atPath: library) else {
            throw Problem("there is no \(library): build with scripts/with-swift, as `make test` does")
        }
        let preloaded = ProcessInfo.processInfo.environment["LD_PRELOAD"].map { [$0] } ?? []
        variables["LD_PRELOAD"] = (preloaded + [library]).joined(separator: ":")
        variables["HOLDFAST_FAULT_UNDER"] = folder
        variables["HOLDFAST_FAULT_TRASH"] = trash
        let child = try Child(arguments, environment: variables)
        let lines = try child.rest()
        let end = child.wait()
        let isExpected = lines.last == "end" ? end == .exited(0) : end == .killed(SIGKILL)
        guard isExpected else { throw Problem("the subject ended with \(end) after \(lines.last ?? "nothing")") }
        return lines
    }

    /// Runs it whole, and tells each call that concerns the folder, in order.
    /// - Parameter expected: Steps and codes that fail without any fault, as `step code`.
    func calls(of arguments: [String], under folder: String, expecting expected: Set<String> = []) throws -> [String] {
        let log = scratch["log"]
        defer { try? FileManager.default.removeItem(atPath: log) }
        let lines = try run(arguments, under: folder, ["HOLDFAST_FAULT": "count", "HOLDFAST_FAULT_LOG": log])
        var step = ""
        for line in lines {
            if line.hasPrefix("begin ") { step = String(line.dropFirst(6)) }
            guard !line.hasPrefix("failed ") || expected.contains("\(step) \(line.dropFirst(7))") else {
                throw Problem("without a fault: \(step): \(line)")
            }
        }
        return try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    /// Which calls to try: all when soaking, else some; of many alike in a row only the first and the last count then.
    /// A power cut also comes when everything was done.
    static func choose(_ calls: [String], _ count: Int, _ fault: Fault, using generator: inout SeededGenerator) -> [Int]
    {
        let numbers = calls.indices.filter { index in
            let isInRow =
                index > 0 && index + 1 < calls.count && calls[index - 1] == calls[index]
                && calls[index + 1] == calls[index]
            return TestRun.isSoak || !isInRow
        }
        let chosen = TestRun.sample(numbers.map { $0 + 1 }, count, using: &generator)
        return fault == .cut ? chosen + [calls.count + 1] : chosen
    }

    static func name(_ call: Int, in calls: [String]) -> String {
        call > calls.count ? "after the last call" : "call \(call): \(calls[call - 1])"
    }

    /// Whether the call writes or flushes the first of the header's two copies; they are written in turn.
    static func isFirstCopy(_ call: Int, in calls: [String]) -> Bool {
        let isHeader = { (name: String) in name == "pwrite header" || name == "fdatasync header" }
        guard call <= calls.count, isHeader(calls[call - 1]) else { return false }
        return calls[..<(call - 1)].filter(isHeader).count % 4 < 2
    }
}
#endif
