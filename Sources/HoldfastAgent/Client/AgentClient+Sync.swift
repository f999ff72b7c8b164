internal import AgentMessages
package import SyncFormat
package import VaultStorage

// The sync between the user's devices.
extension AgentClient {
    /// Has the agent do a round over all roads, and waits for it.
    /// - Returns: What is known then; nil where the vault is in no group.
    /// - Throws: `locked` where the vault is locked, or is locked while the round runs; what reading the group's
    ///   records throws. What stands in the way on a road is no error here.
    package borrowing func syncNow() throws(VaultError) -> SyncStatus? {
        try waiting { agent throws(VaultError) in try agent.receiveSync(.now) }
    }

    /// What the agent knows of the group and of the last rounds since the unlock.
    /// - Returns: Nil where the vault is in no group.
    /// - Throws: As ``syncNow()``.
    package borrowing func syncStatus() throws(VaultError) -> SyncStatus? { try receiveSync(.status) }

    private borrowing func receiveSync(_ request: SyncRequest) throws(VaultError) -> SyncStatus? {
        try send(.sync(request))
        guard case .sync(let status) = try receiveReply() else { throw .unexpected }
        return status
    }
}
