import BetterAuth
import CommandLineArguments
import Holdfast
import Testing

@testable import HoldfastCommand

/// What the command tells a person to do about an error.
@Suite struct AdviceTests {
    /// Codes that need no advice: the user has just said so, or the reason says what a value must be.
    private static let silent: Set<VaultError.Code.Kind> = [.cancelled, .invalidItem]

    @Test(arguments: VaultError.Code.Kind.allCases)
    func `every code of the vault has advice that can be followed`(_ code: VaultError.Code.Kind) throws {
        guard !AdviceTests.silent.contains(code) else { return #expect(Advice.on(code) == nil) }
        try check(try #require(Advice.on(code)))
    }

    @Test(
        arguments: VaultError.Code.Kind.allCases,
        [[], [.device], [.passcode], [.device, .recoveryPhrase]] as [[SlotKind]])
    func `advice that depends on what opens the vault names no way that is not there`(
        _ code: VaultError.Code.Kind, _ slots: [SlotKind]
    ) throws {
        guard let advice = Advice.on(code, whereOpenBy: slots) else { return }
        try check(advice)
        #expect(slots.contains(.recoveryPhrase) || !advice.contains("holdfast recover"))
        #expect(slots.contains(.passcode) || !advice.contains("--passcode"))
    }

    @Test(arguments: IdentityError.Code.Kind.allCases)
    func `every code of the identity has advice that can be followed`(_ code: IdentityError.Code.Kind) throws {
        try check(try #require(Advice.on(code)))
    }

    /// Every command that it names is in the table, and every option is one of some command.
    private func check(_ advice: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        for part in advice.split(separator: "holdfast ", omittingEmptySubsequences: false).dropFirst() {
            let words = part.prefix { $0.isLowercase || $0 == " " || $0 == "-" }.split(separator: " ").map(String.init)
            let count = (1...3).reversed().first {
                $0 <= words.count && CommandTable.program.command(Array(words.prefix($0))) != nil
            }
            guard let count, let command = CommandTable.program.command(Array(words.prefix(count)))?.syntax else {
                Issue.record("there is no command holdfast \(part)", sourceLocation: sourceLocation)
                continue
            }
            #expect(command.successor == nil, "\(part) is an earlier word", sourceLocation: sourceLocation)
            // What it needs stands there, so that the line can be typed as it is: `holdfast restore FOLDER --home NEW`.
            let rest = part.split(separator: " ").dropFirst(count).prefix { word in
                word.hasPrefix("-") || word.contains("=") || word.allSatisfy { $0.isUppercase || ";,.".contains($0) }
            }
            let places = rest.filter { !$0.hasPrefix("-") }
            let needed = command.places.filter { !$0.isOptional && !$0.isRest }
            #expect(places.count >= needed.count, "\(part) lacks \(needed.map(\.name))", sourceLocation: sourceLocation)
            for option in rest where option.hasPrefix("--") {
                let name = String(option.dropFirst(2).prefix { $0.isLetter || $0 == "-" })
                #expect(command.option(named: name) != nil, "\(part)", sourceLocation: sourceLocation)
            }
        }
        for word in advice.split(whereSeparator: { " ;,:=".contains($0) }) where word.hasPrefix("--") {
            let isOption = CommandTable.program.all.contains {
                $0.syntax.option(named: String(word.dropFirst(2))) != nil
            }
            #expect(isOption, "no command takes \(word)", sourceLocation: sourceLocation)
        }
        #expect(advice.first?.isUppercase == false && advice.last != ".", sourceLocation: sourceLocation)
    }

    @Test func `an error of the vault is told with its advice and keeps its code`() {
        let error = CommandError(VaultError(.noPIN, "this vault has no PIN"))
        #expect(error.code == .noPIN && error.what == "this vault has no PIN")
        #expect(error.message == "this vault has no PIN; holdfast enroll pin sets one, with the passcode")
    }

    @Test func `an error of the identity that came through the agent gets the identity's advice`() {
        let error = CommandError(ofIdentity: VaultError(VaultError.Code(word: "wrongPhrase"), "it is another phrase"))
        #expect(error.code == .wrongPhrase && error.advice == Advice.on(IdentityError.Code.Kind.wrongPhrase))
        let other = CommandError(ofIdentity: VaultError(VaultError.Code(word: "agentUnavailable"), "it ended"))
        #expect(other.advice == Advice.on(VaultError.Code.Kind.agentUnavailable))
    }

    @Test func `a code of a newer agent is passed on without advice`() {
        let error = CommandError(VaultError(VaultError.Code(word: "ofTomorrow"), "something new"))
        #expect(error.code.description == "ofTomorrow" && error.message == "something new" && error.exit == .failure)
    }

    @Test func `an unknown error is unexpected and tells its type alone`() {
        struct Strange: Error, CustomStringConvertible { let description = "a secret" }
        let error = CommandError(Strange())
        #expect(error.code == .unexpected && error.what.contains("Strange") && !error.message.contains("a secret"))
        #expect(CommandError(SecretMemoryError.derivationOutOfMemory).code == .outOfMemory)
        #expect(CommandError(SecretMemoryError.libraryUnavailable).code == .cryptography)
        #expect(CommandError(SecretMemoryError.invalidSize(-1)).code == .unexpected)
    }
}
