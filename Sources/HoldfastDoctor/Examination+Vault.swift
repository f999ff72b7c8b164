internal import AppLockCore
internal import VaultCore
internal import VaultFormat
internal import VaultStorage

extension Examination {
    /// What there is to say of the vault itself; nothing where there is none.
    static func vault(at home: String) -> Finding? {
        guard Vault.isVault(at: home) else { return nil }
        let status: Vault.Status
        let level: VaultLevel
        do throws(VaultError) {
            let vault = try Vault(at: home)
            status = try vault.status()
            level = try vault.protection().level
        } catch {
            return Finding(.vault, .broken, .vaultUnreadable(reason: error.reason))
        }
        guard level == .secret else { return Finding(.vault, .good, .vaultWithoutSecret(asksOwner: level == .owner)) }
        guard let assurance = status.passcodeAssurance else { return Finding(.vault, .broken, .vaultNeedsChip) }
        if let issue = PolicyLinter(status).issues(status.policy).first(where: \.isError) {
            return Finding(.vault, .broken, .vaultRules(issue: issue.words))
        }
        return Finding(
            .vault, .good, status.hasHardwareShare ? .vaultUnderChip : .vaultUnderPasscode, gives: assurance)
    }
}
