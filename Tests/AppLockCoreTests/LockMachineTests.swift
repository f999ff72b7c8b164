import AppLockCore
import Testing
import VaultHeader
import VaultFormat

/// Time and machines for the tests of the machine.
enum Lock {
    static let boot = [UInt8](repeating: 1, count: 16)
    static func at(_ seconds: UInt64) -> BootInstant {
        BootInstant(bootID: boot, milliseconds: 1_000_000 + seconds * 1000)
    }

    static let success = AuthenticationOutcome.unlocked(by: .passcode)

    static func machine(_ timing: LockTiming = .fifteenSeconds, _ triggers: LockTriggers = .standard) -> LockMachine {
        LockMachine(settings: LockSettings(isEnabled: true, timing: timing, triggers: triggers))
    }

    /// A machine that was launched, with its first prompt up.
    static func prompting(_ timing: LockTiming = .fifteenSeconds, _ triggers: LockTriggers = .standard) -> LockMachine {
        var machine = machine(timing, triggers)
        machine.feed(.system(.launch), .system(.didBecomeActive))
        return machine
    }

    /// A machine that was launched and opened at second 0.
    static func open(_ timing: LockTiming = .fifteenSeconds, _ triggers: LockTriggers = .standard) -> LockMachine {
        var machine = prompting(timing, triggers)
        machine.feed(.authenticationEnded(1, success))
        return machine
    }
}

extension LockMachine {
    /// Plays events of one instant, and returns the effects of the last one.
    @discardableResult
    mutating func feed(at seconds: UInt64 = 0, _ events: LockMachine.Event...) -> [LockEffect] {
        var effects: [LockEffect] = []
        for event in events { effects = handle(event, at: Lock.at(seconds)) }
        return effects
    }
}

