/// What a slot of kind 5, `device`, carries: where the share rests that opens it. Nobody is asked.
package struct DeviceSlotData: Sendable, Hashable {
    static let version: UInt8 = 1

    package let item: ShareItem

    package init(_ item: ShareItem) { self.item = item }

    package var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.integer(DeviceSlotData.version)
        writer.integer(item.store.rawValue)
        writer.counted(item.encoded)
        return writer.bytes
    }

    package init(parsing bytes: [UInt8]) throws(FormatError) {
        var reader = ByteReader(bytes)
        guard try reader.integer(UInt8.self) == DeviceSlotData.version else { throw .invalid(field: "device slot") }
        item = try reader.shareItem("device slot")
        try reader.expectEnd()
    }
}

/// What a kept slot of kind 3, `deviceOwner`, carries: where the first share rests, the second share itself, and what
/// was enrolled. Anyone who reads the header has the second share: the slot is a yes or no in front of a stored key.
package struct OwnerSlotData: Sendable, Hashable {
    static let version: UInt8 = 1
    package static let secretSize = 32
    static let maximumEnrollment = 512

    package let item: ShareItem
    /// The second share, 32 bytes: no secret, since it lies in the header.
    package let secret: [UInt8]
    /// Lines; empty where no finger counts.
    package let enrollment: String

    /// Nil unless the second share has 32 bytes and the lines fit.
    package init?(_ item: ShareItem, secret: [UInt8], enrollment: String) {
        guard secret.count == OwnerSlotData.secretSize, enrollment.utf8.count <= OwnerSlotData.maximumEnrollment else {
            return nil
        }
        self.item = item
        self.secret = secret
        self.enrollment = enrollment
    }

    package var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.integer(OwnerSlotData.version)
        writer.integer(item.store.rawValue)
        writer.append(secret)
        writer.counted(Array(enrollment.utf8))
        writer.counted(item.encoded)
        return writer.bytes
    }

    package init(parsing bytes: [UInt8]) throws(FormatError) {
        var reader = ByteReader(bytes)
        guard try reader.integer(UInt8.self) == OwnerSlotData.version else { throw .invalid(field: "owner slot") }
        guard let store = KeyStoreKind(rawValue: try reader.integer(UInt8.self)) else {
            throw .invalid(field: "owner slot")
        }
        secret = try reader.bytes(OwnerSlotData.secretSize)
        let lines = try reader.counted(limit: OwnerSlotData.maximumEnrollment, "owner slot")
        guard let text = String(validating: lines, as: UTF8.self) else { throw .invalid(field: "owner slot") }
        enrollment = text
        item = try ShareItem(store, parsing: reader.counted(limit: Slot.maximumExtension, "owner slot"))
        try reader.expectEnd()
    }
}

extension ByteReader {
    /// A key store's number, and an item of it behind its length.
    mutating func shareItem(_ field: StaticField) throws(FormatError) -> ShareItem {
        guard let store = KeyStoreKind(rawValue: try integer(UInt8.self)) else { throw .invalid(field: field) }
        return try ShareItem(store, parsing: counted(limit: Slot.maximumExtension, field))
    }
}

extension Slot {
    /// Where the revocable share of this slot rests; nil for slots without one.
    package var shareItem: ShareItem? {
        switch kind {
        case .device: try? DeviceSlotData(parsing: kindData).item
        case .deviceOwner: try? OwnerSlotData(parsing: kindData).item
        case .secret, .unknown: nil
        }
    }

    /// The form of slots whose share a key store keeps.
    func checkStoredShape() throws(FormatError) {
        switch kind {
        case .device:
            guard derivation == nil, flags == .hardwareShare, let store else { throw .invalid(field: "device slot") }
            guard try DeviceSlotData(parsing: kindData).item.store == store else {
                throw .invalid(field: "device slot")
            }
        case .deviceOwner:
            guard derivation == nil, flags == .hardwareShare, let store else { throw .invalid(field: "owner slot") }
            guard try OwnerSlotData(parsing: kindData).item.store == store else { throw .invalid(field: "owner slot") }
        case .secret, .unknown: break
        }
    }
}
