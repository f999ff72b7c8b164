import ProgramProtocols
import TestSupport
import Testing

/// A pinentry program, as it is and as it should not be.
@Suite(.seeded) struct PinentryTests {
    private static func words() -> PinentryDialog.Words {
        var words = PinentryDialog.Words()
        words.title = "Holdfast"
        words.description = "one\ntwo 100%"
        words.yes = "Allow"
        words.no = "Refuse"
        words.options = [("display", ":0"), ("ttyname", "/dev/pts/3"), ("display", "a b"), ("x y", "1"), ("e", "")]
        return words
    }

    /// Says each line when it was told the last command; how it ended and what it was told.
    private func talk(_ lines: [String], greeting: String = "OK Pleased to meet you\n") -> (String, [String]) {
        var dialog = PinentryDialog(Self.words())
        var told: [String] = []
        for line in [greeting] + lines {
            switch dialog.receive(Array(line.utf8)) {
            case .wait: continue
            case .send(let bytes), .enter(let bytes): told.append(String(decoding: bytes, as: UTF8.self))
            case .end(let outcome): return ("\(outcome)", told)
            }
        }
        return ("\(dialog.receiveEnd())", told)
    }

    private static let commands = [
        "OPTION display=:0\n", "OPTION ttyname=/dev/pts/3\n", "SETTIMEOUT 60\n", "SETTITLE Holdfast\n",
        "SETDESC one%0Atwo 100%25\n", "SETOK Allow\n", "SETCANCEL Refuse\n", "HOLDFAST\n",
        "CONFIRM\n",
    ]
    private static let ok = [String](repeating: "OK\n", count: 7) + ["ERR 536871187 Unknown IPC command\n", "OK\n"]

    @Test func `a program that says OK to everything has asked nobody`() {
        #expect(talk([String](repeating: "OK\n", count: 20)).0 == "hostile")
    }

    @Test func `an OK to the question allows, after everything was told in order`() {
        let (outcome, told) = talk(Self.ok)
        #expect(outcome == "allowed" && told == Self.commands)
        #expect(talk(Self.ok.map { "# aside\nS STATE\n" + $0 }).0 == "allowed")
        #expect(talk(Self.ok.map { $0.dropLast() + "\r\n" }).0 == "allowed")
    }

    @Test func `options that the program does not know are passed over, and texts that it does not show are not`() {
        var lines = Self.ok
        lines[0] = "ERR 83886254 unknown option\n"
        lines[2] = "ERR 536871187 unknown command\n"
        #expect(talk(lines).0 == "allowed")
        lines[4] = "ERR 1 no\n"
        #expect(talk(lines).0 == "failed")
    }

    @Test(
        arguments: [
            ("ERR 83886179 Operation cancelled <Pinentry>\n", "refused"), ("ERR 99\n", "refused"),
            ("ERR 83886194 Not confirmed\n", "refused"), ("ERR 83886142 Timeout\n", "timedOut"),
            ("ERR 83886278 Fully cancelled\n", "refused"), ("ERR 1 General error\n", "failed"),
            ("ERR\n", "hostile"), ("ERR x\n", "hostile"), ("ERR -1\n", "hostile"), ("ERR 99999999999\n", "hostile"),
            ("OKAY\n", "hostile"), ("ok\n", "hostile"), ("D pin\n", "hostile"), ("INQUIRE PIN\n", "hostile"),
            ("\n", "hostile"), (" OK\n", "hostile"), ("", "failed"), ("OK", "hostile"), ("OK\nOK\n", "allowed"),
        ])
    func `only an OK allows`(answer: String, outcome: String) {
        #expect(talk(Self.ok.dropLast() + [answer]).0 == outcome)
    }

    @Test func `what is said before it was asked for ends the conversation`() {
        #expect(talk([], greeting: "OK\nOK\n").0 == "hostile")
        #expect(talk([], greeting: String(repeating: "OK\n", count: 20)).0 == "hostile")
        #expect(talk(["OK\nO"]).0 == "hostile", "the next answer has begun before the command")
        #expect(talk(["OK\n# aside\n"]).0 == "hostile")
    }

    @Test func `a greeting that is none, a line without end and asides without end are refused`() {
        #expect(talk([], greeting: "ERR 99 no\n").0 == "hostile")
        #expect(talk([], greeting: "hello\n").0 == "hostile")
        #expect(talk([], greeting: "OK " + String(repeating: "x", count: 996) + "\n").0 == "failed")
        #expect(talk([], greeting: "OK " + String(repeating: "x", count: 997) + "\n").0 == "hostile")
        #expect(talk([], greeting: String(repeating: "x", count: 100_000)).0 == "hostile")
        #expect(talk([], greeting: String(repeating: "# x\n", count: 65)).0 == "hostile")
    }

    @Test func `texts are cut to a line`() {
        var words = Self.words()
        words.options = []
        words.description = String(repeating: "%\u{e9}", count: 1000)
        var dialog = PinentryDialog(words)
        var longest = 0
        for answer in Self.ok {
            guard case .send(let line) = dialog.receive(Array(answer.utf8)) else { break }
            longest = max(longest, line.count)
            #expect(line.count(where: { $0 == 10 }) == 1 && String(validating: line, as: UTF8.self) != nil)
        }
        #expect((990...PinentryDialog.longestLine).contains(longest))
    }

    @Test func `no bytes end in yes but those of a program that said OK to everything`() {
        var random = SeededGenerator()
        let lines = Self.ok
        for _ in 0..<2000 {
            var dialog = PinentryDialog(Self.words())
            var step = dialog.receive(Array("OK\n".utf8))
            let changed = Int.random(in: 0..<lines.count, using: &random)
            for index in lines.indices {
                guard case .send = step else { break }
                var line = Array(lines[index].utf8)
                if index == changed {
                    line[Int.random(in: 0..<2, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
                }
                step = dialog.receive(line)
            }
            #expect(step != .end(.allowed))
        }
    }
}
