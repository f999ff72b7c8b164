internal import BetterAuthMessages
internal import Synchronization

/// How often an address may ask. Looked at before any work is done for a request.
///
/// A bucket of tokens for each address. The table is bounded: with more addresses than it holds, those that were silent
/// longest begin anew.
package final class AddressRates: Sendable {
    private struct Bucket {
        var tokens: Double
        var filled: Double
    }

    private struct Halves {
        var perSecond: Double
        var burst: Double
        var young: [ClientAddress: Bucket] = [:]
        var old: [ClientAddress: Bucket] = [:]
    }

    private let halves: Mutex<Halves>
    /// Whether there is a limit: without one no request waits for another's look at the table.
    private let isLimited: Atomic<Bool>
    private let halfCapacity: Int

    /// - Parameters:
    ///   - perSecond: Requests; 0 for no limit.
    ///   - burst: Requests at once after a time of silence.
    package init(perSecond: Double, burst: Double, capacity: Int = 131_072) {
        halves = Mutex(Halves(perSecond: perSecond, burst: max(burst, 1)))
        isLimited = Atomic(perSecond > 0)
        halfCapacity = max(capacity / 2, 1)
    }

    /// Seconds after which a request that was refused is let in, if nothing else came meanwhile.
    package var retrySeconds: Int {
        let perSecond = halves.withLock { $0.perSecond }
        return perSecond > 0 ? Int(max(1, min(3600, 1 / perSecond)).rounded(.up)) : 1
    }

    /// Other limits from now on; what addresses have used up they have used up.
    package func adjust(perSecond: Double, burst: Double) {
        halves.withLock { halves in
            halves.perSecond = perSecond
            halves.burst = max(burst, 1)
            isLimited.store(perSecond > 0, ordering: .relaxed)
        }
    }

    /// Nil when a request of this address may continue, and otherwise its refusal.
    package func refusal(_ address: ClientAddress, now: Double) -> HTTPReply? {
        admit(address, now: now) ? nil : HTTPReply(.plain(.limited), retrySeconds: retrySeconds)
    }

    /// Whether a request of this address may continue.
    /// - Parameter now: Seconds of a clock that only goes forward.
    package func admit(_ address: ClientAddress, now: Double) -> Bool {
        guard isLimited.load(ordering: .relaxed) else { return true }
        let name = address.subscriber
        return halves.withLock { halves in
            let (perSecond, burst) = (halves.perSecond, halves.burst)
            guard perSecond > 0 else { return true }
            let known = halves.young[name] ?? halves.old[name]
            var bucket = known ?? Bucket(tokens: burst, filled: now)
            bucket.tokens = min(burst, bucket.tokens + max(0, now - bucket.filled) * perSecond)
            bucket.filled = now
            let isAdmitted = bucket.tokens >= 1
            if isAdmitted { bucket.tokens -= 1 }
            if halves.young.count >= halfCapacity {
                halves.old = halves.young
                halves.young = [:]
            }
            halves.young[name] = bucket
            return isAdmitted
        }
    }
}
