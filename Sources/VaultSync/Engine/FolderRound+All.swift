package import SyncFormat
internal import SystemCalls
package import VaultCore

extension FolderRound {
    /// Does a round over each of a vault's roads, for who keeps nothing between two rounds.
    /// - Returns: How each ended: one does not stop the others. Nil where the vault is in no group.
    /// - Throws: `vault`, for what loading the group throws.
    package static func runAll(_ vault: Vault) throws(SyncError) -> SyncStatus? {
        guard let first = try GroupHome.load(vault) else { return nil }
        var outcomes: [Int: RoadOutcome] = [:]
        for place in first.roads.keys.sorted() {
            // Each one for itself: what failed is not what the vault has.
            guard let home = try GroupHome.load(vault) else { return nil }
            var memory = RoadMemory()
            let result: Result<RoundReport, SyncError>
            do throws(SyncError) { result = .success(try run(home, over: place, &memory)) } catch {
                result = .failure(error)
            }
            outcomes[place] = RoadOutcome(result, at: WallClock.milliseconds)
        }
        return try GroupHome.load(vault)?.status(outcomes)
    }

    /// Reads what others wrote of the members, before this device writes a list of them: a list beside theirs would be
    /// a matter of chance.
    /// - Parameter isAdding: Whether a folder that cannot be used is a reason to wait. A lost device is removed anyway.
    /// - Throws: `notForThisMember` where this device was removed; `undecided`; what the rounds throw.
    package static func beforeChange(of vault: Vault, isAdding: Bool) throws(SyncError) {
        guard let first = try GroupHome.load(vault) else { return }
        for place in first.roads.keys.sorted() {
            guard let home = try GroupHome.load(vault) else { return }
            var memory = RoadMemory()
            let report: RoundReport
            do throws(SyncError) { report = try run(home, over: place, &memory) } catch {
                guard case .folder = error, !isAdding else { throw error }
                continue
            }
            if report.hitches.contains(.removed) { throw .notForThisMember }
            let isUndecided = report.hitches.contains { if case .roster(_, .ask) = $0 { true } else { false } }
            if isUndecided, isAdding { throw .undecided }
        }
    }
}
