#if os(Linux) && !canImport(Darwin)
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
    private var earlier: (passcodes: Set<Int>, phrases: Set<Int>) = ([], [])
    /// The fault hit the first copy of the header: a change that was refused was not made.
    private let headerStays: Bool

    init(_ before: [Operation], headerStays: Bool = false) {
        self.headerStays = headerStays
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
        case "guess", "finish", "unlock-phrase", "unlock-again": break
        default:
            // A right passcode or the phrase gives the attempts back on the way.
            spentAtLeast = 0
            earlier = (passcodes, phrases)
            if let passcode = numbers.first { passcodes.insert(passcode) }
            if numbers.count == 2 { phrases.insert(numbers[1]) }
        }
    }

    private mutating func end(isDone: Bool) {
        let numbers = step.split(separator: " ").compactMap { Int($0) }
        guard let passcode = numbers.first, !step.hasPrefix("operation") else {
            return records.end(done: isDone)
        }
        if isDone {
            passcodes = [passcode]
            if numbers.count == 2 { phrases = [numbers[1]] }
        } else if headerStays {
            (passcodes, phrases) = earlier
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
        // The oldest first: after refused changes it is the one, and wrong ones before it would use the attempts up.
        let opening = try passcodes.sorted().filter { try vault.opens($0, clock) }
        guard opening.count == 1 else { return "of the passcodes \(passcodes.sorted()) \(opening) open" }
        let openingPhrases = try phrases.filter { try vault.opens(phrase: $0) }
        guard openingPhrases.count == 1 else {
            return "of the phrases \(phrases.sorted()) \(openingPhrases.sorted()) open"
        }
        if let problem = try records.compare(vault) { return problem }
        if try vault.isRekeyUnfinished {
            try vault.finishRekey()
            if let problem = try records.compare(vault) { return "after finishing: \(problem)" }
        }
        return try vault.verifyAndClean()
    }
}
#endif
