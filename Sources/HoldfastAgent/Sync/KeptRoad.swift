internal import SyncFormat
internal import SystemCalls
internal import VaultCore
internal import VaultStorage
internal import VaultSync

/// What the agent keeps of a road from one round to the next, in memory, until the lock.
struct KeptRoad: Sendable {
    let path: String
    private var memory = RoadMemory()
    /// Nil where the kernel does not tell of changes.
    private(set) var watch: RoadWatch?
    /// Whether the watch has told of something that no round has looked at to its end.
    private var isBehind = true
    /// How the last round ended that is worth telling; nil before the first one.
    private(set) var outcome: RoadOutcome?
    private var hitches: Set<RoundHitch>?

    init(_ path: String) { self.path = path }

    /// How often a round begins anew because another process does one too.
    private static let mostTries = 4

    /// Does a round, where there is anything to look at.
    /// - Parameters:
    ///   - place: Which of the roads it is.
    ///   - depth: How much it looks at.
    /// - Returns: What it did; nil where there was none.
    /// - Throws: `vault` where the vault is not open any more, or gone.
    mutating func round(
        over place: Int, in vault: Vault, _ depth: SyncSchedule.Depth
    ) throws(SyncError) -> Result<RoundReport, SyncError>? {
        // Before the folder is listed: what comes later is told.
        let told = depth == .everything ? nil : watch?.changes()
        if told == .nothing, depth == .told { return nil }
        do throws(SyncError) {
            let report = try round(over: place, in: vault, told)
            isBehind = false
            return end(.success(report), depth)
        } catch {
            isBehind = true
            if case .vault(let error) = error, error.code == .locked || error.endsAgent { throw .vault(error) }
            return end(.failure(error), depth)
        }
    }

    private mutating func end(
        _ result: Result<RoundReport, SyncError>, _ depth: SyncSchedule.Depth
    ) -> Result<RoundReport, SyncError> {
        let report = try? result.get()
        // What a device puts into the folder its own watch tells, too: what it did is worth more than that echo.
        let isEcho = depth == .told && report.map { $0.isIdle && $0.hitches == hitches } ?? false
        guard !isEcho else { return result }
        hitches = report?.hitches
        outcome = RoadOutcome(result, at: WallClock.milliseconds)
        return result
    }

    private mutating func round(
        over place: Int, in vault: Vault, _ told: RoadChanges?
    ) throws(SyncError) -> RoundReport {
        var changed: Set<RoadFolder>?
        switch told {
        case .nothing: changed = []
        case .folders(let folders): changed = folders
        case .everything: break
        // The path may lead to another folder by now.
        case .gone, nil: watch = nil
        }
        if isBehind { changed = nil }
        var tries = 0
        while true {
            guard let home = try GroupHome.load(vault) else { throw .folder(.noRoad(path)) }
            if watch == nil, case .events(let watch) = try home.watch(place) { self.watch = watch }
            do throws(SyncError) {
                return try FolderRound.run(home, over: place, &memory, only: changed)
            } catch {
                tries += 1
                guard case .vault(let reason) = error, reason.code == .busy, home.wasOvertaken,
                    tries < KeptRoad.mostTries
                else { throw error }
            }
        }
    }

    /// When it is to be looked at again by itself, after a round that ended so.
    func next(after result: Result<RoundReport, SyncError>) -> SyncSchedule.Next {
        switch result {
        case .failure(.vault(let error)) where error.code == .busy: return .soon
        case .failure: return .later
        case .success(let report):
            // Pieces lie in folders that are not watched.
            if report.hitches.contains(where: { if case .missingPiece = $0 { true } else { false } }) { return .soon }
            if report.hitches.contains(where: { if case .unlisted = $0 { true } else { false } }) { return .later }
            return watch == nil ? .later : .told
        }
    }
}

extension RoundReport {
    fileprivate var isIdle: Bool { given == 0 && taken == 0 && published == 0 }
}

/// Rounds over roads: what a thread does.
struct SyncRounds: Sendable {
    /// All roads of the group.
    private(set) var roads: [Int: KeptRoad] = [:]
    private(set) var end: SyncSchedule.End
    /// Whether something of others came into the vault.
    private(set) var hasTaken = false
    /// For whoever asked for the rounds.
    private(set) var status: SyncStatus?

    /// Of a vault in no group.
    init() { end = .noGroup }

    /// - Parameters:
    ///   - kept: The roads after the last rounds since the unlock.
    ///   - isAsked: Whether somebody waits for the ``status``.
    /// - Throws: What loading the group throws.
    init(
        _ round: SyncSchedule.Round, in vault: Vault, _ kept: [Int: KeptRoad], isAsked: Bool
    ) throws(SyncError) {
        guard let home = try GroupHome.load(vault) else {
            end = .noGroup
            return
        }
        var nexts: [Int: SyncSchedule.Next] = [:]
        var hasWritten = false
        let paths = home.roadPaths
        for (place, path) in paths.sorted(by: { $0.key < $1.key }) {
            let before = kept[place]
            let isNew = before.map { !$0.path.utf8.elementsEqual(path.utf8) } ?? true
            var road = isNew ? KeptRoad(path) : before ?? KeptRoad(path)
            if isNew || round.places?.contains(place) ?? true,
                let result = try road.round(over: place, in: vault, isNew ? .everything : round.depth)
            {
                nexts[place] = road.next(after: result)
                if case .success(let report) = result {
                    hasTaken = hasTaken || report.taken > 0
                    hasWritten = hasWritten || report.given > 0 || report.published > 0
                }
            }
            roads[place] = road
        }
        end = .done(nexts, of: paths.count, hasWritten: hasWritten)
        if isAsked { status = try GroupHome.status(in: vault, roads) }
    }
}

extension GroupHome {
    /// What the user is told; nil where the vault is in no group.
    static func status(in vault: Vault, _ roads: [Int: KeptRoad]) throws(SyncError) -> SyncStatus? {
        try load(vault)?.status(roads.compactMapValues(\.outcome))
    }
}
