import VaultCore

/// Endless changes of passcode, phrase and keys. Each passcode has the number after the last one's.
///
/// Lines: `begin KIND PASSCODE PHRASE` with the numbers that hold afterwards, then `done`.
enum KeyChanges {
    static func passcodes(_ home: String, _ clock: FileClock, from first: Int) throws {
        let vault = try Vault.known(home, clock)
        var number = first
        while true {
            try done("passcode \(number + 1)") {
                try vault.changePasscode(
                    from: Known.passcode(number), spending: vault.burnAttempt(), to: Known.passcode(number + 1))
            }
            number += 1
        }
    }

    /// Another phrase each time; the passcode stays.
    static func phrases(_ home: String, _ clock: FileClock, passcode: Int, from first: Int) throws {
        let vault = try Vault.known(home, clock)
        var number = first
        while true {
            try done("phrase \(passcode) \(number + 1)") {
                try vault.enrollRecoveryPhrase(
                    Known.phrase(number + 1), passcode: Known.passcode(passcode), spending: vault.burnAttempt())
            }
            number += 1
        }
    }

    static func recoveries(_ home: String, _ clock: FileClock, from first: Int, phrase: Int) throws {
        let vault = try Vault.known(home, clock)
        var number = first
        while true {
            try done("recover \(number + 1)") {
                _ = try vault.recover(phrase: Known.phrase(phrase), newPasscode: Known.passcode(number + 1))
            }
            number += 1
        }
    }

    /// Every other one keeps the phrase.
    static func rekeys(_ home: String, _ clock: FileClock, from first: Int, phrase firstPhrase: Int) throws {
        let vault = try Vault.known(home, clock)
        var (number, phrase) = (first, firstPhrase)
        while true {
            let isNew = number % 2 == 0
            let next = isNew ? phrase + 1 : phrase
            try done("rekey \(number + 1) \(next)") {
                try vault.rekey(
                    passcode: Known.passcode(number), spending: vault.burnAttempt(),
                    newPasscode: Known.passcode(number + 1), phrase: Known.phrase(next), isNewPhrase: isNew)
            }
            (number, phrase) = (number + 1, next)
            try done("finish") { try vault.finishRekey() }
        }
    }

    private static func done(_ what: String, _ body: () throws -> Void) throws {
        Report.line("begin \(what)")
        try body()
        Report.line("done")
    }
}
