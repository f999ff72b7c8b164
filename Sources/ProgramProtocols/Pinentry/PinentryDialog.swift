/// One question to a pinentry program, in the part of the Assuan protocol that it needs: options, texts and CONFIRM. A
/// value without any effect: it is given bytes and says what to send.
///
/// Only an `OK` to CONFIRM allows anything. What the program says unasked, too long, or in another order ends the
/// conversation. Before CONFIRM it is told a command that none knows: a program that says OK to everything, without
/// reading, has not shown the question to anybody.
package struct PinentryDialog: Sendable, Hashable {
    /// What to do next.
    package enum Step: Sendable, Hashable {
        /// The program has not said all of it.
        case wait
        case send([UInt8])
        /// The last line, whose answer has a secret: ``PinentryEntry`` reads that.
        case enter([UInt8])
        case end(Outcome)
    }

    /// How the question ended.
    package enum Outcome: Sendable, Hashable {
        case allowed
        case refused
        /// The program said that nobody answered.
        case timedOut
        /// The program cannot ask here.
        case failed
        /// What it says is not the protocol.
        case hostile
    }

    /// What the program is told.
    package struct Words: Sendable, Hashable {
        package var title = ""
        package var description = ""
        package var yes = ""
        package var no = ""
        /// What stands before the field for a secret; nil where yes or no is asked for.
        package var field: String?
        /// What was wrong with the secret before.
        package var problem = ""
        /// Seconds after which it gives up.
        package var seconds: UInt32 = 60
        /// As `display` and `:0`. Those with other characters than such values have are left out.
        package var options: [(name: String, value: String)] = []

        package init() {}

        package static func == (left: Words, right: Words) -> Bool { left.lines == right.lines }

        package func hash(into hasher: inout Hasher) { hasher.combine(lines) }

        /// Commands, and whether each must succeed.
        fileprivate var commands: [(line: [UInt8], isNeeded: Bool)] {
            var commands = options.filter { isPlain($0.name) && isPlain($0.value) }.map { option in
                (line: Array("OPTION \(option.name)=\(option.value)".utf8), isNeeded: false)
            }
            commands.append((Array("SETTIMEOUT \(seconds)".utf8), false))
            for (command, text, isNeeded) in [
                ("SETTITLE", title, false), ("SETDESC", description, true), ("SETOK", yes, true),
                ("SETCANCEL", no, false),
            ] {
                commands.append((Array("\(command) ".utf8) + PinentryDialog.escaped(text), isNeeded))
            }
            if let field { commands.append((Array("SETPROMPT ".utf8) + PinentryDialog.escaped(field), false)) }
            if !problem.isEmpty { commands.append((Array("SETERROR ".utf8) + PinentryDialog.escaped(problem), false)) }
            commands.append((PinentryDialog.unknown, false))
            commands.append((field == nil ? Array("CONFIRM".utf8) : PinentryDialog.secret, true))
            return commands
        }

        private var lines: [[UInt8]] { commands.map(\.line) }

        private func isPlain(_ text: String) -> Bool {
            (1...256).contains(text.utf8.count)
                && text.utf8.allSatisfy { byte in
                    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "-._:/@".utf8.contains(byte)
                }
        }
    }

    /// Bytes of a line, with its end.
    package static let longestLine = 1000
    /// Lines that say nothing, at most: comments and states.
    private static let mostAsides = 64

    private static let unknown = Array("HOLDFAST".utf8)
    private static let secret = Array("GETPIN".utf8)

    private let words: Words
    /// The command whose answer is awaited; -1 for the greeting.
    private var asked = -1
    private var line: [UInt8] = []
    private var asides = 0
    private var outcome: Outcome?

    package init(_ words: Words) { self.words = words }

    /// Takes what the program wrote.
    package mutating func receive(_ bytes: some Sequence<UInt8>) -> Step {
        if let outcome { return .end(outcome) }
        var step = Step.wait
        for byte in bytes {
            // It has not heard the next command yet, so it cannot answer it.
            switch step {
            case .send, .enter: return end(.hostile)
            case .wait, .end: break
            }
            guard byte == UInt8(ascii: "\n") else {
                line.append(byte)
                guard line.count < PinentryDialog.longestLine else { return end(.hostile) }
                continue
            }
            if line.last == UInt8(ascii: "\r") { line.removeLast() }
            step = answer()
            line = []
            if case .end(let outcome) = step { return end(outcome) }
        }
        return step
    }

    /// The program has closed its end.
    package mutating func receiveEnd() -> Outcome {
        if outcome == nil { _ = end(line.isEmpty ? .failed : .hostile) }
        return outcome ?? .failed
    }

    private mutating func end(_ outcome: Outcome) -> Step {
        self.outcome = outcome
        return .end(outcome)
    }

    private mutating func answer() -> Step {
        let word = line.prefix { $0 != UInt8(ascii: " ") }
        switch word {
        case _ where word.first == UInt8(ascii: "#"), Array("S".utf8)[...]:
            asides += 1
            return asides > PinentryDialog.mostAsides ? .end(.hostile) : .wait
        case Array("OK".utf8)[...]: return nextStep()
        case Array("ERR".utf8)[...]: return fail(line.dropFirst(word.count))
        default: return .end(.hostile)
        }
    }

    private mutating func nextStep() -> Step {
        let commands = words.commands
        if asked >= 0, commands[asked].line == PinentryDialog.unknown { return .end(.hostile) }
        return next(commands)
    }

    private mutating func next(_ commands: [(line: [UInt8], isNeeded: Bool)]) -> Step {
        asked += 1
        guard asked < commands.count else { return .end(words.field == nil ? .allowed : .hostile) }
        let line = commands[asked].line + [UInt8(ascii: "\n")]
        return commands[asked].line == PinentryDialog.secret ? .enter(line) : .send(line)
    }

    /// `ERR number text`: the lower 16 bits of the number are a code of libgpg-error's.
    private mutating func fail(_ rest: ArraySlice<UInt8>) -> Step {
        let digits = rest.drop { $0 == UInt8(ascii: " ") }.prefix { (48...57).contains($0) }
        guard asked >= 0, !digits.isEmpty, digits.count <= 10,
            let number = UInt64(String(decoding: digits, as: UTF8.self))
        else { return .end(.hostile) }
        let commands = words.commands
        guard asked == commands.count - 1 else { return commands[asked].isNeeded ? .end(.failed) : next(commands) }
        return .end(PinentryDialog.outcome(number))
    }

    private static func outcome(_ number: UInt64) -> Outcome {
        switch number & 0xFFFF {
        case 99, 114, 198: .refused  // cancelled, not confirmed, wholly cancelled
        case 62: .timedOut
        default: .failed
        }
    }

    /// How it ended by the number behind `ERR`.
    static func outcome(_ digits: [UInt8]) -> Outcome {
        let digits = digits.prefix { (48...57).contains($0) }
        return UInt64(String(decoding: digits, as: UTF8.self)).map(outcome) ?? .hostile
    }

    /// A text as an argument: what would end the line, or begins an escape, is escaped. It is cut where the line would
    /// be too long.
    private static func escaped(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        for character in text.unicodeScalars {
            var next = Array(String(character).utf8)
            if character.value < 0x20 || character == "%" {
                let digits = Array("0123456789ABCDEF".utf8)
                next = [UInt8(ascii: "%"), digits[Int(character.value >> 4)], digits[Int(character.value & 15)]]
            }
            guard bytes.count + next.count <= longestLine - 16 else { break }
            bytes += next
        }
        return bytes
    }
}