@Suite struct LockMachineTests {
    @Test func launchPresentsOnceAndActivationStartsThePrompt() {
        var machine = Lock.machine(.immediately)
        #expect(!machine.isContentVisible)
        #expect(machine.feed(.system(.launch)) == [.dropKeys, .presentLockScreen])
        #expect(machine.feed(.system(.didBecomeActive)) == [.beginAuthentication(1)])
        #expect(machine.feed(.system(.didBecomeActive)) == [], "one prompt at a time")
        #expect(machine.feed(.authenticate) == [])
        #expect(
            machine.feed(at: 1, .authenticationEnded(1, Lock.success)) == [
                .hideCover, .dismissLockScreen, .record(.unlocked(by: .passcode)),
            ])
        #expect(machine.isContentVisible)
        #expect(machine.state == .unlocked(since: Lock.at(1)))
    }

    @Test(arguments: [
        AuthenticationOutcome.cancelled, .unavailable, .systemLockout, .hardwareBusy, .biometricFailed,
        .wrongSecret(retryAfter: .zero, remaining: 4), .wrongSecret(retryAfter: .zero, remaining: nil),
        .delayed(.milliseconds(0)),
    ])
    func everythingButSuccessStaysLockedAndCanBeRetried(outcome: AuthenticationOutcome) {
        var machine = Lock.prompting()
        #expect(machine.feed(at: 1, .authenticationEnded(1, outcome)) == [.record(.notUnlocked(outcome))])
        #expect(machine.state == .locked(.launch), "the reason stays")
        #expect(!machine.isContentVisible)
        #expect(machine.feed(at: 1, .authenticate) == [.beginAuthentication(2)])
    }

    @Test func aRetryGoesOnWithTheSamePrompt() {
        var machine = Lock.prompting()
        #expect(machine.feed(.authenticationEnded(1, .retry)) == [])
        #expect(machine.state == .authenticating(1))
        machine.feed(.authenticationEnded(1, Lock.success))
        #expect(machine.isContentVisible)
    }

    @Test func onlyDefiniteRefusalsMayEverBeCounted() {
        let counted: [AuthenticationOutcome] = [
            .wrongSecret(retryAfter: .zero, remaining: 1), .biometricFailed, .wipeRequired,
        ]
        let never: [AuthenticationOutcome] = [
            Lock.success, .delayed(.milliseconds(1)), .cancelled, .unavailable, .systemLockout, .hardwareBusy, .retry,
        ]
        #expect(counted.allSatisfy { $0.isDefiniteRefusal })
        #expect(never.allSatisfy { !$0.isDefiniteRefusal })
    }

    @Test func thePromptThatStartsByItselfDoesSoOncePerActivation() {
        var machine = Lock.prompting()
        // The prompt makes the app inactive; turning away from it must not bring the next one at once.
        machine.feed(.system(.willResignActive), .authenticationEnded(1, .cancelled))
        #expect(machine.feed(.system(.didBecomeActive)) == [], "only the button asks again")
        #expect(machine.feed(.authenticate) == [.beginAuthentication(2)])
        #expect(machine.feed(.system(.didEnterBackground)) == [.dropKeys, .cancelAuthentication(2)])
        machine.feed(.system(.willEnterForeground))
        #expect(machine.feed(.system(.didBecomeActive)) == [.beginAuthentication(3)], "the background resets it")
    }

    @Test func lockingByHandAsksForNothingUntilTheAppWasAway() {
        var machine = Lock.open()
        #expect(
            machine.feed(.forceLock) == [.dropKeys, .showCover, .presentLockScreen, .record(.locked(.forced))])
        #expect(machine.feed(.system(.willResignActive), .system(.didBecomeActive)) == [])
        #expect(machine.feed(.system(.didEnterBackground), .system(.didBecomeActive)) == [.beginAuthentication(2)])
    }

    @Test func aDelayTakesNoPromptUntilItIsOver() {
        var machine = Lock.prompting()
        let wrong = AuthenticationOutcome.wrongSecret(retryAfter: .milliseconds(30_000), remaining: 2)
        #expect(
            machine.feed(.authenticationEnded(1, wrong)) == [
                .startTimer(Lock.at(30)), .record(.notUnlocked(wrong)),
            ])
        #expect(machine.feed(at: 29, .authenticate) == [])
        #expect(machine.feed(at: 10, .timeout) == [.startTimer(Lock.at(30))], "a timer that went off early")
        #expect(machine.state == .delayed(until: Lock.at(30)))
        #expect(machine.feed(at: 30, .timeout) == [])
        #expect(machine.state == .locked(.launch))
        #expect(machine.feed(at: 30, .authenticate) == [.beginAuthentication(2)])
    }

    @Test func aDelayOutlivesEverythingButSuccess() {
        var machine = Lock.prompting()
        machine.feed(.authenticationEnded(1, .wrongSecret(retryAfter: .milliseconds(30_000), remaining: 2)))
        machine.feed(at: 1, .forceLock, .system(.didEnterBackground), .system(.willEnterForeground))
        #expect(machine.feed(at: 2, .system(.didBecomeActive)) == [], "no prompt by itself either")
        #expect(machine.state == .delayed(until: Lock.at(30)))
        #expect(
            machine.feed(at: 3, .authenticateUncounted) == [.stopTimer, .beginAuthentication(2)],
            "the phrase is not counted")
        machine.feed(at: 4, .authenticationEnded(2, .wrongSecret(retryAfter: .zero, remaining: nil)))
        #expect(machine.state == .delayed(until: Lock.at(30)), "a wrong phrase does not end the passcode's delay")
        machine.feed(at: 5, .authenticateUncounted)
        machine.feed(at: 5, .authenticationEnded(3, .unlocked(by: .recoveryPhrase)), .forceLock)
        #expect(machine.state == .locked(.forced))
    }

    @Test func aLateSuccessOfACancelledPromptOpensNothing() {
        var machine = Lock.prompting()
        #expect(machine.feed(.forceLock) == [.dropKeys, .cancelAuthentication(1)])
        #expect(machine.feed(at: 1, .authenticationEnded(1, Lock.success)) == [.dropKeys])
        #expect(!machine.isContentVisible)
        machine.feed(.authenticate)
        #expect(machine.feed(at: 1, .authenticationEnded(1, Lock.success)) == [.dropKeys], "not the next one's either")
        #expect(machine.state == .authenticating(2))
    }

    @Test func aDoubledSuccessChangesNothing() {
        var machine = Lock.open()
        let before = machine
        #expect(machine.feed(at: 5, .authenticationEnded(1, Lock.success)) == [])
        #expect(machine.feed(at: 5, .authenticationEnded(1, .cancelled)) == [])
        #expect(machine == before)
    }

    @Test func aPromptThatEndsWhileInterruptedOpensUnderTheCover() {
        var machine = Lock.prompting()
        machine.feed(.system(.willResignActive))
        #expect(
            machine.feed(.authenticationEnded(1, Lock.success)) == [
                .dismissLockScreen, .record(.unlocked(by: .passcode)),
            ])
        #expect(!machine.isContentVisible)
        #expect(machine.feed(.system(.didBecomeActive)) == [.hideCover])
    }

    @Test func theLimitBeginsTheWipeAndNothingElseFollows() {
        var machine = Lock.prompting()
        let effects = machine.feed(.authenticationEnded(1, .wipeRequired))
        #expect(
            effects == [.dropKeys, .record(.notUnlocked(.wipeRequired)), .record(.wipeBegan), .beginWipe])
        for event in [
            LockMachine.Event.system(.launch), .system(.didBecomeActive), .authenticate, .authenticateUncounted,
            .forceUnlock, .wipeBegan,
        ] {
            #expect(machine.feed(event) == [])
            #expect(machine.state == .wiping)
        }
        #expect(machine.feed(.authenticationEnded(1, Lock.success)) == [.dropKeys])
        #expect(machine.feed(.wipeFinished) == [.dropKeys, .record(.wiped), .terminate])
        #expect(machine.feed(.wipeFinished, .system(.launch), .authenticate) == [])
        #expect(machine.state == .wiped)
        #expect(machine.isCovered && machine.isLockScreenShown)
    }

    @Test func aWipeThatBeganElsewhereShutsAnOpenLock() {
        var machine = Lock.open()
        #expect(
            machine.feed(.wipeBegan) == [.dropKeys, .showCover, .presentLockScreen, .record(.wipeBegan)])
        #expect(machine.feed(.authenticationEnded(1, .wipeRequired)) == [], "it is not begun twice")
    }
}
