import Foundation

/// An app as a process of its own; ended, by its number, with this object.
final class TestApp {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    init(_ home: String, parts: [String: String]) throws {
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        process.executableURL = URL(fileURLWithPath: tests).deletingLastPathComponent()
            .appendingPathComponent("AppSubject")
        process.arguments = [home]
        process.environment = ProcessInfo.processInfo.environment.merging(parts) { $1 }
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        try expectDone()
    }

    deinit {
        Foundation.kill(pid, SIGKILL)
        process.waitUntilExit()
        try? input.fileHandleForWriting.close()
    }

    var pid: Int32 { process.processIdentifier }

    /// What it said instead of having done it.
    struct Failed: Error { let line: String }

    /// Has it do something, as AppSubject calls it.
    func perform(_ letter: Character, _ text: String = "") throws {
        let bytes = Array(text.utf8)
        let size = [UInt8(bytes.count & 0xff), UInt8(bytes.count >> 8)]
        try input.fileHandleForWriting.write(contentsOf: Data(Array("\(letter)".utf8) + size + bytes))
        try expectDone()
    }

    private func expectDone() throws {
        var line = Data()
        while let next = try output.fileHandleForReading.read(upToCount: 1), !next.isEmpty, next[0] != 10 {
            line += next
        }
        guard line == Data(".".utf8) else { throw Failed(line: String(decoding: line, as: UTF8.self)) }
    }
}
