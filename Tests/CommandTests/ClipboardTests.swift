import Foundation
import Testing

/// `copy` and `otp --copy` with xclip on an X server of its own.
@Suite struct ClipboardTests {
    /// An X server without a screen; ends with this object.
    private final class Display {
        let name: String
        private let server: Child

        init() throws {
            var ends: [Int32] = [-1, -1]
            try #require(unsafe pipe(&ends) == 0)
            defer { close(ends[0]) }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            server = try Child(
                "/usr/bin/Xvfb",
                raw: ["-displayfd", "9", "-screen", "0", "16x16x24", "-nolisten", "tcp"].map { Array($0.utf8) },
                descriptors: [9: .ours(ends[1])])
            close(ends[1])
            var number: [UInt8] = []
            var byte: UInt8 = 0
            while unsafe read(ends[0], &byte, 1) == 1, byte != 10 { number.append(byte) }
            name = ":" + String(decoding: number, as: UTF8.self)
            try #require(name.utf8.count > 1, "Xvfb does not start")
        }

        deinit {
            kill(server.pid, SIGTERM)
            _ = server.wait(seconds: 10)
        }
    }

    private func opened(_ display: Display) throws -> AgentSandbox {
        let sandbox = try AgentSandbox()
        try #require(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0)
        let added = try sandbox.run(
            "add", "mail", "-u", "ada", "--secret-fd=5", descriptors: [5: sandbox.lines("hunter2")])
        try #require(added.code == 0, "\(added.errors)")
        return sandbox
    }

    private func variables(_ display: Display) -> [String: String] { ["DISPLAY": display.name, "WAYLAND_DISPLAY": ""] }

    /// What can be pasted; nil where nobody has the clipboard.
    private func pasted(_ sandbox: AgentSandbox, _ display: Display) throws -> String? {
        let result = try sandbox.sandbox.run(
            "/usr/bin/xclip", raw: ["-selection", "clipboard", "-out"].map { Array($0.utf8) },
            environment: variables(display))
        return result.code == 0 ? result.text : nil
    }

    /// Processes with these words behind their names.
    private func processes(_ words: String...) -> [Int32] {
        let wanted = Array(words.joined(separator: "\0").utf8)
        return ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap { Int32($0) }.filter {
            number in
            guard let line = FileManager.default.contents(atPath: "/proc/\(number)/cmdline") else { return false }
            return line.range(of: Data(wanted)) != nil
        }
    }

    /// Waits for something that another process does; gives up after a minute.
    private func wait(_ what: String, _ isThere: () throws -> Bool) throws {
        for _ in 0..<600 {
            if try isThere() { return }
            usleep(100_000)
        }
        Issue.record("\(what) does not come")
    }

    @Test func `what is copied is cleared after its time, and its keeper is gone`() throws {
        let display = try Display()
        let sandbox = try opened(display)
        defer { _ = try? sandbox.run("lock", "--shut-down") }
        let copied = try sandbox.run("copy", "mail", "--clear-after=3", environment: variables(display))
        // It has seen the value there.
        #expect(copied.code == 0 && copied.output.isEmpty, "\(copied.errors)")
        try wait("the end of the clipboard") { try pasted(sandbox, display)?.isEmpty ?? true }
        try wait("the keeper's end") { processes("clipboard", "--clear-after", "3\0").isEmpty }
    }

    @Test func `what somebody else copied is not cleared, and the keeper ends with its work`() throws {
        let display = try Display()
        let sandbox = try opened(display)
        defer { _ = try? sandbox.run("lock", "--shut-down") }
        let copied = try sandbox.run(
            "copy", "mail", "-f", "user", "--clear-after=3511", environment: variables(display))
        #expect(copied.code == 0, "\(copied.errors)")
        #expect(try pasted(sandbox, display) == "ada")
        #expect(processes("clipboard", "--clear-after", "3511").count == 1)
        // In the foreground: a daemon of it would keep the descriptor by which its end is known.
        let other = try Child(
            "/usr/bin/xclip", raw: ["-quiet", "-selection", "clipboard", "-in"].map { Array($0.utf8) },
            descriptors: [0: .file(try sandbox.sandbox.file("other".utf8))], environment: variables(display))
        defer {
            kill(other.pid, SIGTERM)
            _ = other.wait()
        }
        try wait("the keeper's end") { processes("clipboard", "--clear-after", "3511").isEmpty }
        #expect(try pasted(sandbox, display) == "other")
    }

    @Test func `a keeper that is told to end clears at once`() throws {
        let display = try Display()
        let sandbox = try opened(display)
        defer { _ = try? sandbox.run("lock", "--shut-down") }
        #expect(
            try sandbox.run("copy", "mail", "--clear-after=3512", environment: variables(display)).code == 0)
        let keeper = try #require(processes("clipboard", "--clear-after", "3512").first)
        // The secret is in no argument and no environment.
        let all = try ["cmdline", "environ"].map { try Data(contentsOf: URL(fileURLWithPath: "/proc/\(keeper)/\($0)")) }
        #expect(all.allSatisfy { $0.range(of: Data("hunter2".utf8)) == nil })
        kill(keeper, SIGTERM)
        try wait("the keeper's end") { processes("clipboard", "--clear-after", "3512").isEmpty }
        #expect(try pasted(sandbox, display)?.isEmpty ?? true)
    }

    @Test func `without a display or a program the error says what is missing`() throws {
        let sandbox = try Sandbox()
        let none = try sandbox.run("copy", "mail")
        #expect(none.code == 1 && none.errors.contains("neither $WAYLAND_DISPLAY nor $DISPLAY is set"))
        let noProgram = try sandbox.run("copy", "mail", environment: ["DISPLAY": ":1", "PATH": "/nowhere"])
        #expect(noProgram.code == 1 && noProgram.errors.contains("install xclip"))
    }
}
