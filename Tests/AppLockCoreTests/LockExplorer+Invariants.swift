import AppLockCore
import VaultHeader
import VaultFormat

/// What must hold in every world.
extension World {
    func brokenState() -> String? {
        if isCovered != machine.isCovered { return "cover and machine differ" }
        if machine.isContentVisible == machine.isCovered { return "content is visible or covered, not both" }
        if machine.isShut, !isCovered { return "content visible while shut" }
        if machine.isShut, hasKeys { return "keys in memory while shut" }
        if lockScreens != (machine.isShut ? 1 : 0) { return "\(lockScreens) lock screens, shut: \(machine.isShut)" }
        if machine.isLockScreenShown != machine.isShut { return "lock screen and machine differ" }
        if machine.hasPendingSelfDestructChange != hasPendingChange { return "pending change and machine differ" }
        if hasPendingChange, machine.isShut || !away.isSubset(of: .inactive) {
            return "a change is pending while nobody is there"
        }
        if let prompt, prompt.purpose != .unlock, machine.isShut { return "a prompt for a change while shut" }
        if prompt != nil, away.contains(.background) { return "a prompt runs out of sight" }
        if wrongSecrets > World.limit { return "\(wrongSecrets) wrong secrets" }
        if selfDestruct, wrongSecrets == World.limit, ending == .none {
            return "the limit is reached and no wipe began"
        }
        return brokenUnlocked() ?? brokenShut()
    }

    private func brokenUnlocked() -> String? {
        let isPresent = away.isSubset(of: .inactive)
        switch machine.state {
        case .unlocked:
            if !machine.settings.isEnabled { return "unlocked though the lock is off" }
            if boot != openedInBoot { return "unlocked in another boot" }
            if now < openedAt { return "unlocked by a clock that went back" }
            if !isPresent, !isCovered { return "content visible while nobody is there" }
            if isPresent != (awaySince == nil), away != .inactive { return "the explorer lost count of absence" }
            guard let awaySince, let limit = machine.settings.timing.seconds else {
                return timer == nil ? nil : "a timer that nobody needs"
            }
            if now < awaySince { return "away since a time to come" }
            if now >= awaySince + UInt64(limit) { return "open though away for too long" }
            let due = BootInstant(bootID: World.boots[Int(boot)], milliseconds: (awaySince + UInt64(limit)) * 1000)
            return timer == due ? nil : "away without the timer that locks"
        case .disabled:
            if machine.settings.isEnabled { return "disabled though the lock is on" }
            if isCovered { return "covered though the lock is off" }
            return timer == nil ? nil : "a timer that nobody needs"
        case .locked, .authenticating, .delayed, .wiping, .wiped: return nil
        }
    }

    private func brokenShut() -> String? {
        switch machine.state {
        case .authenticating(let number):
            if prompt?.number != number || prompt?.purpose != .unlock { return "the prompt is lost" }
            if ending != .none { return "a prompt in a wipe" }
        case .locked, .delayed:
            if prompt != nil { return "a prompt runs that the state does not know" }
            if ending != .none { return "a wipe that ended in a lock" }
            if case .delayed(let until) = machine.state, timer != until { return "a delay without its timer" }
        case .wiping:
            if ending != .wiping { return "wiping, but not begun" }
            if prompt != nil || timer != nil { return "something else goes on in a wipe" }
        case .wiped:
            if ending != .wiped { return "wiped, but not done" }
            if prompt != nil || timer != nil { return "something else goes on after a wipe" }
        case .unlocked, .disabled:
            if ending != .none { return "open after a wipe began" }
        }
        return nil
    }
}

/// What must hold of every transition.
extension World {
    func brokenTransition(from before: World, _ event: LockMachine.Event, _ effects: [LockEffect]) -> String? {
        brokenOrder(effects) ?? brokenOpening(from: before, event, effects) ?? brokenLocking(
            from: before, event, effects)
            ?? brokenPrompt(from: before, event) ?? brokenChange(from: before, event, effects)
            ?? brokenEnd(from: before, event, effects)
    }

