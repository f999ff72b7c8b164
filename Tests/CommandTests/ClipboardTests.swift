import Foundation
import MemorySearch
import RealParts
import Synchronization
import TestSupport
import Testing

/// `copy` and `otp --copy` with the programs of X11 and Wayland, each on a display of its own.
@Suite(.seeded) struct ClipboardTests {
    private static let kinds = TestRun.kinds(ClipboardPlace.Kind.installed, of: "clipboards")

    private func opened() throws -> AgentSandbox {
        let sandbox = try AgentSandbox()
        try #require(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0)
        let added = try sandbox.run(
            "add", "mail", "-u", "ada", "--secret-fd=5", descriptors: [5: sandbox.lines("hunter2")])
        try #require(added.code == 0, "\(added.errors)")
        return sandbox
    }

    private func wait(_ what: String, _ isThere: () throws -> Bool) throws {
        #expect(try Patience.wait(until: isThere), "\(what) does not come")
    }

    @Test(arguments: kinds)
    func `what is copied is cleared after its time, and its keeper is gone`(
        _ kind: ClipboardPlace.Kind
    ) throws {
        let place = try ClipboardPlace(kind)
        let sandbox = try opened()
        defer { _ = try? sandbox.run("lock", "--shut-down") }
        let copied = try sandbox.run("copy", "mail", "--clear-after=3", environment: place.environment)
        // It has seen the value there.
        #expect(copied.code == 0 && copied.output.isEmpty, "\(copied.errors)")
        // Not looked at before: a program that pastes while the owner ends is never answered.
        try wait("the keeper's end") { Processes.named("clipboard", "--clear-after", "3\0").isEmpty }
        #expect(try place.pasted(sandbox.sandbox)?.isEmpty ?? true)
    }

    /// The clipboard's own program has the value, and nobody else.
    @Test(.enabled(if: getuid() == 0 && !Sanitizer.isPresent, "only root may look into another's process"))
    func `the process that clears the clipboard does not have what was copied`() throws {
        let kind = try #require(ClipboardPlace.Kind.installed.first, "xclip and Xvfb are needed")
        let place = try ClipboardPlace(kind)
        let sandbox = try opened()
        defer { _ = try? sandbox.run("lock", "--shut-down") }
        let time = KeeperTime()
        defer { time.end() }
        let value = "correcthorse" + UUID().uuidString
        let added = try sandbox.run("add", "long", "--secret-fd=5", descriptors: [5: sandbox.lines(value)])
        #expect(added.code == 0, "\(added.errors)")
        let copied = try sandbox.run("copy", "long", "--clear-after=\(time)", environment: place.environment)
        #expect(copied.code == 0, "\(copied.errors)")
        let keeper = try #require(time.keepers.first)
        // Its own arguments show that it does look.
        for (text, isThere) in [("--clear-after", true), (value, false), (String(value.suffix(12)), false)] {
            let sought = Array(text.utf8)
            var hits = [memory_hit](repeating: memory_hit(), count: 8)
            var extent = memory_extent()
            let found = unsafe sought.withUnsafeBufferPointer { sought in
                var piece = unsafe memory_piece(bytes: sought.baseAddress!, count: sought.count)
                return unsafe memory_search(keeper, &piece, 1, &hits, hits.count, &extent)
            }
            #expect(found >= 0 && (found > 0) == isThere, "\(text): \(found)")
        }
    }

    @Test(arguments: kinds)
    func `what somebody else copied is not cleared, and the keeper ends with its work`(
        _ kind: ClipboardPlace.Kind
    ) throws {
        let place = try ClipboardPlace(kind)
        let time = KeeperTime()
        defer { time.end() }
        let sandbox = try opened()
        defer { _ = try? sandbox.run("lock", "--shut-down") }
        let copied = try sandbox.run(
            "copy", "mail", "-f", "user", "--clear-after=\(time)", environment: place.environment)
        #expect(copied.code == 0, "\(copied.errors)")
        #expect(try place.pasted(sandbox.sandbox) == "ada")
        #expect(time.keepers.count == 1)
        let other = try place.copy("other", sandbox.sandbox)
        defer {
            kill(other.pid, SIGTERM)
            _ = other.wait()
        }
        try wait("the keeper's end") { time.keepers.isEmpty }
        #expect(try place.pasted(sandbox.sandbox) == "other")
    }

    @Test(arguments: kinds)
    func `a keeper that is told to end clears at once`(
        _ kind: ClipboardPlace.Kind
    ) throws {
        let place = try ClipboardPlace(kind)
        let time = KeeperTime()
        defer { time.end() }
        let sandbox = try opened()
        defer { _ = try? sandbox.run("lock", "--shut-down") }
        let copied = try sandbox.run("copy", "mail", "--clear-after=\(time)", environment: place.environment)
        #expect(copied.code == 0, "\(copied.errors)")
        let keeper = try #require(time.keepers.first)
        // The secret is in no argument and no environment.
        // The environment is the administrator's alone to read.
        let readable = geteuid() == 0 ? ["cmdline", "environ"] : ["cmdline"]
        let all = try readable.map { try Data(contentsOf: URL(fileURLWithPath: "/proc/\(keeper)/\($0)")) }
        #expect(all.allSatisfy { $0.range(of: Data("hunter2".utf8)) == nil })
        kill(keeper, SIGTERM)
        try wait("the keeper's end") { time.keepers.isEmpty }
        #expect(try place.pasted(sandbox.sandbox)?.isEmpty ?? true)
    }

