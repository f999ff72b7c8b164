internal import Items
internal import ProgramProtocols
package import SecretMemory
internal import Synchronization
package import VaultStorage
internal import VaultCore
internal import VaultFormat

/// A secret on its way to or from a program.
package final class SecretServiceSecret: Sendable {
    package let value: SecretBytes
    package let contentType: String

    /// - Throws: `tooLarge`, `outOfMemory`.
    package convenience init(copying value: RawSpan, contentType: String) throws(VaultError) {
        try self.init(size: value.byteCount, contentType: contentType) { () throws(VaultError) in
            do throws(SecretMemoryError) { return try SecretBytes(copying: value, lifetime: .longLived) } catch {
                throw VaultError(error)
            }
        }
    }

    /// - Parameters:
    ///   - size: Bytes of it, at least.
    ///   - make: Makes it, if that is not too many.
    /// - Throws: As ``init(copying:contentType:)``, and what `make` throws.
    package init(
        size: Int, contentType: String, _ make: () throws(VaultError) -> SecretBytes
    ) throws(VaultError) {
        guard size <= SecretServiceStore.longest + SecretServiceCipher.padding else { throw .tooLargeSecret }
        let value = try make()
        guard value.count <= SecretServiceStore.longest else { throw .tooLargeSecret }
        self.value = value
        self.contentType = contentType
    }
}

/// What one call may take of locked memory, of which there is little.
package final class SecretServiceRoom: Sendable {
    private let bytes: Int
    private let taken = Atomic<Int>(0)
    private let lacking = Atomic<Int>(0)

    /// - Parameter bytes: So many, or what is small.
    package init(_ bytes: Int) { self.bytes = max(bytes, SecretServiceCalls.small) }

    /// Counts a secret before it is made.
    /// - Throws: `tooLarge`; then what is done is to be begun again with ``missing``.
    package func take(_ size: Int) throws(VaultError) {
        let before = taken.add(size, ordering: .relaxed).oldValue
        guard before + size > bytes else { return }
        // Of several nobody knows what comes behind this one.
        lacking.store(before == 0 ? size : SecretServiceStore.longest, ordering: .relaxed)
        throw VaultError(.tooLarge, "there is no room for this secret")
    }

    /// Bytes that would have been needed; nil where these were enough.
    package var missing: Int? {
        let lacking = lacking.load(ordering: .relaxed)
        return lacking > bytes ? lacking : nil
    }
}

/// Secrets that are larger than an item can be.
extension SecretServiceStore {
    /// A transaction that stores a secret as a value of its own, and what leads to it; or, where there is none, only
    /// what it does else. Whoever is ended before it is done leaves nothing that anybody finds.
    /// - Throws: What writing and the body throw.
    func write(
        _ secret: RawSpan, as large: LargeSecret?, _ body: (inout WriteSession) throws(VaultError) -> Void
    ) throws(VaultError) {
        guard let large else { return try items.write(body) }
        let file = try items.vault.prepareFile(secret)
        do throws(VaultError) {
            try items.write { session throws(VaultError) in
                try session.put(file, for: large.name, in: LargeSecret.folder)
                try body(&session)
            }
        } catch {
            // After a disk error the record may exist.
            if error.code != .inputOutput { items.vault.discard([file]) }
            throw error
        }
    }

    /// - Throws: `damaged` where another one is there by now; what reading throws.
    func read(_ large: LargeSecret, _ contentType: String) throws(VaultError) -> SecretServiceSecret {
        let size = large.size
        try room?.take(size)
        return try SecretServiceSecret(size: size, contentType: contentType) { () throws(VaultError) in
            do {
                var value = try SecretBytes(zeroed: size, lifetime: .longLived)
                let reader = try items.vault.reader(for: large.name, in: LargeSecret.folder)
                var (filled, isWhole) = (0, false)
                while !isWhole {
                    isWhole = try reader.next { piece, isLast in
                        guard filled + piece.byteCount <= size else { throw VaultError.anotherSecret }
                        value.withMutableBytes { $0.store(piece, at: filled) }
                        filled += piece.byteCount
                        return isLast
                    }
                }
                guard filled == size else { throw VaultError.anotherSecret }
                return value
            } catch { throw VaultError(any: error) }
        }
    }
}

extension VaultError {
    package static let tooLargeSecret = VaultError(
        .tooLarge, "a secret has at most \(SecretServiceStore.longest) bytes")
}
