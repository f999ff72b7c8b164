internal import AgentMessages
internal import SyncFormat
internal import Synchronization
internal import SystemCalls
internal import VaultCore
internal import VaultFormat
internal import VaultHeader
package import VaultStorage
package import VaultSync

/// What the agent's own thread knows of the sync.
struct Syncing {
    var schedule = SyncSchedule()
    /// After the last round; none while the vault is locked.
    fileprivate(set) var roads: [Int: KeptRoad] = [:]
    /// Clients that wait for a round: for the one that runs, and for the next one.
    fileprivate var answering: [UInt64] = []
    fileprivate var asking: [UInt64] = []

    /// What poll(2) is to look at.
    var descriptors: [Int32] { watches.map(\.descriptor) }

    fileprivate var watches: [(place: Int, descriptor: Int32)] {
        guard schedule.listens else { return [] }
        return roads.compactMap { place, road in road.watch.map { (place, $0.descriptor) } }
    }
}

/// Whether a client has stored something, said by the thread that did it for the client.
final class StoredNote: Sendable {
    private struct State {
        var isWanted = false
        var isThere = false
    }

    private let state = Mutex(State())

    /// Nobody looks where the vault is in no group.
    func want(_ isWanted: Bool) {
        state.withLock { state in
            state.isWanted = isWanted
            // What was noted while it was wanted stays: it may be of a moment ago.
            if !isWanted { state.isThere = false }
        }
    }

    /// Does something, and notes whether the vault changed meanwhile, by whomever.
    func noting<Result, E: Error>(_ vault: Vault, _ body: () throws(E) -> Result) throws(E) -> Result {
        guard state.withLock({ $0.isWanted }) else { return try body() }
        let before = try? vault.lastChange()
        defer {
            // Where a lock was faster the next unlock looks.
            if let now = try? vault.lastChange(), now != before { state.withLock { $0.isThere = $0.isWanted } }
        }
        return try body()
    }

    func take() -> Bool {
        state.withLock { state in
            defer { state.isThere = false }
            return state.isThere
        }
    }
}

extension Agent {
    func handle(_ request: SyncRequest, _ connection: Connection) {
        switch request {
        case .status:
            begin(connection) { [roads = syncing.roads] vault in
                ([try Packet(.sync(try Work.status(vault, roads)))], .rest)
            }
        case .now:
            guard endsAt == nil, lock.isUnlocked, dropReason == nil else { return fail(connection, .locked) }
            if let reason = lock.visit(clock.now()) { dropKeys(because: reason) }
            guard lock.isUnlocked else { return fail(connection, .locked) }
            connection.stage = .working
            syncing.asking.append(connection.number)
            syncing.schedule.handle(.asked, at: clock.now().milliseconds)
        }
    }

    /// The vault was opened.
    func beginSync() {
        syncing.schedule.handle(.unlocked, at: clock.now().milliseconds)
        stored.want(true)
    }

    /// The vault is being locked: nothing is kept, and nothing begins any more. A round that runs ends when it next
    /// needs the vault; the lock waits for that.
    func endSync() {
        stored.want(false)
        let waiting = syncing.answering + syncing.asking
        (syncing.roads, syncing.answering, syncing.asking) = ([:], [], [])
        syncing.schedule.handle(.locked, at: clock.now().milliseconds)
        for number in waiting { if let connection = connections[number] { fail(connection, .lockedMeanwhile) } }
    }

    /// Before clients hear that what they stored is stored: what they do then comes after this.
    func noteStored() {
        if stored.take() { syncing.schedule.handle(.stored, at: clock.now().milliseconds) }
    }

