internal import Holdfast
internal import HoldfastCommand

extension Chapter {
    static let selfDestruct = Chapter(
        title: "Self-destruct",
        steps: [
            Step("made a vault of its own for it") { tour in
                let scratch = try ScratchVault(at: tour.scratch + "/doomed")
                tour.doomed = scratch
                return "off until its owner switches it on"
            },
            Step("switched on") { tour in
                let doomed = try tour.doomedVault()
                let selfDestruct = SelfDestructSwitch(vault: doomed.vault)
                try selfDestruct.begin(.enable, passcode: doomed.passcode)
                try selfDestruct.confirm()
                doomed.clock.advance(seconds: 10)
                try tour.expect(selfDestruct.cancel(), "the countdown cannot be cancelled")
                try tour.expect(!doomed.isOn(), "it is on after a cancel")
                tour.show("passcode, confirmed, 10 s of 30, cancelled: still off")
                try selfDestruct.begin(.enable, passcode: doomed.passcode)
                try selfDestruct.confirm()
                doomed.clock.advance(seconds: 29)
                try await tour.expectRefusal(.delayed, "the end of the countdown after 29 s") {
                    _ = try selfDestruct.finish(passcode: doomed.passcode)
                }
                doomed.clock.advance(seconds: 1)
                let key = try selfDestruct.finish(passcode: doomed.passcode)
                guard let key else { throw TourFailure(description: "there is no key for a receipt") }
                try tour.expect(doomed.isOn(), "it is not on")
                doomed.receiptKey = key.publicKey
                tour.show("passcode, confirmed, 30 s, passcode again: on (the clock was moved, nobody waited)")
                return "receipt key \(key.publicKey.prefix(16))..."
            },
            Step("guessed five times") { tour in
                let doomed = try tour.doomedVault()
                let limit = try doomed.vault.status().policy.attemptLimit
                for number in 1..<limit {
                    let error = try await tour.expectRefusal(.wrongPasscode, "guess \(number)") {
                        try doomed.guess(number)
                    }
                    let left = try doomed.vault.status()
                    try tour.expect(
                        left.remainingAttempts == error.remainingAttempts, "the user was told another number")
                    try tour.expect(!left.destructionWarning.isEmpty, "the user was not warned")
                    tour.show("guess \(number): \(error.reason)")
                    doomed.clock.advance(seconds: 3600)
                }
                let error = try await tour.expectRefusal(.wiped, "guess \(limit)") { try doomed.guess(limit) }
                tour.show("guess \(limit): this vault was destroyed")
                try tour.expect(error.remainingAttempts == 0, "attempts remain")
                return "the last one destroyed it"
            },
            Step("looked at what is left") { tour in
                let doomed = try tour.doomedVault()
                let receipt = try tour.onlyReceipt(in: doomed.path, key: doomed.receiptKey)
                try await tour.expectRefusal(.wiped, "opening it") { _ = try Vault(at: doomed.path) }
                tour.doomed = nil
                let names = receipt.items.filter { $0.result == .erased }.map(\.target.description)
                return "a receipt, signed by that key: " + names.joined(separator: ", ")
            },
        ])
}

/// A vault that is made to be destroyed, with a clock that the tour moves.
final class ScratchVault {
    let path: String
    let vault: Vault
    let passcode: SecretBytes
    let clock = TourClock()
    var receiptKey: String?

    init(at path: String) throws {
        self.path = path
        passcode = try Tour.secret(Samples.firstPasscode)
        var settings = VaultSettings.standard
        settings.clock = clock
        _ = try Vault.create(at: path, passcode: passcode, settings: settings)
        vault = try Vault(at: path, settings: settings)
        try vault.unlock(passcode: passcode, spending: vault.burnAttempt())
        let value = try Tour.secret("1234 5678")
        try vault.put(value, for: "card", in: Vault.defaultCollection, replacing: false)
    }

    func isOn() throws -> Bool { try vault.status().policy.selfDestruct }

    /// A wrong passcode, another one each time.
    func guess(_ number: Int) throws {
        let wrong = try Tour.secret("guess number \(number)")
        try vault.verify(passcode: wrong, spending: vault.burnAttempt())
    }
}

extension Tour {
    /// The vault of this chapter or the next.
    func doomedVault() throws -> ScratchVault {
        guard let doomed else { throw TourFailure(description: "the vault of this chapter was not made") }
        return doomed
    }

    /// Makes sure that nothing but a receipt is in a folder, and that the key signed it.
    func onlyReceipt(in path: String, key: String?) throws -> WipeReceipt {
        let files = Folder.files(below: path)
        try expect(files == ["\(path)/wipe-receipt"], "left behind: \(files.joined(separator: ", "))")
        let receipt = try WipeReceipt(verifying: ReceiptText.read(files[0]), key: key)
        try expect(receipt.isComplete, "the receipt says that something is left")
        return receipt
    }
}
