/// What a program wants to have asked, in the part of the Assuan protocol that pinentry programs speak. A value without
/// any effect: it is given bytes and says what to do.
struct AssuanTalk {
    /// A question.
    struct Words: Equatable {
        var title = ""
        var text = ""
        /// What stands before the field for a secret.
        var field = ""
        /// What was wrong before.
        var problem = ""
        var yes = ""
        var no = ""
        /// Seconds after which nobody is asked any more; 0 for no end.
        var seconds = 0
        /// Whether a secret is asked for, and not yes or no.
        var isSecret = false
        /// Whether there is nothing to decide.
        var isMessage = false
    }

    enum Step: Equatable {
        case say(String)
        case ask(Words)
        /// It wants no more.
        case leave
        /// What it says is not the protocol.
        case hang
    }

    /// How a question ended, as the protocol says it: a code of libgpg-error's, of pinentry.
    enum Ending: String {
        case yes = "OK"
        case cancelled = "ERR 83886179 Operation cancelled <Pinentry>"
        case refused = "ERR 83886194 Not confirmed <Pinentry>"
        case timedOut = "ERR 83886142 Timeout <Pinentry>"
        case failed = "ERR 83886081 General error <Pinentry>"
    }

    static let greeting = "OK Pleased to meet you"
    /// Bytes of a line, with its end.
    static let longestLine = 1000
    /// Seconds, at most, that somebody may ask for.
    private static let longest = 86_400

    private var words = Words()
    private var line: [UInt8] = []

    /// Takes one byte.
    /// - Returns: What to do; nil until the line has ended.
    mutating func receive(_ byte: UInt8) -> Step? {
        guard byte == UInt8(ascii: "\n") else {
            line.append(byte)
            return line.count < AssuanTalk.longestLine ? nil : .hang
        }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        defer { line = [] }
        let command = line.prefix { $0 != UInt8(ascii: " ") }
        let rest = line.dropFirst(command.count).drop { $0 == UInt8(ascii: " ") }
        return handle(String(decoding: command, as: UTF8.self).uppercased(), rest)
    }

    private mutating func handle(_ command: String, _ rest: ArraySlice<UInt8>) -> Step {
        let text = AssuanTalk.text(rest)
        switch command {
        case "SETTITLE": words.title = text
        case "SETDESC": words.text = text
        case "SETPROMPT": words.field = text
        case "SETERROR": words.problem = text
        case "SETOK": words.yes = text
        case "SETCANCEL": words.no = text
        case "SETTIMEOUT": words.seconds = Int(text).map { min(max($0, 0), AssuanTalk.longest) } ?? 0
        case "GETPIN", "CONFIRM", "MESSAGE":
            var asked = words
            asked.isSecret = command == "GETPIN"
            asked.isMessage = command == "MESSAGE" || (command == "CONFIRM" && text.hasPrefix("--one-button"))
            words.problem = ""
            return .ask(asked)
        case "RESET": words = Words()
        // The display is in the environment; what the rest sets is not shown.
        case "OPTION", "NOP", "SETKEYINFO", "SETNOTOK", "SETREPEAT", "SETREPEATERROR", "": break
        case "GETINFO" where text == "flavor": return .say("D gnome3:holdfast\nOK")
        case "BYE": return .leave
        default: return .say("ERR 83886355 Unknown IPC command <Pinentry>")
        }
        return .say("OK")
    }

    /// An argument without its escapes.
    private static func text(_ escaped: ArraySlice<UInt8>) -> String {
        var (bytes, rest): ([UInt8], ArraySlice<UInt8>) = ([], escaped)
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2, digits.allSatisfy({ $0 < 0x80 }),
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16), digits.first != UInt8(ascii: "+")
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        // A zero would end the text for GTK, and hide what is behind it.
        return String(decoding: bytes.filter { $0 != 0 }, as: UTF8.self)
    }
}