    /// Keys first, then what hides, then the rest.
    private func brokenOrder(_ effects: [LockEffect]) -> String? {
        if effects.contains(.dropKeys), effects.first != .dropKeys { return "keys do not go first" }
        func place(_ matches: (LockEffect) -> Bool) -> Int? { effects.firstIndex(where: matches) }
        let hides = place { $0 == .showCover || $0 == .presentLockScreen }
        let shows = place {
            switch $0 {
            case .hideCover, .dismissLockScreen, .beginAuthentication, .record, .terminate, .startTimer, .stopTimer:
                true
            default: false
            }
        }
        if let hides, let shows, shows < hides { return "something is shown before content is hidden" }
        if effects.contains(.showCover), effects.contains(.hideCover) { return "the cover flickers" }
        if effects.contains(.presentLockScreen), effects.contains(.dismissLockScreen) { return "the screen flickers" }
        let begins = place { if case .beginAuthentication = $0 { true } else { false } }
        let cancels = place { if case .cancelAuthentication = $0 { true } else { false } }
        if let begins, let cancels, begins < cancels { return "a prompt begins before the other ends" }
        return nil
    }

    /// Only a success of the running prompt opens, and only what is open can be uncovered.
    private func brokenOpening(from before: World, _ event: LockMachine.Event, _ effects: [LockEffect]) -> String? {
        let methods = effects.compactMap { if case .record(.unlocked(let method)) = $0 { method } else { nil } }
        if before.machine.isShut, !machine.isShut {
            guard case .authenticationEnded(let number, .unlocked(let method)) = event,
                number == before.prompt?.number, before.prompt?.purpose == .unlock
            else { return "opened by \(event)" }
            if methods != [method] { return "an opening that is not recorded once" }
        } else if !methods.isEmpty {
            return "an opening recorded that is none"
        }
        if before.isCovered, !isCovered, !(away.isEmpty || event == .forceUnlock || machine.state == .disabled) {
            return "uncovered by \(event) while interrupted"
        }
        if event == .forceUnlock, !before.machine.isShut, !machine.isShut, away.isSubset(of: .inactive), isCovered {
            return "forceUnlock did nothing"
        }
        if case .unlocked = machine.state, away.isEmpty, isCovered { return "covered though the owner is there" }
        if case .unlocked = machine.state, event == .system(.willResignActive) || event == .system(.minimised),
            !isCovered
        {
            return "interrupted and not covered"
        }
        return nil
    }

    /// Every way of locking locks, says why, and says it once.
    private func brokenLocking(from before: World, _ event: LockMachine.Event, _ effects: [LockEffect]) -> String? {
        let reasons = effects.compactMap { if case .record(.locked(let reason)) = $0 { reason } else { nil } }
        if ending != .none {
            return reasons.isEmpty || reasons == expiry(before) ? nil : "locked because of \(reasons) by the end"
        }
        let hasLocked = !before.machine.isShut && machine.isShut
        if reasons.count != (hasLocked ? 1 : 0) { return "locked, recorded \(reasons.count) times" }
        guard !before.machine.isShut else { return nil }
        let expected = expectedReasons(from: before, event)
        if let reason = reasons.first, !expected.contains(reason) { return "locked because of \(reason) by \(event)" }
        if !expected.isEmpty, !machine.isShut { return "\(event) did not lock" }
        return nil
    }

    private func expectedReasons(from before: World, _ event: LockMachine.Event) -> [LockReason] {
        if event == .forceLock { return [.forced] + expiry(before) }
        if event == .panic { return [.panic] + expiry(before) }
        if event == .system(.launch), before.machine.settings.isEnabled { return [.launch] + expiry(before) }
        if case .settingsChanged(let new) = event, new.isEnabled, new.timing == .immediately,
            !away.isSubset(of: .inactive)
        {
            return [.background] + expiry(before)
        }
        guard case .unlocked = before.machine.state else { return [] }
        let expiry = expiry(before)
        if !expiry.isEmpty { return expiry }
        let settings = before.machine.settings
        let isImmediate = settings.timing == .immediately
        switch event {
        case .system(.didEnterBackground) where isImmediate: return [.background]
        case .system(.systemLocked) where isImmediate || settings.triggers.contains(.systemLock): return [.systemLock]
        case .system(.userSwitchedAway) where isImmediate || settings.triggers.contains(.userSwitch):
            return [.userSwitch]
        case .system(.suspended) where isImmediate || settings.triggers.contains(.suspend): return [.suspend]
        case .system(.lidClosed) where settings.triggers.contains(.lidClosed): return [.lidClosed]
        case .system(.minimised) where settings.triggers.contains(.minimised): return [.minimised]
        case .system(.idleTimeout): return [.idle]
        case .keysGone: return [.keysGone]
        default: return []
        }
    }

