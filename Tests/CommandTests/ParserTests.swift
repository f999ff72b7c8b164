import CommandLineArguments
import Holdfast
import Testing

@testable import HoldfastCommand

@Suite struct ParserTests {
    private func run(_ words: String...) throws -> (CommandSyntax, Arguments) {
        guard case .run(let command, let arguments) = try CommandTable.program.parse(words) else {
            throw CommandError.failure(.init(word: "test"), "no command")
        }
        return (command.syntax, arguments)
    }

    /// The command of a line as help shows it, without its `holdfast`.
    private func parsed(_ line: String) -> CommandSyntax? {
        let words = line.split(separator: " ").map(String.init)
        guard words.first == "holdfast",
            case .run(let command, _)? = try? CommandTable.program.parse(Array(words.dropFirst()))
        else {
            return nil
        }
        return command.syntax
    }

    @Test(
        arguments: [
            ("90", 90), ("90s", 90), ("15min", 900), ("15m", 900), ("12h", 43_200), ("3d", 259_200), ("0", 0),
            ("007", 7),
            ("", nil), ("h", nil), ("1.5h", nil), ("-1", nil), ("+1", nil), ("1 h", nil), ("1h30min", nil), ("1H", nil),
            ("\u{661}h", nil), ("9223372036854775807", Int.max), ("9223372036854775808", nil),
            ("9223372036854775807d", nil), ("1h\0", nil),
        ] as [(String, Int?)])
    func `a duration is seconds, or a number with one unit`(_ word: String, _ seconds: Int?) {
        #expect(DurationWord.seconds(word) == seconds)
        if let seconds { #expect(DurationWord.seconds(DurationWord.word(seconds)) == seconds) }
    }

    @Test func optionsStandAnywhere() throws {
        for words in [
            ["--home", "/h", "get", "n", "--collection", "c"], ["get", "--home=/h", "--collection=c", "n"],
            ["get", "--collection", "c", "n", "--home", "/h"], ["--home=/h", "get", "--collection=c", "--", "n"],
        ] {
            guard case .run(let command, let arguments) = try CommandTable.program.parse(words) else {
                Issue.record("\(words)")
                continue
            }
            #expect(command.syntax.name == "get")
            #expect(arguments[place: 0] == "n")
            #expect(arguments[Options.home] == "/h")
            #expect(arguments[Options.collection] == "c")
            #expect(!arguments[Options.replace])
        }
    }

    @Test func valuesKeepTheirEqualsSigns() throws {
        let (_, arguments) = try run("get", "n", "--collection=a=b=")
        #expect(arguments[Options.collection] == "a=b=")
    }

    @Test func behindTwoHyphensEverythingIsAnArgument() throws {
        let (command, arguments) = try run("get", "--", "--home")
        #expect(command.name == "get")
        #expect(arguments[place: 0] == "--home")
        #expect(arguments[Options.home] == nil)
    }

    @Test func oneHyphenIsAName() throws {
        #expect(try run("get", "-").1[place: 0] == "-")
    }

    @Test func twoWordsNameACommand() throws {
        let (command, arguments) = try run("passcode", "change", "--rekey", "--passcode-fd", "7")
        #expect(command.name == "passcode change")
        #expect(arguments[Options.rekey])
        #expect(arguments[Options.passcodeDescriptor] == 7)
        #expect(arguments[Options.phraseDescriptor] == nil)
    }

    @Test func helpGoesBeforeErrors() throws {
        for words in [["put", "--help"], ["put", "-h"], ["--help", "put"], ["help", "put"]] {
            switch try CommandTable.program.parse(words) {
            case .help(let topic): #expect(topic == ["put"])
            case .run(let command, let arguments):
                #expect(command.syntax.name == "help")
                #expect(arguments.places == ["put"])
            case .version: Issue.record("\(words)")
            }
        }
    }

    @Test(
        "suggestion",
        arguments: [
            ("lst", "list"), ("ls", nil), ("frob", nil), ("statsu", "status"), ("verfy", "verify"),
            ("bakup", "backup"),
            ("comp", "completions"), ("x", nil), ("", nil), (String(repeating: "list", count: 1000), nil),
        ] as [(String, String?)])
    func isNearEnough(_ word: String, _ meant: String?) {
        #expect(Suggestion.nearest(to: word, among: CommandTable.program.nextWords([])) == meant)
    }

    @Test func distanceCountsEdits() {
        func distance(_ left: String, _ right: String) -> Int {
            Suggestion.distance(Array(left.utf8), Array(right.utf8))
        }
        #expect(distance("", "") == 0)
        #expect(distance("", "abc") == 3)
        #expect(distance("abc", "acb") == 1)
        #expect(distance("kitten", "sitting") == 3)
        #expect(distance("abcd", "abd") == 1)
    }

    /// What help, completions and parsing rely on.
    @Test func theTableIsSound() {
        let commands = CommandTable.program.all.map(\.syntax)
        let names = commands.map(\.name)
        #expect(Set(names).count == names.count)
        for command in commands {
            // Only `config` also begins another command.
            let isAlone = CommandTable.program.group(command.words).isEmpty || command.words == ["config"]
            #expect(isAlone, "\(command.name) is a command and a group")
            #expect(Set(command.options.map(\.name)).count == command.options.count)
            #expect(command.places.dropLast().allSatisfy { !$0.isRest })
            #expect(!command.summary.isEmpty && !command.details.isEmpty)
            #expect(parsed(command.example)?.name == command.name, "the example of \(command.name)")
        }
        for option in commands.flatMap(\.shownOptions) {
            let others = commands.compactMap { $0.shownOptions.first { $0.name == option.name } }
            #expect(others.allSatisfy { $0.kind == option.kind }, "--\(option.name) differs between commands")
        }
    }
}
