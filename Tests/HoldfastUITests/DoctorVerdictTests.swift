import Holdfast
import HoldfastUI
import Testing

@testable import HoldfastDoctor

/// The doctor's one sentence, and what it advises, for each vault on each machine.
@Suite struct DoctorVerdictTests {
    private typealias Place = ProtectionFacts.Place
    private typealias Chip = DoctorVerdict.Chip

    private static let chips: [(Finding, Chip)] = [
        (Finding(.tpm, .good, .chipAnswers), .usable), (Finding(.tpm, .good, .chipCounts), .usable),
        (Finding(.tpm, .good, .chipSealsOnly(reason: "")), .usable),
        (Finding(.tpm, .unready, .chipForbidden(device: "/dev/tpmrm0")), .unusable),
        (Finding(.tpm, .unready, .chipOwned(reason: "")), .unusable), (Finding(.tpm, .slow, .silent), .unusable),
        (Finding(.tpm, .broken, .chipFailed(reason: "")), .unusable),
        (Finding(.tpm, .broken, .chipCountingFailed(reason: "")), .unusable),
        (Finding(.tpm, .missing, .chipAbsent), .absent),
    ]
    /// What is beside the chip and says nothing about the vault.
    private static let rest = [
        Finding(.memory, .good, .memory(protection: "", isHidden: false)), Finding(.files, .good, .folderWorks),
        Finding(.keyring, .broken, .keyringFailed(reason: "")), Finding(.session, .missing, .sessionDeaf(missing: [])),
    ]

    private func vault(
        _ asks: ProtectionFacts.Asks, passcode: Bool, phrase: Bool = true, backup: Bool? = true, lock: Bool = true
    ) -> ProtectionFacts {
        var facts = ProtectionFacts(asks, hasPasscode: passcode, isRecoverable: phrase)
        (facts.hasBackup, facts.isLockOn) = (backup, lock)
        return facts
    }

    @Test func `without a passcode it says where the key rests`() {
        for place in Place.allCases {
            for (finding, _) in Self.chips {
                let open = DoctorVerdict(vault(.nobody(place), passcode: false), Self.rest + [finding])
                #expect(open.standing == .open(place) && open.steps == [.passcode])
                #expect(open.grade == (place == .files ? .poor : .fair))
                let asking = DoctorVerdict(vault(.owner(place), passcode: false), [finding])
                #expect(asking.standing == .asking(place) && asking.steps == [.passcode])
                #expect(asking.grade == (place == .files ? .poor : .fair))
            }
        }
    }

    @Test func `of a passcode it says whether the chip can stop guesses`() {
        for (finding, chip) in Self.chips {
            let verdict = DoctorVerdict(vault(.secret, passcode: true), Self.rest + [finding])
            #expect(verdict.standing == .passcode(chip) && verdict.grade == .fair)
            #expect(verdict.steps == (chip == .usable ? [.chip] : []))
        }
        #expect(DoctorVerdict(vault(.secret, passcode: true), Self.rest).standing == .passcode(.absent))
    }

    @Test func `under the chip it is good, when nothing is left to do`() {
        var facts = vault(.secret, passcode: true)
        facts.isUnderChip = true
        for counts in [true, false] {
            facts.countsGuesses = counts
            let verdict = DoctorVerdict(facts, [Self.chips[0].0])
            #expect(verdict.standing == .chip(counts: counts) && verdict.steps.isEmpty && verdict.grade == .good)
        }
        facts.isRecoverable = false
        let alone = DoctorVerdict(facts, [Self.chips[0].0])
        #expect(alone.steps == [.phrase] && alone.grade == .fair)
    }

    @Test func `steps come in the order of their use, and only where they can be taken`() {
        let chip = [Self.chips[0].0]
        func steps(_ facts: ProtectionFacts, _ findings: [Finding]) -> [DoctorVerdict.Step] {
            DoctorVerdict(facts, findings).steps
        }
        let bare = vault(.nobody(.files), passcode: false, phrase: false, backup: false, lock: false)
        #expect(steps(bare, chip) == [.passcode, .phrase], "a backup would open nowhere")
        let words = vault(.nobody(.files), passcode: false, backup: false, lock: false)
        #expect(steps(words, chip) == [.passcode, .backup], "there is no lock to be turned on")
        let all = vault(.secret, passcode: true, backup: false, lock: false)
        #expect(steps(all, chip) == [.chip, .backup, .lock])
        let lost = vault(.secret, passcode: true, phrase: false, backup: false, lock: false)
        #expect(steps(lost, chip) == [.phrase, .backup, .lock], "the chip needs the words")
        let unknown = vault(.secret, passcode: true, backup: nil)
        #expect(steps(unknown, []) == [], "nothing is said of what was not read")
        let asked = vault(.owner(.keyring), passcode: true)
        #expect(steps(asked, []) == [], "it has a passcode")
        for facts in [bare, words, all, lost] {
            let broken = [Finding(.vault, .broken, .vaultRules(issue: ""))] + chip
            let verdict = DoctorVerdict(facts, broken)
            #expect(verdict.standing == .contradicted && verdict.steps.first == .settings && verdict.grade == .fair)
            #expect(verdict.steps.count <= DoctorVerdict.mostSteps)
        }
    }

    @Test func `what endangers the vault is said before how it is protected`() {
        let facts = vault(.secret, passcode: true, phrase: false)
        let dangers: [(Finding, DoctorVerdict.Standing, [DoctorVerdict.Step])] = [
            (Finding(.vault, .broken, .vaultUnreadable(reason: "")), .unreadable, []),
            (Finding(.files, .broken, .folderFailed(reason: "")), .unwritable, []),
            (
                Finding(.files, .broken, .folderSynced(folder: "/a", program: "b")),
                .synced(folder: "/a", program: "b"), [.phrase]
            ),
            (Finding(.vault, .broken, .vaultNeedsChip), .withoutItsChip, [.phrase]),
        ]
        for (finding, standing, steps) in dangers {
            let verdict = DoctorVerdict(facts, [Self.chips[0].0, finding])
            #expect(verdict.standing == standing && verdict.steps == steps && verdict.grade == .poor)
        }
    }
}
