import AppLockCore
import VaultHeader
import VaultFormat

/// A shell that does what the effects say, and complains when it cannot.
extension World {
    /// Plays a step and returns the invariant that it breaks, if any.
    mutating func take(_ step: Step) -> String? {
        switch step {
        case .pass(let seconds):
            now += seconds
            return nil
        case .reboot:
            boot = 2
            isDelayOnDisk = isDelayed  // this clock cannot tell any more; the ledger begins the delay anew
            delayedUntil = nil
            return nil
        case .clockGoesBack:
            now = 50
            return nil
        case .event(let event): return play(event)
        case .late(let outcome): return play(.authenticationEnded(latePrompt?.number ?? 0, outcome))
        case .wrongSecret:
            guard let prompt else { return nil }
            return play(.authenticationEnded(prompt.number, refusal(of: prompt)))
        }
    }

    /// As the shell does: whoever has no keys is not unlocked.
    private mutating func play(_ event: LockMachine.Event) -> String? {
        if let broken = tell(event) { return broken }
        guard case .unlocked = machine.state, !hasKeys else { return nil }
        return tell(.keysGone) ?? (machine.isShut ? nil : "unlocked without keys")
    }

    /// The ledger counts. It refuses nothing by itself.
    private mutating func refusal(of prompt: Prompt) -> AuthenticationOutcome {
        guard prompt.isCounted else { return .wrongSecret(retryAfter: .zero, remaining: nil) }
        if isDelayOnDisk {
            isDelayOnDisk = false
            delayedUntil = now + 3600
            return .delayed(.milliseconds(3_600_000))
        }
        wrongSecrets += 1
        let remaining = Int(World.limit) - Int(min(wrongSecrets, World.limit))
        if wrongSecrets >= World.limit, selfDestruct { return .wipeRequired }
        let wait: UInt64 = wrongSecrets >= World.limit ? 3600 : 10
        if wait > 0 { delayedUntil = now + wait }
        return .wrongSecret(retryAfter: .seconds(wait), remaining: remaining)
    }

    private mutating func tell(_ event: LockMachine.Event) -> String? {
        let before = self
        foresee(event)
        let effects = machine.handle(event, at: instant)
        for effect in effects {
            if let broken = perform(effect, event) { return broken }
        }
        recall(event, effects)
        return brokenState() ?? brokenTransition(from: before, event, effects)
    }

    /// What is true before the machine hears of it.
    private mutating func foresee(_ event: LockMachine.Event) {
        if !isDelayed { delayedUntil = nil }  // what is over does not come back with the clock
        switch event {
        case .authenticationEnded(let number, let outcome):
            let ended = prompt?.number == number ? prompt : latePrompt?.number == number ? latePrompt : nil
            if case .unlocked = outcome, let ended {
                // The prompt opened the vault before its callback came; one for a change opens nothing.
                if ended.purpose == .unlock { hasKeys = true }
                if ended.number == prompt?.number {
                    wrongSecrets = 0
                    isDelayOnDisk = false
                    delayedUntil = nil
                }
            }
            if case .delayed(let wait) = outcome, number == prompt?.number {
                delayedUntil = now + UInt64(wait.components.seconds)
            }
            if number == prompt?.number, outcome != .retry { prompt = nil }
            if number == latePrompt?.number { latePrompt = nil }
        case .keysGone: hasKeys = false
        case .selfDestructChangeBegan: hasPendingChange = true
        case .selfDestructChangeEnded: hasPendingChange = false
        case .timeout: timer = nil
        case .system(.willResignActive), .system(.minimised): away.insert(.inactive)
        case .system(.didEnterBackground):
            leave(.background)
            away.insert(.inactive)
        case .system(.systemLocked): leave(.systemLock)
        case .system(.userSwitchedAway): leave(.otherUser)
        case .system(.suspended): leave(.sleep)
        case .system(.didBecomeActive): away.subtract([.inactive, .background])
        case .system(.willEnterForeground): away.remove(.background)
        case .system(.systemUnlocked): away.remove(.systemLock)
        case .system(.userSwitchedBack): away.remove(.otherUser)
        case .system(.resumed): away.remove(.sleep)
        case .system(.launch): wasPrompted = false
        default: break
        }
    }

    private mutating func leave(_ how: Away) {
        away.insert(how)
        wasPrompted = false
    }

    private mutating func perform(_ effect: LockEffect, _ event: LockMachine.Event) -> String? {
        switch effect {
        case .dropKeys: hasKeys = false
        case .showCover: isCovered = true
        case .hideCover:
            if machine.isShut { return "content shown while shut" }
            isCovered = false
        case .presentLockScreen:
            lockScreens += 1
            if lockScreens > 1 { return "two lock screens" }
        case .dismissLockScreen: lockScreens -= 1
        case .startTimer(let instant): timer = instant
        case .stopTimer: timer = nil
        case .cancelAuthentication(let number):
            guard prompt?.number == number else { return "a prompt cancelled that does not run" }
            latePrompt = prompt
            prompt = nil
        case .beginAuthentication(let number):
            return begin(number, event)
        case .cancelSelfDestructChange: hasPendingChange = false
        case .beginWipe:
            if ending != .wiping { return "a wipe that nobody was told of" }
        case .record(.wipeBegan):
            if ending != .none { return "a wipe began twice" }
            ending = .wiping
        case .record(.wiped):
            if ending == .wiped { return "wiped twice" }
            ending = .wiped
        case .record, .applySettings, .revertSettings, .terminate: break
        }
        return nil
    }

    private mutating func begin(_ number: UInt64, _ event: LockMachine.Event) -> String? {
        let purpose: Prompt.Purpose =
            switch event {
            case .settingsRequested: .settings
            default: .unlock
            }
        let isByItself = event != .authenticate && event != .authenticateUncounted && purpose == .unlock
        if prompt != nil { return "two prompts" }
        if let latePrompt, latePrompt.number >= number { return "a prompt's number used twice" }
        if ending != .none { return "a prompt during a wipe" }
        if away.contains(.background) { return "a prompt out of sight" }
        if isByItself, wasPrompted { return "a second prompt by itself" }
        if isByItself, !away.isEmpty { return "a prompt by itself while nobody is there" }
        if event != .authenticateUncounted, isDelayed { return "a counted prompt during the delay" }
        prompt = Prompt(number: number, purpose: purpose, isCounted: event != .authenticateUncounted)
        if purpose == .unlock {
            wasPrompted = true
            // Who asks is there.
            away.formIntersection(.inactive)
        }
        return nil
    }

    /// What is true once the machine has answered.
    private mutating func recall(_ event: LockMachine.Event, _ effects: [LockEffect]) {
        for effect in effects {
            if case .record(.unlocked) = effect { (openedAt, openedInBoot) = (now, boot) }
            if case .applySettings(let settings) = effect, settings.isEnabled { (openedAt, openedInBoot) = (now, boot) }
        }
        guard case .unlocked = machine.state else {
            awaySince = nil
            return
        }
        if away.isSubset(of: .inactive), away.isEmpty || event == .forceUnlock {
            awaySince = nil
        } else if !away.isSubset(of: .inactive) {
            awaySince = awaySince ?? now
        }
    }
}
