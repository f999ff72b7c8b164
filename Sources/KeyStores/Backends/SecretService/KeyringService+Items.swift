internal import CSecret
internal import SecretMemory

/// Items by their name, in the keyrings that are unlocked.
extension KeyringService {
    /// Puts a value in the place of what has this name.
    /// - Parameter collection: A path on the bus, or an alias.
    func store(_ secret: borrowing SecretBytes, as name: String, in collection: String) throws {
        let value = unsafe secret.withBytes { bytes in
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
                    service, keyring.schema, attributes, collection, "Holdfast", value, cancellable, &error)
            }
        }
        guard isStored != 0 else { throw KeyStoreError(.failure, "the keyring did not take the share") }
    }

    /// Lends the value of this name; nil where no unlocked keyring has one.
    func lookUp<R: ~Copyable>(_ name: String, _ body: (RawSpan) throws -> R) throws -> R? {
        let value = try unsafe keyring.withAttributes(name) { attributes in
            try unsafe keyring.limited { cancellable, error in
                unsafe keyring.call.secret_service_lookup_sync(service, keyring.schema, attributes, cancellable, &error)
            }
        }
        guard let value = unsafe value else { return nil }
        defer { unsafe keyring.call.secret_value_unref(value) }
        var count = 0
        guard let bytes = unsafe keyring.call.secret_value_get(value, &count) else {
            throw KeyStoreError(.failure, "the keyring gave nothing")
        }
        return try unsafe body(RawSpan(_unsafeStart: bytes, byteCount: count))
    }

    /// Forgets what has this name in an unlocked keyring.
    func clear(_ name: String) throws {
        _ = try unsafe keyring.withAttributes(name) { attributes in
            try unsafe keyring.limited { cancellable, error in
                unsafe keyring.call.secret_service_clear_sync(service, keyring.schema, attributes, cancellable, &error)
            }
        }
    }

    /// Whether any keyring is locked: what it holds is not known, whatever a search says.
    var hasLocked: Bool { collections.contains(where: \.isLocked) }
}
