import DeviceOwner
import GtkKit
import Holdfast
import HoldfastUI

/// Tells the lock what happens to the window, the session and the machine, and when nobody is there.
final class Watch {
    private let window: Window
    private let models: ReadyModels
    /// Whether a window of ours other than this one has the focus.
    private let hasDialog: () -> Bool
    private var lastActivity = ContinuousClock.now
    private var waiting: Task<Void, Never>?
    private var isAway = false
    private var leaving: Task<Void, Never>?

    private struct Idle: Equatable {
        let isOpen: Bool
        let seconds: UInt32?
    }

    init(_ window: Window, _ models: ReadyModels, hasDialog: @escaping () -> Bool) {
        (self.window, self.models, self.hasDialog) = (window, models, hasDialog)
        models.lock.send(.didBecomeActive)
        window.onActivity { [unowned self] in lastActivity = .now }
        window.on("notify::is-active") { [unowned self] in focusChanged() }
        window.on("map") { [unowned self] in
            window.onSurfaceState { [unowned self] in if window.isMinimised { send(.minimised) } }
        }
        let (lock, preferences) = (models.lock, models.preferences)
        bind(self, { Idle(isOpen: !lock.isLocked, seconds: preferences.values.idleSeconds) }) { [unowned self] in
            arm($0)
        }
    }

    private func send(_ event: LockEvent) {
        Trace.mark()
        models.lock.send(event)
    }

    /// - Parameter letSleep: Called when the machine may sleep: it waits until the keys are gone.
    func happened(_ event: SessionEvent, _ letSleep: @escaping () -> Void) {
        guard event == .sleeps else { return event.closes ? send(event.ofLock) : models.lock.send(event.ofLock) }
        Trace.mark()
        Task {
            await models.lock.handle(.suspended)
            letSleep()
        }
    }

    private func focusChanged() {
        leaving?.cancel()
        leaving = nil
        if window.isActive {
            guard isAway else { return }
            isAway = false
            return models.lock.send(.didBecomeActive)
        }
        guard models.preferences.values.focusLoss != .ignored else { return }
        // A menu of this very window takes the focus for a moment when it closes.
        leaving = Task { [weak self] in
            try? await Task.sleep(for: .milliseconds(150))
            guard !Task.isCancelled else { return }
            self?.leave()
        }
    }

    private func leave() {
        guard !window.isActive, !hasDialog() else { return }
        switch models.preferences.values.focusLoss {
        case .ignored: return
        case .covers: send(.willResignActive)
        case .leaves: send(.didEnterBackground)
        }
        isAway = true
    }

    /// One task sleeps until the time would be over; whoever is active only moves that time.
    private func arm(_ idle: Idle) {
        waiting?.cancel()
        waiting = nil
        guard idle.isOpen, let seconds = idle.seconds else { return }
        lastActivity = .now
        waiting = Task { [weak self] in
            while let last = self?.lastActivity, !Task.isCancelled {
                let due = last + .seconds(seconds)
                guard due > .now else {
                    self?.send(.idleTimeout)
                    return
                }
                try? await Task.sleep(until: due)
            }
        }
    }
}
