#if os(Linux)
import CrashSubject
import VaultCore

/// What must hold after `CrashSubject script`, however it ended.
struct ScriptJournal {
    private(set) var records = Acknowledged()
    /// Numbers of secrets one of which opens the vault.
    private(set) var passcodes: Set<Int> = [0]
    private(set) var phrases: Set<Int> = [0]
    /// Attempts that were burned durably and not given back.
    private(set) var spentAtLeast = 0
    /// Steps that were refused, with the code.
    private(set) var failures: [(step: String, code: String)] = []
    private var step = ""

    init(_ before: [Operation]) {
        for operation in before {
            records.begin(operation)
            records.end(done: true)
        }
    }

    mutating func follow(_ lines: [String]) throws {
        for line in lines {
            let words = line.split(separator: " ", maxSplits: 1).map(String.init)
            switch (words[0], words.count) {
            case ("begin", 2): try begin(words[1])
            case ("burned", 1): spentAtLeast += 1
            case ("done", 1): end(isDone: true)
            case ("failed", 2):
                failures.append((step, words[1]))
                end(isDone: false)
            case ("end", 1): break
            default: throw Problem("not understood: \(line)")
            }
        }
    }

    private mutating func begin(_ step: String) throws {
        self.step = step
        let words = step.split(separator: " ", maxSplits: 1)
        let numbers = step.split(separator: " ").compactMap { Int($0) }
        switch words[0] {
        case "operation":
            guard let operation = Operation(parsing: words[1]) else { throw Problem("not understood: \(step)") }
            records.begin(operation)
        case "guess", "finish", "unlock-phrase": break
        default:
            // A right passcode or the phrase gives the attempts back on the way.
            spentAtLeast = 0
            if let passcode = numbers.first { passcodes.insert(passcode) }
            if numbers.count == 2 { phrases.insert(numbers[1]) }
        }
    }

    private mutating func end(isDone: Bool) {
        let numbers = step.split(separator: " ").compactMap { Int($0) }
        if step.hasPrefix("operation") {
            records.end(done: isDone)
        } else if !step.hasPrefix("guess"), isDone, let passcode = numbers.first {
            passcodes = [passcode]
            if numbers.count == 2 { phrases = [numbers[1]] }
        }
    }

    /// Opens the vault as its owner would and says what is wrong.
    mutating func check(_ home: String, _ clock: FileClock) throws -> String? {
        let vault = try Vault.known(home, clock)
        let remaining = try vault.status().remainingAttempts
        guard remaining <= 5 - spentAtLeast else {
            return "\(spentAtLeast) attempts were burned, \(remaining) of 5 remain"
        }
        guard remaining > 0 else { return "all attempts are gone" }
        let opening = try passcodes.filter { try vault.opens($0, clock) }
        guard opening.count == 1 else { return "of the passcodes \(passcodes.sorted()) \(opening.sorted()) open" }
        let openingPhrases = try phrases.filter { try vault.opens(phrase: $0) }
        guard openingPhrases.count == 1 else {
            return "of the phrases \(phrases.sorted()) \(openingPhrases.sorted()) open"
        }
        if let problem = try records.compare(vault) { return problem }
        if try vault.isRekeyUnfinished { try vault.finishRekey() }
        if let problem = try vault.verifyAndClean() { return problem }
        return try records.compare(vault)
    }
}
#endif
