import VaultStorage
import SystemCalls
import VaultCore

/// Wrong passcodes, each a different one.
enum Guesses {
    /// Guesses until no attempt is left. Delays are jumped over, but for the hour that follows the limit.
    ///
    /// Lines: `begin N`, `burned N`, `refused N`; at the end `delayed` or `exhausted`.
    static func endless(_ home: String, _ clock: FileClock, first: Int) throws {
        let vault = try Vault.known(home, clock)
        var number = first
        while true {
            Report.line("begin \(number)")
            let outcome = try guess(vault, number) { Report.line("burned \(number)") }
            switch outcome {
            case .refused:
                Report.line("refused \(number)")
                number += 1
            case .delayed(let left) where left < .seconds(3600):
                clock.advance(milliseconds: UInt64(left.components.seconds) * 1000 + 1000)
            case .delayed: return Report.line("delayed")
            case .exhausted: return Report.line("exhausted")
            case .wiped: return Report.line("wiped")
            }
        }
    }

    /// One guess for each line of standard input, answered with `refused`, `delayed` or `exhausted`; once the vault is
    /// destroyed with `destroyed` by the guess that did it, and with `wiped` by all others.
    static func onDemand(_ home: String, _ clock: FileClock, first: Int) throws {
        let vault = try Vault.known(home, clock)
        Report.line("ready")
        var number = first
        while readLine() != nil {
            var isBurned = false
            switch try guess(vault, number, burned: { isBurned = true }) {
            case .wiped: Report.line(isBurned ? "destroyed" : "wiped")
            case .refused: Report.line("refused")
            case .delayed: Report.line("delayed")
            case .exhausted: Report.line("exhausted")
            }
            number += 1
        }
    }

    enum Outcome {
        case refused
        case delayed(Duration)
        case exhausted
        case wiped
    }

    static func guess(_ vault: Vault, _ number: Int, burned: () -> Void) throws -> Outcome {
        let passcode = try Known.wrongPasscode(number)
        do throws(VaultError) {
            let attempt = try vault.burnAttempt()
            burned()
            try vault.verify(passcode: passcode, spending: attempt)
        } catch {
            switch error.code {
            case .wrongPasscode: return .refused
            case .delayed: return .delayed(error.retryAfter ?? .zero)
            case .attemptsExhausted: return .exhausted
            case .wiped: return .wiped
            default: throw error
            }
        }
        throw VaultError(.inputOutput, "a wrong passcode was taken")
    }
}
