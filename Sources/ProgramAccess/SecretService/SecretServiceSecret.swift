internal import Items
package import SecretMemory
internal import Synchronization
package import VaultStorage
internal import VaultCore
internal import VaultFormat

/// A secret on its way to or from a program.
package final class SecretServiceSecret: Sendable {
    package let value: SecretBytes
    package let contentType: String
    /// Nil for a small one.
    private let room: SecretServiceRoom?

    /// - Throws: `tooLarge`, also while other large ones are on their way; `outOfMemory`.
    package convenience init(copying value: RawSpan, contentType: String) throws(VaultError) {
        try self.init(size: value.byteCount, contentType: contentType) { () throws(VaultError) in
            do throws(SecretMemoryError) { return try SecretBytes(copying: value, lifetime: .longLived) } catch {
                throw VaultError(error)
            }
        }
    }

    /// - Parameters:
    ///   - size: Bytes of it, at least.
    ///   - make: Makes it, once there is room for that.
    /// - Throws: As ``init(copying:contentType:)``, and what `make` throws.
    package init(
        size: Int, contentType: String, _ make: () throws(VaultError) -> SecretBytes
    ) throws(VaultError) {
        guard size <= SecretServiceStore.longest + SecretServiceCipher.padding else { throw .tooLargeSecret }
        room = size > SecretServiceRoom.small ? try SecretServiceRoom(size) : nil
        let value = try make()
        guard value.count <= SecretServiceStore.longest else { throw .tooLargeSecret }
        self.value = value
        self.contentType = contentType
    }
}

/// Room in locked memory, which a user often has 8 MiB of: large secrets share half of that.
private final class SecretServiceRoom: Sendable {
    static let small = 65_536
    private static let most = SecretServiceStore.longest + small
    private static let taken = Atomic<Int>(0)
    private let size: Int

    init(_ size: Int) throws(VaultError) {
        self.size = size
        guard SecretServiceRoom.taken.add(size, ordering: .relaxed).newValue <= SecretServiceRoom.most else {
            // What has been counted is counted off by this object's end.
            throw VaultError(.tooLarge, "large secrets are given and stored one after the other; try again")
        }
    }

    deinit { SecretServiceRoom.taken.subtract(size, ordering: .relaxed) }
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
