internal import DeviceOwner
internal import KeyStores
internal import SecretMemory
internal import VaultFormat
internal import VaultStorage

/// What an owner slot of the header carries beside the wrapped key: where the first share rests, the second share
/// itself, and what was enrolled. Anyone who reads the header has the second share: the slot is a yes or no in front of
/// a stored key and proves presence only.
///
/// Version 1, the key store (1), the second share (32), then the enrollment's lines and the key store's item, each behind
/// its 16-bit length, little endian.
struct KeptOwner {
    static let version: UInt8 = 1
    static let secretSize = 32

    let item: KeyStoreItem
    let enrollment: OwnerEnrollment?

    /// What the key store has the first share as: no other vault's, and no other home's of this vault.
    static func name(_ owner: HardwareOwner) -> String {
        "\(owner.vault).\(Hexadecimal.encode(Array(owner.home.prefix(8)))).kept"
    }

    static func encode(_ item: KeyStoreItem, _ secret: borrowing SecretBytes, _ enrollment: OwnerEnrollment?) -> [UInt8]
    {
        // On the disk it is no secret any more; what is in an array here lies in the header a moment later.
        let share = secret.withBytes { $0.copied(0..<secretSize) }
        func counted(_ part: [UInt8]) -> [UInt8] { [UInt8(part.count & 0xff), UInt8(part.count >> 8 & 0xff)] + part }
        return [version, item.kind.rawValue] + share + counted(enrollment?.bytes ?? []) + counted(item.data)
    }

    /// Nil for a slot that is not as ``encode(_:_:_:)`` makes them.
    init?(_ slot: Slot) {
        let bytes = slot.kindData
        guard slot.kind == .deviceOwner, slot.flags == .hardwareShare, bytes.count > 2 + KeptOwner.secretSize,
            bytes[0] == KeptOwner.version, let kind = KeyStoreKind(rawValue: bytes[1])
        else { return nil }
        var place = 2 + KeptOwner.secretSize
        var parts: [[UInt8]] = []
        for _ in 0..<2 {
            guard place + 2 <= bytes.count else { return nil }
            let size = Int(bytes[place]) | Int(bytes[place + 1]) << 8
            guard place + 2 + size <= bytes.count else { return nil }
            parts.append(Array(bytes[place + 2..<place + 2 + size]))
            place += 2 + size
        }
        guard place == bytes.count, let text = String(validating: parts[0], as: UTF8.self) else { return nil }
        enrollment = text.isEmpty ? nil : OwnerEnrollment(text.split(separator: "\n").map(String.init))
        item = KeyStoreItem(kind, data: parts[1])
    }

    static func secret(of slot: Slot) throws(VaultError) -> SecretBytes {
        let bytes = Array(slot.kindData[2..<2 + secretSize])
        return try secretMemory { () throws(SecretMemoryError) in
            try unsafe SecretBytes(copying: bytes.span.bytes, lifetime: .longLived)
        }
    }
}
