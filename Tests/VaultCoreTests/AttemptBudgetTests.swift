import Testing
import VaultHeader
import VaultFormat

@Suite struct AttemptBudgetTests {
    static let boot = [UInt8](repeating: 1, count: 16)
    static func instant(_ seconds: UInt64) -> BootInstant {
        BootInstant(bootID: boot, milliseconds: 1_000_000 + seconds * 1000)
    }

    func fresh(selfDestruct: Bool = false) -> AttemptBudget {
        var policy = VaultPolicy.standard
        policy.selfDestruct = selfDestruct
        return AttemptBudget(spent: 0, refused: 0, delay: 0, delayStart: Self.instant(0), policy: policy)
    }

    @Test func fiveFailuresTakeNinetySeconds() {
        var budget = fresh()
        var now: UInt64 = 0
        for failure in 1...5 {
            if case .delayed(let milliseconds) = budget.decision(at: Self.instant(now)) { now += milliseconds / 1000 }
            #expect(budget.decision(at: Self.instant(now)) == .allowed, "before failure \(failure)")
            budget.burn(at: Self.instant(now))
            budget.refuse(at: Self.instant(now))
        }
        #expect(now == 90)
        #expect(budget.remaining == 0)
    }

    @Test func afterTheLimitOneTryAnHourForEver() {
        var budget = fresh()
        var now: UInt64 = 0
        for _ in 1...12 {
            if case .delayed(let milliseconds) = budget.decision(at: Self.instant(now)) { now += milliseconds / 1000 }
            #expect(budget.decision(at: Self.instant(now)) == .allowed)
            budget.burn(at: Self.instant(now))
            budget.refuse(at: Self.instant(now))
        }
        #expect(budget.decision(at: Self.instant(now)) == .delayed(milliseconds: 3_600_000))
        #expect(budget.decision(at: Self.instant(now + 3600)) == .allowed)
    }

    @Test(arguments: [false, true])
    func crashesCloseThePasscodeAndNeverDestroy(selfDestruct: Bool) {
        var budget = fresh(selfDestruct: selfDestruct)
        var now: UInt64 = 0
        for _ in 1...5 {
            now += 3600
            budget.burn(at: Self.instant(now))
        }
        #expect(budget.decision(at: Self.instant(now + 7200)) == .closed)
        budget.settle(at: Self.instant(now))
        #expect(budget.decision(at: Self.instant(now)) == .allowed)
        #expect(budget.remaining == 5)
    }

    @Test func onlyRefusalsDestroyAndOnlyWhenSwitchedOn() {
        var budget = fresh(selfDestruct: true)
        for number in 0..<5 {
            #expect(budget.decision(at: Self.instant(UInt64(number) * 7200)) == .allowed)
            budget.burn(at: Self.instant(UInt64(number) * 7200))
            budget.refuse(at: Self.instant(UInt64(number) * 7200))
        }
        #expect(budget.decision(at: Self.instant(90_000)) == .destroy)
    }

    @Test func killingAfterTheBurnDoesNotAvoidTheDelay() {
        var budget = fresh()
        for _ in 1...3 { budget.burn(at: Self.instant(0)) }
        #expect(budget.decision(at: Self.instant(29)) == .delayed(milliseconds: 1_000))
        #expect(budget.decision(at: Self.instant(30)) == .allowed)
    }

    @Test func aRebootOrAClockBehindStartsTheDelayAgain() {
        var budget = fresh()
        for _ in 1...3 {
            budget.burn(at: Self.instant(0))
            budget.refuse(at: Self.instant(0))
        }
        let otherBoot = BootInstant(bootID: [UInt8](repeating: 2, count: 16), milliseconds: 9_000_000_000)
        #expect(budget.decision(at: otherBoot) == .delayed(milliseconds: 30_000))
        #expect(budget.delayMustRestart(at: otherBoot))
        let before = BootInstant(bootID: Self.boot, milliseconds: 1)
        #expect(budget.decision(at: before) == .delayed(milliseconds: 30_000))
        budget.restartDelay(at: before)
        #expect(budget.decision(at: BootInstant(bootID: Self.boot, milliseconds: 30_001)) == .allowed)
    }

    @Test func aLedgerThatCannotBeBelievedLeavesOneTryAfterTheLongestDelay() {
        let budget = AttemptBudget.distrusted(policy: .standard, now: Self.instant(0))
        #expect(budget.remaining == 1)
        #expect(budget.refused == 0)
        #expect(budget.decision(at: Self.instant(3599)) == .delayed(milliseconds: 1_000))
    }
}
