import VaultCore
import VaultStorage
import VaultHeader

/// A fixed sequence of everything that a vault writes, for making each of its disk accesses fail in turn.
package enum Script {
    package static let small = "s"

    /// What lies in the vault before.
    package static let before: [Operation] = [
        .set("b", 100), .set("c", 50), .set("e", 2_000), .set("f", 300), .set("keep", 700), .set("h", 1_060_000),
        .set("g", 1_100_000),
    ]

    private static let operations: [Operation] = [
        .set("a", 400, 1),
        .set("b", 120, 1),
        .delete("c"),
        Operation([
            .set(Place(small, "d"), Content(seed: 71, size: 30)), .delete(Place(small, "e")),
            .set(Place(small, "f"), Content(seed: 72, size: 100_000)),
        ]),
        .set("g", 1_120_000, 1),
        .delete("h"),
    ]

    /// Lines: `begin KIND ...`, and `done` or `failed CODE`; inside a guess `burned`.
    ///
    /// A step that failed is not repeated; the next ones are still tried.
    static func run(_ home: String, _ clock: FileClock) throws {
        let vault = try Vault.known(home, clock)
        let key = PasscodeInHand(vault, clock)
        if !Report.step("unlock", { try key.unlock() }) {
            Report.step("unlock-phrase") { try vault.unlock(phrase: Known.phrase(0)) }
        }
        for operation in operations { Report.step("operation \(operation.text)") { try vault.perform(operation) } }
        Report.step("guess") { try key.guessWrong(1) }
        key.change("passcode 1") { old, attempt in
            try vault.changePasscode(from: Known.passcode(old), spending: attempt, to: Known.passcode(1))
        }
        Report.step("guess") { try key.guessWrong(2) }
        key.change("rekey 2 1") { old, attempt in
            try vault.rekey(
                passcode: Known.passcode(old), spending: attempt, newPasscode: Known.passcode(2),
                phrase: Known.phrase(1), isNewPhrase: true)
        }
        Report.step("finish") { try vault.finishRekey() }
        Report.step("guess") { try key.guessWrong(3) }
        Report.step("recover 3") {
            // Which phrase holds is not known for sure when the step before failed.
            let phrase = try opens(vault, phrase: 1) ? 1 : 0
            _ = try vault.recover(phrase: Known.phrase(phrase), newPasscode: Known.passcode(3))
        }
        // A disk that works again must be enough: nothing of an earlier failure may stick.
        vault.lock()
        Report.step("unlock-again") {
            if try !opens(vault, phrase: 1) { try vault.unlock(phrase: Known.phrase(0)) }
        }
        let last = Operation.set("last", 90)
        Report.step("operation \(last.text)") { try vault.perform(last) }
        vault.lock()
        Report.line("end")
    }

    private static func opens(_ vault: Vault, phrase number: Int) throws -> Bool {
        let phrase = try Known.phrase(number)
        do throws(VaultError) {
            try vault.unlock(phrase: phrase)
        } catch {
            if error.code == .wrongPhrase { return false }
            throw error
        }
        return true
    }

    static func create(_ home: String, _ clock: FileClock) {
        Report.step("create") {
            _ = try Vault.create(at: home, passcode: Known.passcode(0), settings: .costsForTests(clock: clock))
        }
        Report.line("end")
    }

    static func backup(_ home: String, _ clock: FileClock, to target: String) throws {
        let vault = try Vault.known(home, clock)
        Report.step("backup") { _ = try vault.backup(to: target) }
        Report.line("end")
    }
}

extension Operation {
    fileprivate static func set(_ name: String, _ size: Int, _ version: Int = 0) -> Operation {
        let seed = UInt64(size * 10 + version)
        return Operation([.set(Place(Script.small, name), Content(seed: seed, size: size))])
    }

    fileprivate static func delete(_ name: String) -> Operation { Operation([.delete(Place(Script.small, name))]) }
}

/// The passcode as far as one knows it: after a change that failed, it may be the old or the new one.
private final class PasscodeInHand {
    private let vault: Vault
    private let clock: FileClock
    private var candidates = [0]

    init(_ vault: Vault, _ clock: FileClock) {
        self.vault = vault
        self.clock = clock
    }

    func unlock() throws { try vault.unlock(passcode: Known.passcode(0), spending: burn()) }

    func guessWrong(_ number: Int) throws {
        let attempt = try burn()
        Report.line("burned")
        do {
            try vault.verify(passcode: Known.wrongPasscode(number), spending: attempt)
        } catch let error as VaultError where error.code == .wrongPasscode { return }
        throw VaultError(.inputOutput, "a wrong passcode was taken")
    }

    /// `what` names the kind and the numbers that hold afterwards.
    func change(_ what: String, _ body: (Int, consuming BurnedAttempt) throws -> Void) {
        let changed = Report.step(what) {
            for candidate in candidates.reversed() {
                do {
                    return try body(candidate, burn())
                } catch let error as VaultError where error.code == .wrongPasscode { continue }
            }
            throw VaultError(.wrongPasscode, "no passcode is taken any more")
        }
        guard let next = Int(what.split(separator: " ")[1]) else { return }
        candidates = changed ? [next] : candidates + [next]
    }

    /// Delays are jumped over.
    private func burn() throws(VaultError) -> BurnedAttempt {
        while true {
            do throws(VaultError) {
                return try vault.burnAttempt()
            } catch let error where error.code == .delayed {
                guard let left = error.retryAfter, left < .seconds(3600) else { throw error }
                clock.advance(milliseconds: UInt64(left.components.seconds) * 1000 + 1000)
            }
        }
    }
}
