import AppLockCore
import Testing
import VaultCore
import VaultFormat

/// The app comes and goes, the device sleeps, the clock jumps.
@Suite struct LockMachinePresenceTests {
    static let shutting: [LockEffect] = [.dropKeys, .presentLockScreen]

    @Test func coverIsNotLock() {
        var machine = Lock.open()
        #expect(machine.feed(at: 1, .willResignActive) == [.showCover])
        #expect(machine.feed(at: 600, .didBecomeActive) == [.hideCover])
        #expect(machine.isContentVisible)
    }

    @Test(arguments: [5, 15, 60, 300, 1800] as [UInt64])
    func theTimingCountsFromLeaving(seconds: UInt64) throws {
        let timing = LockTiming.after(seconds: UInt32(seconds))
        #expect(LockTiming.presets.contains(timing))
        var machine = Lock.open(timing)
        machine.feed(at: 1, .willResignActive)
        #expect(machine.feed(at: 2, .didEnterBackground) == [.startTimer(Lock.at(2 + seconds))])
        var back = machine
        #expect(back.feed(at: 1 + seconds, .willEnterForeground) == [])
        #expect(back.feed(at: 1 + seconds, .didBecomeActive) == [.hideCover, .stopTimer])
        let locked: [LockEffect] = [.dropKeys, .presentLockScreen, .stopTimer, .record(.locked(.background))]
        var late = machine
        #expect(late.feed(at: 2 + seconds, .willEnterForeground) == locked)
        #expect(late.state == .locked(.background))
        var timed = machine
        #expect(
            timed.feed(at: 2 + seconds, .timeout) == [.dropKeys, .presentLockScreen, .record(.locked(.background))])
        var early = machine
        #expect(early.feed(at: 3, .timeout) == [.startTimer(Lock.at(2 + seconds))], "a timer that went off early")
    }

    @Test func theTimingCountsFromTheFirstLeaving() {
        var machine = Lock.open(.fifteenSeconds, [])
        machine.feed(at: 0, .willResignActive, .didEnterBackground)
        machine.feed(at: 10, .systemLocked, .didEnterBackground)
        #expect(machine.feed(at: 15, .systemUnlocked).first == .dropKeys)
    }

    @Test func immediatelyNeverAndRelaunch() {
        var machine = Lock.open(.immediately)
        #expect(machine.feed(at: 1, .didEnterBackground).first == .dropKeys)
        for timing in [LockTiming.never, .onRelaunch] {
            var machine = Lock.open(timing)
            machine.feed(at: 1, .willResignActive)
            #expect(machine.feed(at: 1, .didEnterBackground) == [])
            machine.feed(at: 1_000_000, .willEnterForeground)
            #expect(machine.feed(at: 1_000_000, .didBecomeActive) == [.hideCover])
            #expect(machine.feed(at: 1_000_001, .launch).first == .dropKeys, "a cold launch is always locked")
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
            machine.feed(at: 2, .didEnterBackground)
            #expect(machine.handle(.willEnterForeground, at: later).first == .dropKeys)
            #expect(machine.state == .locked(reason))
        }
        var machine = Lock.open(.never)
        #expect(
            machine.handle(.forceUnlock, at: reboot).first == .dropKeys, "whatever the event, and never is no excuse")
        #expect(!machine.isContentVisible)
    }

    @Test func sleepCountsAsTime() {
        var machine = Lock.open(.fiveMinutes, [])
        #expect(machine.feed(at: 1, .suspended) == [.showCover, .startTimer(Lock.at(301))])
        var short = machine
        #expect(short.feed(at: 300, .resumed) == [.hideCover, .stopTimer])
        #expect(machine.feed(at: 301, .resumed).first == .dropKeys, "no timer runs in sleep; the clock does")
    }

    @Test(arguments: [
        (LockMachine.Event.systemLocked, LockReason.systemLock, LockTriggers.systemLock),
        (.userSwitchedAway, .userSwitch, .userSwitch), (.suspended, .suspend, .suspend),
        (.lidClosed, .lidClosed, .lidClosed), (.minimised, .minimised, .minimised),
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
        machine.feed(.launch)
        #expect(machine.state == .disabled && machine.isContentVisible)
        #expect(machine.feed(event) == [.dropKeys, .showCover, .presentLockScreen, .record(.locked(reason))])
        machine.feed(.authenticate, .authenticationEnded(1, Lock.success))
        #expect(machine.state == .disabled, "off it was, off it is")
    }

    @Test func idleLocks() {
        var machine = Lock.open(.never)
        #expect(machine.feed(.idleTimeout).last == .record(.locked(.idle)))
        var off = LockMachine(settings: LockSettings(isEnabled: false, timing: .never))
        #expect(off.feed(.idleTimeout, .keysGone, .systemLocked, .suspended) == [])
    }

    @Test func theFirstReasonStays() {
        var machine = Lock.open()
        machine.feed(.systemLocked, .suspended, .forceLock, .panic)
        #expect(machine.state == .locked(.systemLock))
    }

    @Test func theSystemsUnlockOpensNothingAndStartsThePrompt() {
        var machine = Lock.open()
        machine.feed(.systemLocked)
        #expect(machine.feed(.didBecomeActive) == [], "nothing is asked behind the system's own lock screen")
        #expect(machine.feed(.systemUnlocked) == [.beginAuthentication(2)])
        #expect(!machine.isContentVisible)
    }

    @Test func whoAsksIsThereEvenWhenTheSystemNeverSaidSo() {
        var machine = Lock.open()
        machine.feed(.systemLocked, .userSwitchedAway, .suspended)
        #expect(machine.feed(.authenticate) == [.beginAuthentication(2)])
        machine.feed(.authenticationEnded(2, Lock.success))
        #expect(machine.isContentVisible)
    }

    @Test func forceUnlockShowsOnlyWhatIsOpen() {
        var machine = Lock.open()
        machine.feed(at: 1, .willResignActive)
        #expect(machine.feed(at: 1, .forceUnlock) == [.hideCover])
        #expect(machine.feed(at: 1, .willResignActive) == [.showCover], "until the next interruption")
        machine.feed(at: 2, .didEnterBackground)
        #expect(machine.feed(at: 3, .forceUnlock) == [], "never out of sight")
        #expect(machine.feed(at: 16, .willEnterForeground, .forceUnlock) == [.hideCover, .stopTimer])
        machine.feed(at: 17, .didEnterBackground)
        #expect(machine.feed(at: 32, .forceUnlock).first == .dropKeys, "the time is over")
        #expect(machine.feed(at: 33, .willEnterForeground, .forceUnlock) == [])
        #expect(machine.state == .locked(.background) && !machine.isContentVisible)
    }
}
