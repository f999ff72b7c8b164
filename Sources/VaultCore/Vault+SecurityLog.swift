public import SecretMemory
internal import VaultFormat

extension Vault {
    /// What the security log holds, and whether it is whole. Every kept entry is proved.
    /// - Throws: `locked`, `busy`, `permissionDenied`, `inputOutput`; damage of the log is in the report.
    public func securityLog() throws(VaultError) -> SecurityLogReport {
        let vault = try gate.enter()
        defer { gate.leave() }
        return try vault.keys.withLogKey { root throws(VaultError) in try log.report(root: root) }
    }

    /// The key that proves the log's entries without the vault, as `scripts/holdfast_log_verify.py` does: 32 bytes.
    ///
    /// It opens every entry and could make others, so it goes to nobody who must not. It stays the same for the life of
    /// the vault.
    /// - Throws: `locked`, `outOfMemory`.
    public func exportSecurityLogKey() throws(VaultError) -> SecretBytes {
        let vault = try gate.enter()
        defer { gate.leave() }
        return try vault.keys.withLogKey { root throws(VaultError) in
            try secretMemory { () throws(SecretMemoryError) in try SecretBytes(copying: root) }
        }
    }

    /// What this process writes into the log from now on, as it happens, also what could not be written. Needs no
    /// unlocked vault.
    public func securityEvents() -> AsyncStream<SecurityEvent> { log.events() }

    /// What can be told about the log without opening the vault.
    public struct LogStatus: Sendable, Hashable {
        /// Entries since the log was begun, rotated ones included; nil when its state cannot be read.
        public let entries: UInt64?
        /// What is wrong with it, in words; nil when the next event can be written. It may still have been edited: only
        /// ``Vault/securityLog()`` tells that.
        public let problem: String?
        /// Events of this process that could not be written.
        public let missedEvents: Int
    }
}
