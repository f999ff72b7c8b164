package import SecretMemory
package import VaultFormat
internal import VaultHeader
package import VaultLog
package import VaultStorage

extension Vault {
    /// What the security log holds, and whether it is whole. Every kept entry is proved.
    /// - Throws: `locked`, `busy`, `permissionDenied`, `inputOutput`; damage of the log is in the report.
    package func securityLog() throws(VaultError) -> SecurityLogReport {
        let vault = try gate.enter()
        defer { gate.leave() }
        return try log.report(vault.keys.logKeys()) { () throws(VaultError) in try gate.checkOpen() }
    }

    /// The keys that prove and open the log's entries without the vault, as `scripts/holdfast_log_verify.py` does: 36
    /// bytes each, an epoch (32 bit, little endian) and its key, newest first. More than one where an older part of the
    /// log is from before a rekey.
    ///
    /// They open every entry and can forge others, so give them only to someone you trust with that. New keys for the
    /// vault end what they can do from then on.
    /// - Parameter proof: That the owner is there, because it cannot be called back; used up.
    /// - Throws: `locked`, `proofExpired`, `outOfMemory`.
    package func exportSecurityLogKey(proof: consuming Proof) throws(VaultError) -> SecretBytes {
        try redeem(proof)
        let vault = try gate.enter()
        defer { gate.leave() }
        return try vault.keys.logKeys().exported(log.epochsInUse())
    }

    /// What this process writes into the log from now on, as it happens, also what could not be written. Needs no
    /// unlocked vault.
    package func securityEvents() -> AsyncStream<LogEntry> { log.events() }

    /// What can be told about the log without opening the vault.
    package struct LogStatus: Sendable, Hashable {
        /// Entries since the log was begun, rotated ones included; nil when its state cannot be read.
        package let entries: UInt64?
        /// What is wrong with it, in words; nil when the next event can be written. It may still have been edited: only
        /// ``Vault/securityLog()`` tells that.
        package let problem: String?
        /// Events of this process that could not be written.
        package let missedEvents: Int

        init(_ status: SecurityLog.Status) {
            entries = status.entries
            problem = status.problem
            missedEvents = status.missedEvents
        }
    }
}
