import AppLockCore
import Testing
import VaultFormat

/// Settings change only by a prompt made for it.
@Suite struct LockMachineSettingsTests {
    static let off = LockSettings(isEnabled: false, timing: .fifteenSeconds)
    static let on = LockSettings(isEnabled: true, timing: .fifteenSeconds)

    @Test func switchingOnNeedsASuccessAndIsOpenUntilTheAppLeaves() {
        var machine = LockMachine(settings: Self.off)
        #expect(
            machine.feed(
                .system(.launch), .system(.didBecomeActive), .system(.didEnterBackground), .system(.didBecomeActive))
                == [])
        #expect(machine.feed(.settingsRequested(Self.on)) == [.beginAuthentication(1)])
        #expect(machine.state == .disabled && machine.isContentVisible, "content stays as it is")
        #expect(machine.feed(at: 3, .authenticationEnded(1, Lock.success)) == [.applySettings(Self.on)])
        #expect(machine.state == .unlocked(since: Lock.at(3)))
    }

    @Test(arguments: [
        AuthenticationOutcome.cancelled, .unavailable, .systemLockout, .hardwareBusy, .biometricFailed,
        .wrongSecret(retryAfter: .zero, remaining: 4),
    ])
    func everythingElseRevertsWithAReason(outcome: AuthenticationOutcome) {
        for (from, to) in [(Self.off, Self.on), (Self.on, Self.off)] {
            var machine = from.isEnabled ? Lock.open() : LockMachine(settings: from)
            machine.feed(.settingsRequested(to))
            let number = from.isEnabled ? 2 : 1 as UInt64
            #expect(machine.feed(.authenticationEnded(number, outcome)) == [.revertSettings(outcome)])
            #expect(machine.settings == from)
            #expect(machine.isContentVisible)
        }
    }

    @Test func leavingOrLockingRevertsToo() {
        for event in [
            LockMachine.Event.system(.didEnterBackground), .system(.systemLocked), .forceLock, .panic, .system(.launch),
        ] {
            var machine = Lock.open(.fifteenSeconds)
            machine.feed(.settingsRequested(Self.off))
            let effects = machine.feed(event)
            #expect(effects.contains(.cancelAuthentication(2)) && effects.contains(.revertSettings(.cancelled)))
            machine.feed(.authenticationEnded(2, Lock.success))
            #expect(machine.settings == Self.on, "its late success changes nothing")
        }
    }

    @Test func aSecondRequestIsRefusedAndTheFirstGoesOn() {
        var machine = Lock.open()
        machine.feed(.settingsRequested(Self.off))
        #expect(machine.feed(.settingsRequested(Self.off)) == [.revertSettings(.unavailable)])
        machine.feed(.authenticationEnded(2, Lock.success))
        #expect(machine.state == .disabled)
    }

    @Test func aWrongPasscodeDelaysTheNextRequest() {
        var machine = Lock.open()
        machine.feed(.settingsRequested(Self.off))
        machine.feed(.authenticationEnded(2, .wrongSecret(retryAfter: .milliseconds(30_000), remaining: 1)))
        #expect(
            machine.feed(at: 10, .settingsRequested(Self.off)) == [.revertSettings(.delayed(.milliseconds(20_000)))])
        #expect(machine.feed(at: 11, .forceLock).contains(.startTimer(Lock.at(30))), "locked meanwhile, it still runs")
        #expect(machine.state == .delayed(until: Lock.at(30)))
    }

    @Test func aLockThatIsShutCannotBeSwitchedOff() {
        var machine = Lock.prompting()
        #expect(machine.feed(.settingsChanged(Self.off)) == [])
        #expect(machine.feed(.settingsRequested(Self.off)) == [.revertSettings(.unavailable)])
        #expect(machine.state == .authenticating(1))
        var open = Lock.open()
        #expect(open.feed(.settingsChanged(Self.off)) == [.applySettings(Self.off)])
        #expect(open.state == .disabled)
        #expect(open.feed(at: 100_000, .system(.didEnterBackground)) == [])
        #expect(open.isContentVisible)
    }

    @Test func aStricterTimingHoldsAtOnce() {
        var machine = Lock.open(.never)
        machine.feed(at: 1, .system(.didEnterBackground))
        let strict = LockSettings(isEnabled: true, timing: .immediately)
        #expect(machine.feed(at: 2, .settingsChanged(strict)).first == .dropKeys)
    }

    @Test func leavingAndLockingDropThePendingChangeOfSelfDestruct() {
        for event in [
            LockMachine.Event.system(.didEnterBackground), .system(.systemLocked), .system(.userSwitchedAway),
            .system(.suspended), .forceLock, .panic,
            .system(.idleTimeout), .system(.launch), .keysGone, .wipeBegan, .wipeFinished,
        ] {
            var machine = Lock.open(.never, [])
            #expect(machine.feed(.selfDestructChangeBegan) == [])
            #expect(machine.hasPendingSelfDestructChange)
            #expect(machine.feed(event).contains(.cancelSelfDestructChange), "\(event)")
            #expect(!machine.hasPendingSelfDestructChange)
        }
        var machine = Lock.open(.never, [])
        machine.feed(.selfDestructChangeBegan)
        #expect(
            machine.feed(.system(.willResignActive)) == [.showCover], "the prompt at its end makes the app inactive too"
        )
        machine.feed(.selfDestructChangeEnded)
        #expect(machine.feed(.forceLock).contains(.cancelSelfDestructChange) == false)
    }

    @Test func aChangeOfSelfDestructThatBeginsWhileNobodyIsThereIsDroppedAtOnce() {
        var machine = Lock.prompting()
        #expect(machine.feed(.selfDestructChangeBegan) == [.cancelSelfDestructChange])
        var away = Lock.open()
        away.feed(.system(.didEnterBackground))
        #expect(away.feed(.selfDestructChangeBegan) == [.cancelSelfDestructChange])
        away.feed(.wipeBegan)
        #expect(away.feed(.selfDestructChangeBegan) == [.cancelSelfDestructChange])
    }
}
