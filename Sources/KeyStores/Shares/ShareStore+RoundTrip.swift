internal import Cryptography
internal import SecretMemory
internal import VaultFormat

extension ShareStore {
    /// Keeps a share that opens nothing, reads it, and revokes it.
    /// - Throws: ``ShareFailure`` that says what does not work.
    package func roundTrip() throws(ShareFailure) {
        try shareFailures(in: kind) {
            let share = try SecureRandom.secret(32)
            guard let vault = VaultID(bytes: try SecureRandom.bytes(16)) else { return }
            let owner = HardwareOwner(vault: vault, home: try SecureRandom.bytes(32))
            let item = try make(share, as: .fresh(for: owner), under: .nobodyAsked(.whileUnlocked)) { _ in }
            do {
                guard try read(item, of: vault).isEqual(to: share) else {
                    throw KeyStoreError(.damaged, "what was stored did not come back")
                }
            } catch {
                _ = try? revoke(item, of: vault)
                throw error
            }
            guard try revoke(item, of: vault) == .gone else {
                throw KeyStoreError(.failure, "what was stored could not be removed")
            }
        }
    }
}
