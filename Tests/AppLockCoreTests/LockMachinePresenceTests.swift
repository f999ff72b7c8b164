import AppLockCore
import Testing
import VaultHeader
import VaultFormat

/// The app comes and goes, the device sleeps, the clock jumps.
@Suite struct LockMachinePresenceTests {
    static let shutting: [LockEffect] = [.dropKeys, .presentLockScreen]

    @Test func coverIsNotLock() {
        var machine = Lock.open()
        #expect(machine.feed(at: 1, .system(.willResignActive)) == [.showCover])
        #expect(machine.feed(at: 600, .system(.didBecomeActive)) == [.hideCover])
        #expect(machine.isContentVisible)
    }

    @Test(arguments: [5, 15, 60, 300, 1800] as [UInt64])
    func theTimingCountsFromLeaving(seconds: UInt64) throws {
        let timing = LockTiming.after(seconds: UInt32(seconds))
        #expect(LockTiming.presets.contains(timing))
        var machine = Lock.open(timing)
        machine.feed(at: 1, .system(.willResignActive))
        #expect(machine.feed(at: 2, .system(.didEnterBackground)) == [.startTimer(Lock.at(2 + seconds))])
        var back = machine
        #expect(back.feed(at: 1 + seconds, .system(.willEnterForeground)) == [])
        #expect(back.feed(at: 1 + seconds, .system(.didBecomeActive)) == [.hideCover, .stopTimer])
        let locked: [LockEffect] = [.dropKeys, .presentLockScreen, .stopTimer, .record(.locked(.background))]
        var late = machine
        #expect(late.feed(at: 2 + seconds, .system(.willEnterForeground)) == locked)
        #expect(late.state == .locked(.background))
        var timed = machine
        #expect(
            timed.feed(at: 2 + seconds, .timeout) == [.dropKeys, .presentLockScreen, .record(.locked(.background))])
        var early = machine
        #expect(early.feed(at: 3, .timeout) == [.startTimer(Lock.at(2 + seconds))], "a timer that went off early")
    }

    @Test func theTimingCountsFromTheFirstLeaving() {
        var machine = Lock.open(.fifteenSeconds, [])
        machine.feed(at: 0, .system(.willResignActive), .system(.didEnterBackground))
        machine.feed(at: 10, .system(.systemLocked), .system(.didEnterBackground))
        #expect(machine.feed(at: 15, .system(.systemUnlocked)).first == .dropKeys)
    }

    @Test func immediatelyNeverAndRelaunch() {
        var machine = Lock.open(.immediately)
        #expect(machine.feed(at: 1, .system(.didEnterBackground)).first == .dropKeys)
        for timing in [LockTiming.never, .onRelaunch] {
            var machine = Lock.open(timing)
            machine.feed(at: 1, .system(.willResignActive))
            #expect(machine.feed(at: 1, .system(.didEnterBackground)) == [])
            machine.feed(at: 1_000_000, .system(.willEnterForeground))
            #expect(machine.feed(at: 1_000_000, .system(.didBecomeActive)) == [.hideCover])
            #expect(machine.feed(at: 1_000_001, .system(.launch)).first == .dropKeys, "a cold launch is always locked")
            #expect(machine.state == .locked(.launch))
        }
    }

    @Test func thePresetsAreTheOnesOfTheSettingsScreen() {
        #expect(LockTiming.presets.map(\.seconds) == [0, 5, 15, 60, 300, 1800, nil, nil])
        #expect(LockTiming.presets.suffix(2) == [.onRelaunch, .never])
    }

    @Test func anotherBootOrAClockThatWentBackLocks() {
        let reboot = BootInstant(bootID: [UInt8](repeating: 2, count: 16), milliseconds: 9_000_000)
        for (later, reason) in [(reboot, LockReason.reboot), (Lock.at(1), .clockWentBack)] {
            var machine = Lock.open()
            machine.feed(at: 2, .system(.didEnterBackground))
            #expect(machine.handle(.system(.willEnterForeground), at: later).first == .dropKeys)
            #expect(machine.state == .locked(reason))
        }
        var machine = Lock.open(.never)
        #expect(
            machine.handle(.forceUnlock, at: reboot).first == .dropKeys, "whatever the event, and never is no excuse")
        #expect(!machine.isContentVisible)
    }

    @Test func sleepCountsAsTime() {
        var machine = Lock.open(.fiveMinutes, [])
        #expect(machine.feed(at: 1, .system(.suspended)) == [.showCover, .startTimer(Lock.at(301))])
        var short = machine
        #expect(short.feed(at: 300, .system(.resumed)) == [.hideCover, .stopTimer])
        #expect(machine.feed(at: 301, .system(.resumed)).first == .dropKeys, "no timer runs in sleep; the clock does")
    }

    @Test(arguments: [
        (LockMachine.Event.system(.systemLocked), LockReason.systemLock, LockTriggers.systemLock),
        (.system(.userSwitchedAway), .userSwitch, .userSwitch), (.system(.suspended), .suspend, .suspend),
        (.system(.lidClosed), .lidClosed, .lidClosed), (.system(.minimised), .minimised, .minimised),
    ])
    func triggersLockWhateverTheTiming(event: LockMachine.Event, reason: LockReason, trigger: LockTriggers) {
        var machine = Lock.open(.never, trigger)
        let effects = machine.feed(at: 1, event)
        #expect(effects == [.dropKeys, .showCover, .presentLockScreen, .record(.locked(reason))])
        var without = Lock.open(.never, LockTriggers.standard.union(.minimised).subtracting(trigger))
        without.feed(at: 1, event)
        #expect(!without.isShut)
    }

    @Test func theStandardTriggersAreAllButMinimising() {
        #expect(LockTriggers.standard == [.systemLock, .userSwitch, .suspend, .lidClosed])
    }

    @Test(arguments: [(LockMachine.Event.forceLock, LockReason.forced), (.panic, .panic)])
    func lockingByHandWorksWhereTheLockIsOff(event: LockMachine.Event, reason: LockReason) {
        var machine = LockMachine(settings: LockSettings(isEnabled: false, timing: .never))
        machine.feed(.system(.launch))
        #expect(machine.state == .disabled && machine.isContentVisible)
        #expect(machine.feed(event) == [.dropKeys, .showCover, .presentLockScreen, .record(.locked(reason))])
        machine.feed(.authenticate, .authenticationEnded(1, Lock.success))
        #expect(machine.state == .disabled, "off it was, off it is")
    }

    @Test func idleLocks() {
        var machine = Lock.open(.never)
        #expect(machine.feed(.system(.idleTimeout)).last == .record(.locked(.idle)))
        var off = LockMachine(settings: LockSettings(isEnabled: false, timing: .never))
        #expect(off.feed(.system(.idleTimeout), .keysGone, .system(.systemLocked), .system(.suspended)) == [])
    }

    @Test func theFirstReasonStays() {
        var machine = Lock.open()
        machine.feed(.system(.systemLocked), .system(.suspended), .forceLock, .panic)
        #expect(machine.state == .locked(.systemLock))
    }

    @Test func theSystemsUnlockOpensNothingAndStartsThePrompt() {
        var machine = Lock.open()
        machine.feed(.system(.systemLocked))
        #expect(machine.feed(.system(.didBecomeActive)) == [], "nothing is asked behind the system's own lock screen")
        #expect(machine.feed(.system(.systemUnlocked)) == [.beginAuthentication(2)])
        #expect(!machine.isContentVisible)
    }

    @Test func whoAsksIsThereEvenWhenTheSystemNeverSaidSo() {
        var machine = Lock.open()
        machine.feed(.system(.systemLocked), .system(.userSwitchedAway), .system(.suspended))
        #expect(machine.feed(.authenticate) == [.beginAuthentication(2)])
        machine.feed(.authenticationEnded(2, Lock.success))
        #expect(machine.isContentVisible)
    }

    @Test func forceUnlockShowsOnlyWhatIsOpen() {
        var machine = Lock.open()
        machine.feed(at: 1, .system(.willResignActive))
        #expect(machine.feed(at: 1, .forceUnlock) == [.hideCover])
        #expect(machine.feed(at: 1, .system(.willResignActive)) == [.showCover], "until the next interruption")
        machine.feed(at: 2, .system(.didEnterBackground))
        #expect(machine.feed(at: 3, .forceUnlock) == [], "never out of sight")
        #expect(machine.feed(at: 16, .system(.willEnterForeground), .forceUnlock) == [.hideCover, .stopTimer])
        machine.feed(at: 17, .system(.didEnterBackground))
        #expect(machine.feed(at: 32, .forceUnlock).first == .dropKeys, "the time is over")
        #expect(machine.feed(at: 33, .system(.willEnterForeground), .forceUnlock) == [])
        #expect(machine.state == .locked(.background) && !machine.isContentVisible)
    }
}
