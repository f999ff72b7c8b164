internal import CSecret
package import DeviceOwner
package import SecretMemory
package import VaultFormat
internal import SystemCalls

/// Shares in the keyring of the user's session (freedesktop.org Secret Service), through libsecret.
///
/// On the disk they are encrypted under the login password. While the keyring is open, every program of the user can
/// have them. It never asks to unlock the keyring: a locked keyring is a valid answer, and its prompt would be another
/// window that the user has to trust.
package struct SecretServiceStore: KeyStore {
    package let kind = KeyStoreKind.secretService
    package let assurance = Assurance.presence

    package init() {}

    package func put(
        _ share: borrowing SecretBytes, as name: String, releasedBy secret: borrowing SecretBytes
    ) throws(KeyStoreError) -> KeyStoreItem {
        try KeyStoreError.checkName(name)
        try keyStoreErrors {
            let keyring = try open()
            let value = unsafe share.withBytes { bytes in
                unsafe bytes.withUnsafeBytes { bytes in
                    unsafe keyring.call.secret_value_new(
                        bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count, "application/octet-stream")
                }
            }
            guard let value = unsafe value else { throw KeyStoreError(.outOfMemory, "no memory for a share") }
            defer { unsafe keyring.call.secret_value_unref(value) }
            let isStored = try unsafe keyring.withAttributes(name) { attributes in
                try unsafe keyring.limited { cancellable, error in
                    unsafe keyring.call.secret_service_store_sync(
                        nil, keyring.schema, attributes, "default", "Holdfast", value, cancellable, &error)
                }
            }
            guard isStored != 0 else { throw KeyStoreError(.failure, "the keyring did not take the share") }
        }
        return KeyStoreItem(.secretService, data: Array(name.utf8))
    }

    package func redeem(
        _ item: KeyStoreItem, _ release: borrowing OwnerRelease
    ) throws(KeyStoreError) -> SecretBytes { try take(item) }

    package func roundTrip() throws(KeyStoreError) {
        try roundTrip { item, _ throws(KeyStoreError) in try take(item) }
    }

    private func take(_ item: KeyStoreItem) throws(KeyStoreError) -> SecretBytes {
        let name = try name(of: item)
        return try keyStoreErrors {
            let keyring = try open()
            let value = try unsafe keyring.withAttributes(name) { attributes in
                try unsafe keyring.limited { cancellable, error in
                    unsafe keyring.call.secret_service_lookup_sync(
                        nil, keyring.schema, attributes, cancellable, &error)
                }
            }
            // A keyring that was locked meanwhile says the same as one without the item.
            guard let value = unsafe value else {
                _ = try open()
                throw KeyStoreError(.notFound, "the keyring has no such share any more")
            }
            defer { unsafe keyring.call.secret_value_unref(value) }
            var count = 0
            guard let bytes = unsafe keyring.call.secret_value_get(value, &count), count == 32 else {
                throw KeyStoreError(.damaged, "the keyring's share is not what was stored")
            }
            return try unsafe SecretBytes(copying: RawSpan(_unsafeStart: bytes, byteCount: count))
        }
    }

    package func delete(_ item: KeyStoreItem) throws(KeyStoreError) {
        let name = try name(of: item)
        try keyStoreErrors {
            let keyring = try open()
            _ = try unsafe keyring.withAttributes(name) { attributes in
                try unsafe keyring.limited { cancellable, error in
                    unsafe keyring.call.secret_service_clear_sync(
                        nil, keyring.schema, attributes, cancellable, &error)
                }
            }
        }
    }

    package func probe() throws(KeyStoreError) { try keyStoreErrors { _ = try open() } }

    private func name(of item: KeyStoreItem) throws(KeyStoreError) -> String {
        guard item.kind == .secretService, let name = String(validating: item.data, as: UTF8.self) else {
            throw KeyStoreError(.damaged, "this is no item of a keyring")
        }
        try KeyStoreError.checkName(name)
        return name
    }

    /// Looks first: without a keyring a call would start one, and a locked one answers as if it were empty.
    private func open() throws -> Keyring {
        guard let keyring = Keyring.loaded else {
            throw KeyStoreError(.unavailable, "libsecret is not installed, and without it no keyring can be asked")
        }
        let service = try unsafe keyring.limited { cancellable, error in
            unsafe keyring.call.secret_service_get_sync(0, cancellable, &error)
        }
        guard let service = unsafe service else {
            throw KeyStoreError(.unavailable, "no keyring runs in this session (gnome-keyring)")
        }
        defer { unsafe keyring.call.g_object_unref(service) }
        let collection = try unsafe keyring.limited { cancellable, error in
            unsafe keyring.call.secret_collection_for_alias_sync(service, "default", 0, cancellable, &error)
        }
        guard let collection = unsafe collection else {
            throw KeyStoreError(.unavailable, "the session has a keyring program but no keyring")
        }
        defer { unsafe keyring.call.g_object_unref(collection) }
        guard unsafe keyring.call.secret_collection_get_locked(collection) == 0 else {
            throw KeyStoreError(.lockedOut, Keyring.lockedReason)
        }
        return keyring
    }
}
