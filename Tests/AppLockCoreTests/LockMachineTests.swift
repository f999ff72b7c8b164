import AppLockCore
import Testing
import VaultCore
import VaultFormat

@Suite struct LockMachineTests {
    static let boot = [UInt8](repeating: 1, count: 16)
    static func at(_ seconds: UInt64) -> BootInstant {
        BootInstant(bootID: boot, milliseconds: 1_000_000 + seconds * 1000)
    }

    /// A machine that was launched and opened at second 0.
    func unlocked(_ timing: LockTiming = .after(seconds: 15)) -> LockMachine {
        var machine = LockMachine(isEnabled: true, timing: timing)
        _ = machine.handle(.launch, at: Self.at(0))
        _ = machine.handle(.didBecomeActive, at: Self.at(0))
        _ = machine.handle(.authenticationEnded(1, .unlocked), at: Self.at(0))
        return machine
    }

    @Test func launchPresentsOnceAndActivationStartsThePrompt() {
        var machine = LockMachine(isEnabled: true, timing: .immediately)
        #expect(!machine.isContentVisible)
        #expect(machine.handle(.launch, at: Self.at(0)) == [.dropKeys, .presentLockScreen, .stopTimer])
        #expect(machine.handle(.didBecomeActive, at: Self.at(0)) == [.stopTimer, .beginAuthentication(1)])
        #expect(machine.handle(.didBecomeActive, at: Self.at(0)) == [], "one prompt at a time")
        #expect(machine.handle(.authenticate, at: Self.at(0)) == [])
        #expect(machine.handle(.authenticationEnded(1, .unlocked), at: Self.at(1)) == [.hideCover, .dismissLockScreen])
        #expect(machine.isContentVisible)
    }

    @Test(arguments: [AuthenticationOutcome.cancelled, .unavailable, .refused(retryAfterMilliseconds: 0)])
    func everythingButSuccessStaysLockedAndCanBeRetried(outcome: AuthenticationOutcome) {
        var machine = LockMachine(isEnabled: true, timing: .immediately)
        _ = machine.handle(.launch, at: Self.at(0))
        _ = machine.handle(.didBecomeActive, at: Self.at(0))
        #expect(machine.handle(.authenticationEnded(1, outcome), at: Self.at(1)) == [])
        #expect(!machine.isContentVisible)
        #expect(machine.handle(.authenticate, at: Self.at(1)) == [.stopTimer, .beginAuthentication(2)])
    }

    @Test func aDelayTakesNoPromptUntilItIsOver() {
        var machine = LockMachine(isEnabled: true, timing: .immediately)
        _ = machine.handle(.launch, at: Self.at(0))
        _ = machine.handle(.didBecomeActive, at: Self.at(0))
        let refused = machine.handle(
            .authenticationEnded(1, .refused(retryAfterMilliseconds: 30_000)), at: Self.at(0))
        #expect(refused == [.startTimer(Self.at(30))])
        #expect(machine.handle(.authenticate, at: Self.at(29)) == [])
        #expect(machine.handle(.timeout, at: Self.at(10)) == [.startTimer(Self.at(30))], "a timer that went off early")
        #expect(machine.handle(.timeout, at: Self.at(30)) == [])
        #expect(machine.handle(.authenticate, at: Self.at(30)) == [.stopTimer, .beginAuthentication(2)])
    }

    @Test func coverIsNotLock() {
        var machine = unlocked()
        #expect(machine.handle(.willResignActive, at: Self.at(1)) == [.showCover])
        #expect(machine.handle(.didBecomeActive, at: Self.at(600)) == [.stopTimer, .hideCover])
        #expect(machine.isContentVisible)
    }

    @Test func theTimingCountsFromLeaving() {
        var machine = unlocked()
        _ = machine.handle(.willResignActive, at: Self.at(1))
        #expect(machine.handle(.didEnterBackground, at: Self.at(2)) == [.startTimer(Self.at(17))])
        var back = machine
        #expect(back.handle(.willEnterForeground, at: Self.at(16)) == [])
        #expect(back.handle(.didBecomeActive, at: Self.at(16)) == [.stopTimer, .hideCover])
        var late = machine
        #expect(
            late.handle(.willEnterForeground, at: Self.at(17)) == [.dropKeys, .presentLockScreen, .stopTimer])
        #expect(late.state == .locked(.background))
        var timed = machine
        #expect(timed.handle(.timeout, at: Self.at(17)) == [.dropKeys, .presentLockScreen, .stopTimer])
    }

    @Test func immediatelyNeverAndRelaunch() {
        var machine = unlocked(.immediately)
        #expect(machine.handle(.didEnterBackground, at: Self.at(1)).first == .dropKeys)
        for timing in [LockTiming.never, .onRelaunch] {
            var machine = unlocked(timing)
            _ = machine.handle(.willResignActive, at: Self.at(1))
            #expect(machine.handle(.didEnterBackground, at: Self.at(1)) == [])
            _ = machine.handle(.willEnterForeground, at: Self.at(1_000_000))
            #expect(machine.handle(.didBecomeActive, at: Self.at(1_000_000)) == [.stopTimer, .hideCover])
            #expect(machine.handle(.launch, at: Self.at(1_000_001)).first == .dropKeys)
        }
    }

    @Test func anotherBootOrAClockThatWentBackLocks() {
        for later in [BootInstant(bootID: [UInt8](repeating: 2, count: 16), milliseconds: 9_000_000), Self.at(1)] {
            var machine = unlocked()
            _ = machine.handle(.didEnterBackground, at: Self.at(2))
            #expect(machine.handle(.willEnterForeground, at: later).first == .dropKeys)
            #expect(machine.state == .locked(.reboot))
        }
    }

    @Test func aLateSuccessOfACancelledPromptOpensNothing() {
        var machine = LockMachine(isEnabled: true, timing: .immediately)
        _ = machine.handle(.launch, at: Self.at(0))
        _ = machine.handle(.didBecomeActive, at: Self.at(0))
        #expect(machine.handle(.forceLock, at: Self.at(0)).contains(.cancelAuthentication(1)))
        #expect(machine.handle(.authenticationEnded(1, .unlocked), at: Self.at(1)) == [.dropKeys])
        #expect(!machine.isContentVisible)
    }

    @Test func aLockThatIsShutCannotBeSwitchedOff() {
        var machine = LockMachine(isEnabled: true, timing: .immediately)
        _ = machine.handle(.launch, at: Self.at(0))
        #expect(machine.handle(.settingsChanged(isEnabled: false, timing: .never), at: Self.at(0)) == [])
        #expect(machine.state == .locked(.launch))
        var open = unlocked()
        _ = open.handle(.settingsChanged(isEnabled: false, timing: .never), at: Self.at(0))
        #expect(open.state == .disabled)
        #expect(open.handle(.didEnterBackground, at: Self.at(100_000)) == [])
        #expect(open.isContentVisible)
    }
}
