internal import VaultSync

/// When the agent does a round, and over which roads: what happened goes in, and comes out as the round that is due. A
/// value; it has no clock, and knows nothing of vaults and folders.
///
/// One round runs at a time. What happens meanwhile is gathered for the next one.
struct SyncSchedule: Sendable {
    /// How much a round looks at; the higher includes the lower.
    enum Depth: Int, Sendable, Comparable {
        /// What a watch tells; where that is nothing there is no round.
        case told
        /// The own changes too.
        case changes
        /// Everything, whatever the watches tell.
        case everything

        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// A round that is due.
    struct Round: Sendable, Equatable {
        /// By their places; nil for all, also those that are not known here.
        let places: Set<Int>?
        let depth: Depth
    }

    /// When a road is to be looked at again by itself.
    enum Next: Sendable, Equatable {
        /// Never: a watch tells.
        case told
        /// At times: nothing tells, or something is wrong with it that may end unseen.
        case later
        /// Soon, and then less and less often: something is on its way that no watch tells of.
        case soon
    }

    /// How a round ended.
    enum End: Sendable, Equatable {
        /// The vault is in no group.
        case noGroup
        /// It was over these roads, of so many that there are.
        /// - Parameter hasWritten: Whether there may be something that the other roads do not have.
        case done([Int: Next], of: Int, hasWritten: Bool)
        /// It could not begin.
        case failed
    }

    enum Event: Sendable, Equatable {
        case unlocked
        case locked
        /// A client has stored something.
        case stored
        /// A client wants a round over everything.
        case asked
        /// The watch of a road has something to tell.
        case noticed(Int)
        case ended(End)
        /// No thread can be had for the round that was to begin.
        case refused
    }

    /// The number of the unlock whose rounds these are; nil while it is locked.
    private(set) var life: UInt64?
    private var lives: UInt64 = 0
    /// The unlock that the running round belongs to.
    private var running: UInt64?
    /// Whether the vault is in a group, as far as that is known.
    private(set) var hasGroup: Bool?
    private var wanted: [Int: Depth] = [:]
    private var wantedOfAll: Depth?
    private var storedDue: UInt64?
    private var retryDue: UInt64?
    private var pausedUntil: UInt64?
    /// When roads are looked at by themselves, and how long each had to wait for that.
    private var listings: [Int: UInt64] = [:]
    private var waits: [Int: UInt64] = [:]

    /// Milliseconds in which changes are gathered.
    static let gathering: UInt64 = 5000
    /// The longest wait for what no watch tells.
    static let interval = UInt64(RoadWatching.interval) * 1000

    /// Whether watches are worth hearing: not while what they tell would only wait.
    var listens: Bool { life != nil && running == nil && wanted.isEmpty && wantedOfAll == nil }

    /// - Parameter now: Milliseconds of the agent's clock.
    mutating func handle(_ event: Event, at now: UInt64) {
        switch event {
        case .unlocked:
            guard life == nil else { return }
            lives += 1
            life = lives
            want(nil, .everything)
        case .locked:
            let (lives, running) = (lives, running)
            self = SyncSchedule()
            // A round that runs still has the thread.
            (self.lives, self.running) = (lives, running)
        case .stored:
            guard life != nil, hasGroup != false else { return }
            // From the first one on: whoever writes all the time must not keep them here.
            storedDue = storedDue ?? now + SyncSchedule.gathering
        case .asked:
            guard life != nil else { return }
            pausedUntil = nil
            want(nil, .everything)
        case .noticed(let place):
            guard life != nil else { return }
            want(place, .told)
        case .ended(let end):
            let isOurs = running == life
            running = nil
            if life != nil, isOurs { note(end, at: now) }
        case .refused:
            running = nil
            pausedUntil = now + SyncSchedule.interval
            want(nil, .everything)
        }
    }

    /// The round that is to begin now. It runs from here on, until its end is told or that it was refused.
    mutating func begin(at now: UInt64) -> Round? {
        guard let life, running == nil else { return nil }
        if let pausedUntil, now < pausedUntil { return nil }
        pausedUntil = nil
        if let due = storedDue, now >= due { want(nil, .changes) }
        if let due = retryDue, now >= due { want(nil, .everything) }
        for (place, due) in listings where now >= due {
            listings[place] = nil
            want(place, .everything)
        }
        guard wantedOfAll != nil || !wanted.isEmpty else { return nil }
        let deepest = wanted.values.max()
        let round =
            if let depth = wantedOfAll {
                Round(places: nil, depth: max(depth, deepest ?? depth))
            } else {
                Round(places: Set(wanted.keys), depth: deepest ?? .told)
            }
        (wanted, wantedOfAll) = ([:], nil)
        if round.places == nil { (storedDue, retryDue) = (nil, nil) }
        running = life
        return round
    }

    /// Milliseconds at which ``begin(at:)`` has something by itself; nil for never.
    var due: UInt64? {
        guard life != nil, running == nil else { return nil }
        if let pausedUntil { return pausedUntil }
        return ([storedDue, retryDue].compactMap { $0 } + listings.values).min()
    }

    private mutating func want(_ place: Int?, _ depth: Depth) {
        if let place {
            wanted[place] = max(depth, wanted[place] ?? depth)
        } else {
            wantedOfAll = max(depth, wantedOfAll ?? depth)
        }
    }

    private mutating func note(_ end: End, at now: UInt64) {
        switch end {
        case .noGroup:
            hasGroup = false
            (storedDue, retryDue, listings, waits) = (nil, nil, [:], [:])
        case .failed: retryDue = now + SyncSchedule.interval
        case .done(let roads, let count, let hasWritten):
            hasGroup = true
            for (place, next) in roads {
                let wait: UInt64? =
                    switch next {
                    case .told: nil
                    case .later: SyncSchedule.interval
                    case .soon: min(waits[place].map { 2 * $0 } ?? SyncSchedule.gathering, SyncSchedule.interval)
                    }
                waits[place] = wait
                listings[place] = wait.map { now + $0 }
            }
            if hasWritten, count > 1 { want(nil, .changes) }
        }
    }
}
