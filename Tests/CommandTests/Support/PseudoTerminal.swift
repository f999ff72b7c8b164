import Foundation
import TestSupport
import Testing

/// A terminal whose screen and keyboard are this test.
final class PseudoTerminal {
    private let screen: Int32
    /// Kept open, so that the terminal outlives the process on it.
    private let line: Int32
    let path: String
    private var seen: [UInt8] = []

    /// - Parameter columns: So many that no line is broken, where a test does not look at just that.
    init(columns: UInt16 = 1000) throws {
        screen = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        try #require(screen >= 0)
        var unlocked: Int32 = 0
        var number: UInt32 = 0
        try #require(unsafe ioctl(screen, 0x4004_5431, &unlocked) == 0)  // TIOCSPTLCK
        try #require(unsafe ioctl(screen, 0x8004_5430, &number) == 0)  // TIOCGPTN
        path = "/dev/pts/\(number)"
        line = unsafe open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        try #require(line >= 0)
        var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        try #require(unsafe ioctl(line, UInt(TIOCSWINSZ), &size) == 0)
    }

    deinit {
        close(line)
        close(screen)
    }

    /// Whether what is typed is shown.
    var echoes: Bool {
        var settings = termios()
        unsafe tcgetattr(line, &settings)
        return settings.c_lflag & tcflag_t(ECHO) != 0
    }

    func type(_ text: String) {
        let bytes = Array(text.utf8)
        #expect(unsafe write(screen, bytes, bytes.count) == bytes.count)
    }

    /// Types a line that nobody reads, and waits until the terminal has it: a kernel thread takes it there, and decides
    /// only then whether it is shown.
    func typeUnread(_ line: String) throws {
        type(line + "\n")
        var waiting = pollfd(fd: self.line, events: Int16(POLLIN), revents: 0)
        try #require(unsafe poll(&waiting, 1, Patience.milliseconds) > 0, "what was typed does not arrive")
    }

    /// Waits until `text` is on the screen, behind what was waited for before.
    /// - Returns: What was shown up to it.
    @discardableResult
    func wait(for text: String, seconds: Int32 = Patience.seconds) throws -> String {
        let wanted = Array(text.utf8)
        while true {
            if let end = end(of: wanted) {
                defer { seen.removeFirst(end) }
                return String(decoding: seen[..<end], as: UTF8.self)
            }
            var waiting = pollfd(fd: screen, events: Int16(POLLIN), revents: 0)
            try #require(
                unsafe poll(&waiting, 1, seconds * 1000) > 0,
                "\"\(text)\" does not come; on the screen: \(String(decoding: seen, as: UTF8.self))")
            var piece = [UInt8](repeating: 0, count: 4096)
            let got = unsafe read(screen, &piece, piece.count)
            try #require(got > 0)
            seen += piece[..<got]
        }
    }

    /// Takes a recovery phrase off the screen as who writes it down does, and answers what is asked of it.
    /// - Returns: Its words.
    @discardableResult
    func takePhrase() throws -> [String] {
        let page = try wait(for: "Press Enter when you have written it down; three words are then asked for: ")
        let words = page.matches(of: /([0-9]+)\. ([a-z]+)/).sorted { Int($0.1) ?? 0 < Int($1.1) ?? 0 }.map {
            String($0.2)
        }
        try #require(words.count == 24, "\(page)")
        type("\n")
        for _ in 0..<3 { type(words[try askedWord() - 1] + "\n") }
        return words
    }

    /// - Returns: The number of the word that is asked for.
    func askedWord() throws -> Int {
        let prompt = try wait(for: " of your sheet (? shows the words again): ")
        return try #require(prompt.matches(of: /Word ([0-9]+) of/).last.flatMap { Int($0.1) }, "\(prompt)")
    }

    private func end(of wanted: [UInt8]) -> Int? {
        guard seen.count >= wanted.count else { return nil }
        for start in 0...(seen.count - wanted.count) where seen[start..<start + wanted.count].elementsEqual(wanted) {
            return start + wanted.count
        }
        return nil
    }

    /// What is on the screen by now and was not waited for.
    func rest() -> String {
        var waiting = pollfd(fd: screen, events: Int16(POLLIN), revents: 0)
        while unsafe poll(&waiting, 1, 0) > 0, waiting.revents & Int16(POLLIN) != 0 {
            var piece = [UInt8](repeating: 0, count: 4096)
            let got = unsafe read(screen, &piece, piece.count)
            if got <= 0 { break }
            seen += piece[..<got]
        }
        defer { seen = [] }
        return String(decoding: seen, as: UTF8.self)
    }
}

extension Sandbox {
    /// Starts the binary on a terminal: standard descriptors and all.
    func start(
        _ words: String..., on terminal: PseudoTerminal, program: String = Program.path,
        descriptors: [Int32: Source] = [:], blocked: [Int32] = [], environment: [String: String] = [:]
    ) throws -> Child {
        try start(
            words, on: terminal, program: program, descriptors: descriptors, blocked: blocked, environment: environment)
    }

    func start(
        _ words: [String], on terminal: PseudoTerminal, program: String = Program.path,
        descriptors: [Int32: Source] = [:], blocked: [Int32] = [], environment: [String: String] = [:]
    ) throws -> Child {
        var all: [Int32: Source] = [
            0: .terminal(terminal.path), 1: .terminal(terminal.path), 2: .terminal(terminal.path),
        ]
        all.merge(descriptors) { $1 }
        return try Child(
            program, raw: words.map { Array($0.utf8) }, descriptors: all,
            environment: ["HOLDFAST_HOME": home, "HOME": path, "TERM": "xterm"].merging(environment) { $1 },
            blocked: blocked)
    }
}
