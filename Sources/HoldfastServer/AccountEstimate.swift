internal import BetterAuthHTTP
internal import BetterAuthServer
internal import Synchronization
internal import SystemCalls

/// About how many accounts there are, for metrics: every process of a database tells the same, and none counts them
/// all.
final class AccountEstimate: Sendable {
    private struct State {
        var counts: AccountCounts?
        var renewed = -Double.infinity
    }

    /// Seconds between two looks.
    private static let interval = 60.0

    private let store: any ServerStore
    private let state = Mutex(State())

    init(_ store: any ServerStore) { self.store = store }

    /// Looks again, if the last look was a while ago. It waits for the store; while that fails the last number stays.
    func renew(now: Double = MonotonicClock.seconds) {
        let isDue = state.withLock { state in
            guard now - state.renewed >= AccountEstimate.interval else { return false }
            state.renewed = now
            return true
        }
        guard isDue, let counts = try? AccountCounts.estimated(store) else { return }
        state.withLock { $0.counts = counts }
    }

    func write(to text: inout MetricsText) {
        guard let counts = state.withLock({ $0.counts }) else { return }
        let name = "holdfast_accounts"
        text.family(name, .gauge, "Accounts by state: exact up to 1000, and beyond within a few in a hundred.")
        for (state, number) in [("open", counts.open), ("locked", counts.locked), ("deleted", counts.deleted)] {
            text.sample(name, ["state": state], number)
        }
        text.gauge("holdfast_devices", counts.devices, "Devices of these accounts, as exactly.")
    }
}