    /// Reasons that the clock alone gives.
    private func expiry(_ before: World) -> [LockReason] {
        guard case .unlocked = before.machine.state else { return [] }
        if before.boot != before.openedInBoot { return [.reboot] }
        if before.now < before.awaySince ?? before.openedAt { return [.clockWentBack] }
        guard let since = before.awaySince, let limit = before.machine.settings.timing.seconds else { return [] }
        return before.now >= since + UInt64(limit) ? [.background] : []
    }

    /// The owner gets a prompt on request, one by itself on coming back, and the same one after a retry.
    private func brokenPrompt(from before: World, _ event: LockMachine.Event) -> String? {
        if case .authenticationEnded(let number, .retry) = event, number == before.prompt?.number,
            machine.isShut == before.machine.isShut, prompt != before.prompt
        {
            return "a retry ended the prompt"
        }
        guard machine.isShut, ending == .none, prompt == nil, !away.contains(.background) else { return nil }
        switch event {
        case .authenticate where !isDelayed: return "no prompt for who asks"
        case .authenticateUncounted: return "no prompt for who has the phrase"
        case .system(.didBecomeActive), .system(.systemUnlocked), .system(.resumed), .system(.userSwitchedBack):
            return away.isEmpty && !wasPrompted && !isDelayed ? "no prompt by itself" : nil
        default: return nil
        }
    }

    /// Settings change by a prompt made for it, and each request is answered once.
    private func brokenChange(from before: World, _ event: LockMachine.Event, _ effects: [LockEffect]) -> String? {
        var succeeded: Prompt.Purpose?
        if case .authenticationEnded(let number, .unlocked) = event, number == before.prompt?.number {
            succeeded = before.prompt?.purpose
        }
        var isAdopted = false
        if case .settingsChanged(let new) = event { isAdopted = !before.machine.isShut && new == machine.settings }
        let applied = effects.count { if case .applySettings = $0 { true } else { false } }
        let reverted = effects.count { if case .revertSettings = $0 { true } else { false } }
        if machine.settings != before.machine.settings, applied != 1 { return "settings changed without a word" }
        if applied > 0, !(succeeded == .settings || isAdopted) { return "settings changed by \(event)" }
        if succeeded == .settings, machine.isShut == before.machine.isShut, applied != 1 { return "a change got lost" }
        if effects.contains(.cancelSelfDestructChange), !before.hasPendingChange, event != .selfDestructChangeBegan {
            return "a change cancelled that was not pending"
        }
        guard before.ending == .none else { return nil }
        var asked = before.prompt?.purpose == .settings ? 1 : 0
        if case .settingsRequested = event { asked += 1 }
        let waiting = prompt?.purpose == .settings ? 1 : 0
        let answered = reverted + (isAdopted ? 0 : applied)
        if answered != asked - waiting { return "\(asked) requests, \(answered) answers, \(waiting) waiting" }
        return nil
    }

    /// Once begun, a wipe ends in `wiped`, and nothing else happens.
    private func brokenEnd(from before: World, _ event: LockMachine.Event, _ effects: [LockEffect]) -> String? {
        let terminates = effects.count { $0 == .terminate }
        if terminates != (before.ending != .wiped && ending == .wiped ? 1 : 0) { return "ended \(terminates) times" }
        switch (before.ending, ending) {
        case (.none, .none): return nil
        case (.none, .wiping):
            var isRequired = false
            if case .authenticationEnded(_, .wipeRequired) = event { isRequired = true }
            if effects.contains(.beginWipe) != isRequired { return "whose wipe is it?" }
            return isRequired || event == .wipeBegan ? nil : "a wipe begun by \(event)"
        case (.none, .wiped), (.wiping, .wiped): return event == .wipeFinished ? nil : "wiped by \(event)"
        case (.wiping, .wiping), (.wiped, .wiped):
            if event == .wipeFinished, ending == .wiping { return "a wipe that never ends" }
            if machine.state != before.machine.state { return "\(event) changed the end" }
            return effects.allSatisfy { $0 == .dropKeys || $0 == .cancelSelfDestructChange }
                ? nil : "\(event) did \(effects) at the end"
        case (.wiping, .none), (.wiped, .none), (.wiped, .wiping): return "a wipe taken back"
        }
    }
}
