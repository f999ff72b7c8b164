#if os(Linux) && !canImport(Darwin)
import CrashSubject
import Foundation
import TestSupport
import Testing

/// A real disk that is full and then read-only: a tmpfs of 2 MiB in a mount namespace of the subject's own.
@Suite struct SmallDiskTests {
    /// As root, or as anybody where user namespaces are allowed.
    private static let namespace = geteuid() == 0 ? ["--mount"] : ["--map-root-user", "--mount"]

    private static let canMount: Bool = {
        let command = namespace + ["mount", "-t", "tmpfs", "tmpfs", NSTemporaryDirectory()]
        return (try? Child(command, command: "unshare").wait()) == .exited(0)
    }()

    @Test(.enabled(if: canMount, "SKIPPED: no tmpfs can be mounted here, so a full disk was only simulated"))
    func `a full disk and a read-only one refuse clearly and lose nothing`() throws {
        let scratch = try Scratch()
        let disk = scratch["disk"]
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
        let subject = ["\(Child.products)/CrashSubject", "small-disk", disk, scratch.clock.path]
        let child = try Child(SmallDiskTests.namespace + subject, command: "unshare")
        let lines = try child.rest()
        #expect(child.wait() == .exited(0))
        #expect(lines.last == "end")
        let broken = lines.filter { !$0.hasPrefix("held ") && $0 != "end" }
        #expect(broken == [])
        #expect(lines.filter { $0.hasPrefix("held ") }.count == SmallDisk.steps)
        let deleted = lines.first { $0.contains("were deleted") }?.dropFirst(5) ?? "nothing"
        TestRun.report("small disk", "\(lines.count - 1) steps held; \(deleted)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk) == [], "the disk is still mounted")
    }
}
#endif