    /// Begins the round that is due, if any.
    func advanceSync() {
        guard endsAt == nil, lock.isUnlocked, dropReason == nil, !isDroppingKeys else { return }
        let now = clock.now()
        for (place, descriptor) in syncing.watches where isReady(descriptor) != 0 {
            syncing.schedule.handle(.noticed(place), at: now.milliseconds)
        }
        guard let round = syncing.schedule.begin(at: now.milliseconds), let life = syncing.schedule.life else { return }
        let (vault, roads, unused, isAsked) = (vault, syncing.roads, lock.unused(now), !syncing.asking.isEmpty)
        let isTaken = syncingLane.submit {
            // A vault in no group is left as it is: nobody asked for anything that would look at its header.
            if (try? GroupHome.isThere(in: vault)) == false { return .synced(life, SyncRounds(), .done([], .rest)) }
            var rounds: SyncRounds?
            let outcome = Work.run(vault, unused: unused) {
                rounds = try Work.rounds(round, vault, roads, isAsked: isAsked)
                return ([], .rest)
            }
            return .synced(life, rounds, outcome)
        }
        (syncing.answering, syncing.asking) = (syncing.asking, [])
        guard !isTaken else { return }
        syncing.schedule.handle(.refused, at: now.milliseconds)
        answerSync(.failure(VaultError(.busy, "the system has no thread left")))
    }

    /// What a thread has finished.
    /// - Parameter life: Of which unlock the rounds were.
    func finishSync(_ life: UInt64, _ rounds: SyncRounds?, _ outcome: Completion.Outcome) {
        let isOurs = syncing.schedule.life == life
        if isOurs, let rounds { syncing.roads = rounds.roads }
        syncing.schedule.handle(.ended(rounds?.end ?? .failed), at: clock.now().milliseconds)
        switch outcome {
        case .done, .stopped:
            stored.want(syncing.schedule.life != nil && syncing.schedule.hasGroup != false)
            followRules()
            if isOurs { answerSync(.success(rounds?.status)) }
            if rounds?.hasTaken ?? false { surveySecrets() }
        case .failed(let error):
            followRules()
            if isOurs { answerSync(.failure(error)) }
            if error.endsAgent { end() }
        case .headerChanged(let error):
            if isOurs {
                answerSync(.failure(error ?? .headerChanged))
                // What was opened since was opened by the header that is there now.
                lock.lock(clock.now())
                dropKeys(because: .requested)
            }
            if error?.endsAgent ?? false { end() }
        }
    }

    /// Answers the clients that waited for the round that has ended.
    private func answerSync(_ result: Result<SyncStatus?, VaultError>) {
        let numbers = syncing.answering
        syncing.answering = []
        if let reason = numbers.isEmpty ? nil : lock.visit(clock.now()) { dropKeys(because: reason) }
        for number in numbers {
            guard let connection = connections[number] else { continue }
            guard lock.isUnlocked, dropReason == nil else {
                fail(connection, .lockedMeanwhile)
                continue
            }
            switch result {
            case .success(let status):
                connection.stage = .resting
                send(.sync(status), to: connection)
            case .failure(let error): fail(connection, error)
            }
        }
    }
}

extension Work {
    fileprivate static func rounds(
        _ round: SyncSchedule.Round, _ vault: Vault, _ roads: [Int: KeptRoad], isAsked: Bool
    ) throws(VaultError) -> SyncRounds {
        do throws(SyncError) { return try SyncRounds(round, in: vault, roads, isAsked: isAsked) } catch {
            throw VaultError(ofSync: error)
        }
    }

    fileprivate static func status(_ vault: Vault, _ roads: [Int: KeptRoad]) throws(VaultError) -> SyncStatus? {
        do throws(SyncError) { return try GroupHome.status(in: vault, roads) } catch {
            throw VaultError(ofSync: error)
        }
    }
}

extension VaultError {
    /// What is wrong with the group's own records.
    package init(ofSync error: SyncError) {
        switch error {
        case .vault(let error): self = error
        case .memory(let error): self.init(any: error)
        case .cryptography(let error): self.init(any: error)
        case .format(.newerVersion):
            self.init(.newerVersion, "the records of the sync were written by a newer version of Holdfast")
        case .format, .notAuthentic, .notForThisMember, .road, .folder, .invitationEnded, .undecided, .tooManyMembers,
            .tooManyInvitations:
            self = .damaged("the records of the sync do not fit each other")
        }
    }
}