    @Test(arguments: kinds)
    func `what an agent gave is cleared when it locks, however it does`(_ kind: ClipboardPlace.Kind) throws {
        let place = try ClipboardPlace(kind)
        let sandbox = try opened()
        defer { _ = try? sandbox.run("lock", "--shut-down") }
        for words in [["lock"], ["lock", "--shut-down"]] {
            #expect(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0)
            let time = KeeperTime()
            defer { time.end() }
            let copied = try sandbox.run("copy", "mail", "--clear-after=\(time)", environment: place.environment)
            #expect(copied.code == 0, "\(copied.errors)")
            #expect(try place.pasted(sandbox.sandbox) == "hunter2")
            #expect(try sandbox.run(raw: words.map { Array($0.utf8) }).code == 0)
            try wait("the keeper's end") { time.keepers.isEmpty }
            #expect(try place.pasted(sandbox.sandbox)?.isEmpty ?? true)
        }
    }

    @Test(arguments: kinds)
    func `a vault that was locked and is open again has cleared it, too`(_ kind: ClipboardPlace.Kind) throws {
        let place = try ClipboardPlace(kind)
        let time = KeeperTime()
        defer { time.end() }
        let sandbox = try opened()
        defer { _ = try? sandbox.run("lock", "--shut-down") }
        let copied = try sandbox.run("copy", "mail", "--clear-after=\(time)", environment: place.environment)
        #expect(copied.code == 0, "\(copied.errors)")
        let keeper = try #require(time.keepers.first)
        // Between two of its looks.
        kill(keeper, SIGSTOP)
        #expect(try sandbox.run("lock").code == 0)
        #expect(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0)
        kill(keeper, SIGCONT)
        try wait("the keeper's end") { time.keepers.isEmpty }
        #expect(try place.pasted(sandbox.sandbox)?.isEmpty ?? true)
    }

    @Test(arguments: kinds)
    func `what is copied once more has its whole time`(_ kind: ClipboardPlace.Kind) throws {
        let place = try ClipboardPlace(kind)
        let (first, second) = (KeeperTime(), KeeperTime())
        defer { [first, second].forEach { $0.end() } }
        let sandbox = try opened()
        defer { _ = try? sandbox.run("lock", "--shut-down") }
        for time in [first, second] {
            let copied = try sandbox.run("copy", "mail", "--clear-after=\(time)", environment: place.environment)
            #expect(copied.code == 0, "\(copied.errors)")
        }
        try wait("the first keeper's end") { first.keepers.isEmpty }
        #expect(try place.pasted(sandbox.sandbox) == "hunter2")
        let keeper = try #require(second.keepers.first)
        kill(keeper, SIGTERM)
        try wait("the keeper's end") { second.keepers.isEmpty }
        #expect(try place.pasted(sandbox.sandbox)?.isEmpty ?? true)
    }

    @Test(arguments: kinds)
    func `a program that serves the clipboard and does not answer is ended`(_ kind: ClipboardPlace.Kind) throws {
        let place = try ClipboardPlace(kind)
        let time = KeeperTime()
        defer { time.end() }
        let sandbox = try opened()
        defer { _ = try? sandbox.run("lock", "--shut-down") }
        let copied = try sandbox.run("copy", "mail", "--clear-after=\(time)", environment: place.environment)
        #expect(copied.code == 0, "\(copied.errors)")
        let keeper = try #require(time.keepers.first)
        let owner = try #require(child(of: keeper))
        kill(owner, SIGSTOP)
        kill(keeper, SIGTERM)
        try wait("the keeper's end") { time.keepers.isEmpty }
        #expect(kill(owner, 0) == -1, "the program is still there")
    }

    private func child(of parent: Int32) -> Int32? {
        Processes.named().first { process in
            let stat = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
            // Behind the name, which may hold anything: the state and the parent.
            return stat?.split(separator: ") ").last?.split(separator: " ").dropFirst().first.map(String.init)
                == "\(parent)"
        }
    }

    @Test func `without a display or a program the error says what is missing`() throws {
        let sandbox = try Sandbox()
        let none = try sandbox.run("copy", "mail")
        #expect(none.code == 1 && none.errors.contains("neither $WAYLAND_DISPLAY nor $DISPLAY is set"))
        let noProgram = try sandbox.run("copy", "mail", environment: ["DISPLAY": ":1", "PATH": "/nowhere"])
        #expect(noProgram.code == 1 && noProgram.errors.contains("install xclip"))
    }
}

/// A time that only one test clears after, so that its keeper is known by it.
private struct KeeperTime: CustomStringConvertible {
    /// Another run's may be under way.
    private static let next = Mutex(Int.random(in: 0..<2000))

    private let seconds = KeeperTime.next.withLock { next in
        next += 1
        return 1600 + next % 2000
    }

    var description: String { "\(seconds)" }

    var keepers: [Int32] { Processes.named("clipboard", "--clear-after", "\(seconds)\0") }

    /// Ends what a failure has left.
    func end() { for keeper in keepers { kill(keeper, SIGTERM) } }
}

private enum Processes {
    /// Processes with these words behind their names.
    static func named(_ words: String...) -> [Int32] {
        let wanted = Array(words.joined(separator: "\0").utf8)
        return ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap { Int32($0) }.filter {
            number in
            guard let line = FileManager.default.contents(atPath: "/proc/\(number)/cmdline") else { return false }
            return wanted.isEmpty || line.range(of: Data(wanted)) != nil
        }
    }
}
