internal import Holdfast
import VaultWipe

extension Chapter {
    static let wiping = Chapter(
        title: "Wipe",
        steps: [
            Step("told what would be erased") { tour in
                let doomed = try ScratchVault(at: tour.scratch + "/unwanted")
                tour.doomed = doomed
                let plan = try doomed.vault.wipePlan()
                for step in plan.steps { tour.show("\(step.target): \(step.what), \(step.method.rawValue)") }
                try tour.expect(plan.steps.first?.target.description == "keys", "the keys do not come first")
                return "nothing was erased"
            },
            Step("destroyed it") { tour in
                let doomed = try tour.doomedVault()
                let report = try doomed.vault.wipe(
                    passcode: doomed.passcode, spending: doomed.vault.burnAttempt()
                ) { key throws(VaultError) in doomed.receiptKey = key.publicKey }
                try tour.expect(report.isFinished, report.summary)
                try tour.expect(!doomed.vault.isUnlocked, "the keys are still in memory")
                return "keys first; receipt key \(doomed.receiptKey?.prefix(16) ?? "")..."
            },
            Step("verified the receipt") { tour in
                let doomed = try tour.doomedVault()
                let receipt = try tour.onlyReceipt(in: doomed.path, key: doomed.receiptKey)
                var forged = receipt.bytes
                forged[30] ^= 1
                try await tour.expectRefusal(.damaged, "a changed receipt") { _ = try WipeReceipt(verifying: forged) }
                tour.doomed = nil
                tour.show("not claimed: " + WipeReceipt.notClaimed[0])
                return "one changed bit is found"
            },
        ])
}
