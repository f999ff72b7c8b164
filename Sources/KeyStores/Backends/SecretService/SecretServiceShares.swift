package import SecretMemory
package import VaultFormat

/// Shares as items of the user's keyring (freedesktop.org Secret Service). While it is unlocked every program of the
/// user has them; on the disk they are encrypted under the login password. A keyring is a file: an older one that is
/// put back has what was revoked since.
///
/// Never asks to unlock it. The item keeps which program and which keyring has the share, so that another one that
/// answers in its place is not taken for a loss.
package struct SecretServiceShares: ShareStore {
    package let kind = KeyStoreKind.secretService

    package init() {}

    private static let size = 32

    package func assurance(of rule: ShareRule) -> Assurance {
        switch rule {
        case .nobodyAsked: .none
        case .owner, .released: .presence
        }
    }

    package func make(
        _ share: borrowing SecretBytes, as name: ShareName, under rule: ShareRule,
        note: (ShareItem) throws(ShareFailure) -> Void
    ) throws(ShareFailure) -> ShareItem {
        try shareFailures(in: kind) {
            guard share.count == SecretServiceShares.size else {
                throw KeyStoreError(.failure, "a share has 32 bytes")
            }
            let keyring = try KeyringService.current()
            let collection = try keyring.openStandard()
            if rule.replaces { try keyring.clear(name.text) }
            guard try keyring.lookUp(name.text, { _ in true }) == nil else { throw ShareFailure.nameTaken }
            let item = ShareItem(name, .named(kind, backend: keyring.backend(collection)))
            try note(item)
            do {
                try keyring.store(share, as: name.text, in: KeyringService.path(collection))
                let isThere = try keyring.lookUp(name.text) { try SecretBytes(copying: $0).isEqual(to: share) }
                guard isThere == true else {
                    throw KeyStoreError(.failure, "the keyring does not give back what was stored")
                }
            } catch {
                try? keyring.clear(name.text)
                throw error
            }
            return item
        }
    }

    package func read(_ item: ShareItem, of vault: VaultID) throws(ShareFailure) -> SecretBytes {
        try item.check(kind, of: vault)
        return try shareFailures(in: kind) {
            let keyring = try KeyringService.current()
            let found = try keyring.lookUp(item.name.text) { bytes in
                guard bytes.byteCount == SecretServiceShares.size else { throw ShareFailure.lost(.replaced) }
                return try SecretBytes(copying: bytes)
            }
            guard let share = found else {
                try SecretServiceShares.checkWasAsked(item, .current())
                throw ShareFailure.lost(.notThere)
            }
            guard try !share.isEqual(to: SecretBytes(zeroed: SecretServiceShares.size)) else {
                throw ShareFailure.lost(.emptied)
            }
            return share
        }
    }

    package func revoke(_ item: ShareItem, of vault: VaultID) throws(ShareFailure) -> Revocation {
        guard item.isOf(kind, vault), case .named(_, let backend) = item.place else { return .anothers }
        return try shareFailures(in: kind) {
            let keyring = try KeyringService.current()
            let name = item.name.text
            guard try keyring.lookUp(name, { _ in true }) != nil else {
                try SecretServiceShares.checkWasAsked(item, keyring)
                return .gone
            }
            let zeros = try SecretBytes(zeroed: SecretServiceShares.size)
            // In its own keyring: a new item of this name in another one would leave the old one as it is.
            let collection = keyring.collection(of: backend) ?? keyring.standard
            var isEmptied = false
            if let collection {
                try? keyring.store(zeros, as: name, in: KeyringService.path(collection))
                isEmptied = try keyring.lookUp(name, { try SecretBytes(copying: $0).isEqual(to: zeros) }) ?? true
            }
            var refusal: (any Error)?
            do { try keyring.clear(name) } catch { refusal = error }
            guard try keyring.lookUp(name, { _ in true }) != nil else {
                // Locked in between, it answers as if it were empty.
                try SecretServiceShares.checkWasAsked(item, .current())
                return .gone
            }
            guard isEmptied else { throw refusal ?? KeyStoreError(.failure, "the keyring still has the share") }
            return .emptied
        }
    }

    package func probe() throws(ShareFailure) {
        try shareFailures(in: kind) { _ = try KeyringService.current().openStandard() }
    }

    /// After nothing was found: whether the keyring that has the item was asked at all.
    /// - Throws: ``ShareFailure`` (`unavailable`) where it is locked, or another one answered.
    private static func checkWasAsked(_ item: ShareItem, _ service: KeyringService) throws(ShareFailure) {
        guard case .named(_, let backend) = item.place else { throw .damaged }
        guard let collection = service.collection(of: backend) else {
            let found = service.standard.map(service.backend) ?? service.program
            throw .unavailable(.otherBackend(kept: backend, found: found))
        }
        guard !collection.isLocked else { throw .unavailable(.locked) }
    }
}
