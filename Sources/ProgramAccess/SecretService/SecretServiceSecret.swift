internal import Cryptography
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

/// Where a secret is that is larger than an item can be: its name begins with the item's id, so no item leads to
/// another's.
struct LargeSecret: Hashable {
    let id: ItemID
    let size: Int
    /// Random: each is written beside the earlier one.
    private let part: String

    var name: String { "\(id)-\(part)" }
    /// As the item's field has it.
    var text: String { "\(size) bytes in \(SecretServiceStore.folder)/\(name)" }

    init(of id: ItemID, size: Int) throws(VaultError) {
        (self.id, self.size) = (id, size)
        do throws(CryptographyError) {
            guard let random = try ItemID(SecureRandom.bytes(ItemID.size)) else { throw .invalidSize }
            part = "\(random)"
        } catch { throw VaultError(any: error) }
    }

    /// - Returns: Nil for anything but what ``text`` is for this item.
    init?(parsing bytes: [UInt8], of id: ItemID) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let size = text.split(separator: " ").first.flatMap({ Int($0) }),
            (0...SecretServiceStore.longest).contains(size),
            let part = text.split(separator: "-").last, part.utf8.count == 2 * ItemID.size
        else { return nil }
        (self.id, self.size, self.part) = (id, size, String(part))
        guard self.text.utf8.elementsEqual(bytes) else { return nil }
    }
}

/// Secrets that are larger than an item can be.
extension SecretServiceStore {
    private static let piece = 65_536

    /// Stores one, beside the item's earlier one.
    func keep(_ secret: RawSpan, of id: ItemID) throws(VaultError) -> LargeSecret {
        guard secret.byteCount <= SecretServiceStore.longest else { throw .tooLargeSecret }
        let large = try LargeSecret(of: id, size: secret.byteCount)
        let writer = try items.vault.writer(for: large.name, in: SecretServiceStore.folder, replacing: false)
        for start in stride(from: 0, to: secret.byteCount, by: SecretServiceStore.piece) {
            try writer.append(secret.extracting(start..<min(start + SecretServiceStore.piece, secret.byteCount)))
        }
        _ = try writer.finish()
        return large
    }

    /// - Throws: `damaged` where another one is there by now; what reading throws.
    func read(_ large: LargeSecret, _ contentType: String) throws(VaultError) -> SecretServiceSecret {
        let size = large.size
        return try SecretServiceSecret(size: size, contentType: contentType) { () throws(VaultError) in
            do {
                var value = try SecretBytes(zeroed: size, lifetime: .longLived)
                let reader = try items.vault.reader(for: large.name, in: SecretServiceStore.folder)
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

    /// Removes one for good.
    func forget(_ large: LargeSecret) throws(VaultError) { try forget(large.name) }

    /// Removes all that were an item's, for good: also what was left by who was ended in a change.
    func forget(allOf id: ItemID) throws(VaultError) {
        let beginning = "\(id)-".utf8
        for record in try items.vault.records(in: SecretServiceStore.folder)
        where record.name.utf8.starts(with: beginning) {
            try forget(record.name)
        }
    }

    private func forget(_ name: String) throws(VaultError) {
        do throws(VaultError) { try items.vault.delete(name, in: SecretServiceStore.folder) } catch {
            guard error.code == .recordNotFound else { throw error }
        }
    }
}

extension VaultError {
    package static let tooLargeSecret = VaultError(
        .tooLarge, "a secret has at most \(SecretServiceStore.longest) bytes")
    static let anotherSecret = VaultError(
        .damaged, "a large secret is not where its entry says; it may be a copy, or have been changed meanwhile")
}
