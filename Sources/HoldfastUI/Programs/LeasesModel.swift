// No agent serves other programs on Apple's systems.
#if !canImport(Darwin)
internal import AgentMessages
internal import Holdfast
internal import HoldfastAgent
internal import Observation
internal import SystemCalls

/// What other programs may use without the user being asked again, by the word of the agent of the same vault. Dropped
/// when the lock falls.
@MainActor @Observable
package final class LeasesModel {
    /// One program's lease.
    package struct Lease: Sendable, Hashable, Identifiable {
        /// What a lease opens.
        package enum Target: Sendable, Hashable {
            /// One item, by its name and collection.
            case item(name: String, collection: String)
            /// All items with a tag.
            case tag(String)
        }

        /// The agent's number of it.
        package let id: UInt64
        /// The program, as it was called when the lease was given.
        package let program: String
        /// What it opens.
        package let target: Target
        /// Seconds that are left; nil until the vault locks.
        package let seconds: UInt64?

        init(_ entry: LeaseEntry) {
            (id, program, seconds) = (entry.number, entry.program, entry.remaining.map { ($0 + 999) / 1000 })
            switch entry.target {
            case .item(let path): target = .item(name: path.name, collection: path.collection)
            case .tag(let tag): target = .tag(tag)
            }
        }
    }

    /// The leases, in the order in which they were given; none where no agent serves the vault.
    package private(set) var leases: [Lease] = []
    /// What kept them from being read or ended.
    package private(set) var problem: VaultProblem?

    @ObservationIgnored private let lock: LockModel
    @ObservationIgnored private var loads = 0

    /// The leases of the vault behind this lock.
    package init(_ lock: LockModel) { self.lock = lock }

    /// Asks the agent.
    package func load() async { await ask { agent throws(VaultError) in try agent.leases() } }

    /// Ends a lease, or all of them; then the program is asked for again.
    /// - Parameter lease: The number of one; nil for all.
    package func revoke(_ lease: UInt64?) async {
        await ask { agent throws(VaultError) in
            _ = try agent.revoke(lease)
            return try agent.leases()
        }
    }

    /// Forgets them.
    package func drop() {
        loads += 1
        leases = []
        problem = nil
    }

    private func ask(
        _ body: @escaping @Sendable (borrowing AgentClient) throws(VaultError) -> [LeaseEntry]
    ) async {
        loads += 1
        let mine = loads
        let result = await LeasesModel.ask(lock.app.vault.home.path, body)
        guard mine == loads, !lock.isLocked else { return }
        switch result {
        case .success(let found):
            leases = found.map(Lease.init)
            problem = nil
        case .failure(let error):
            leases = []
            problem = VaultProblem(error)
        }
    }

    @concurrent
    private nonisolated static func ask(
        _ home: String, _ body: @escaping @Sendable (borrowing AgentClient) throws(VaultError) -> [LeaseEntry]
    ) async -> Result<[LeaseEntry], VaultError> {
        Result { () throws(VaultError) in
            guard let agent = try AgentClient(home: home, runtime: runtime) else { return [] }
            return try body(agent)
        }
    }

    /// The user's runtime folder; nil where there is none.
    private nonisolated static var runtime: String? {
        guard let value = unsafe getenv("XDG_RUNTIME_DIR"), let path = unsafe String(validatingCString: value) else {
            return nil
        }
        return path.hasPrefix("/") ? path : nil
    }
}
#endif
