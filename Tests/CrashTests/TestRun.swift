#if os(Linux) && !canImport(Darwin)
import CrashSubject
import Foundation
import TestSupport

extension TestRun {
    /// Rounds of each kill test.
    static let rounds = count(test: 8, check: 25, soak: 500)

    /// One line of figures for a test's end.
    static func report(_ test: String, _ figures: String) { print("crash tests: \(test): \(figures)") }
}

/// A test's own failure, in words.
struct Problem: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// A folder for one test, removed with it.
final class Scratch {
    private let folder: ScratchFolder
    var path: String { folder.path }

    init() throws { folder = try ScratchFolder("crash") }

    subscript(name: String) -> String { folder[name] }

    var home: String { self["home"] }
    var clock: FileClock { FileClock(self["clock"]) }

    /// Copies a home's files, but for LMDB's lock file.
    func copyHome(_ source: String, to target: String) throws {
        try? FileManager.default.removeItem(atPath: target)
        try FileManager.default.createDirectory(
            atPath: "\(target)/files", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let names = ["header", "ledger", "vault.mdb", "open.pub", "log", "log.old", "log.state"].filter {
            FileManager.default.fileExists(atPath: "\(source)/\($0)")
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: "\(source)/files").map { "files/\($0)" }
        for name in names + files {
            try FileManager.default.copyItem(atPath: "\(source)/\(name)", toPath: "\(target)/\(name)")
        }
    }
}

/// Busy until the time has passed: a random moment that no scheduler rounds.
func spin(nanoseconds: UInt64) {
    let end = DispatchTime.now().uptimeNanoseconds + nanoseconds
    while DispatchTime.now().uptimeNanoseconds < end {}
}
#endif
