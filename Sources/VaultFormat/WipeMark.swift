/// Why a vault is destroyed.
package enum WipeCause: UInt8, Sendable, Hashable, CaseIterable {
    /// Wrong passcodes reached the limit while self-destruct was on.
    case attempts = 1
    /// The user asked for it.
    case owner = 2

    /// The word in a receipt and in JSON.
    package var name: String {
        switch self {
        case .attempts: "attempts"
        case .owner: "owner"
        }
    }
}

/// What lies in the place of each header copy once a wipe has begun: it takes the slots' place, and tells every later
/// start that the wipe must be finished. As long as a copy, so that nothing of the copy is left.
///
/// Its tag is made with the home's wipe key, which lies in a file of its own: the header's own keys are gone by then,
/// and a wipe by the rules has never had them.
package struct WipeMark: Sendable, Hashable {
    package static let magic = Array("HFERASED".utf8)
    package static let version: UInt32 = 1
    package static let size = Header.copySize

    package let vault: VaultID
    package let cause: WipeCause
    /// Milliseconds since 1970; for display.
    package let begun: UInt64
    /// HMAC-SHA256 over ``authenticatedBytes``, 32 bytes.
    package var tag = [UInt8](repeating: 0, count: tagSize)

    package static let tagSize = 32

    package init(vault: VaultID, cause: WipeCause, begun: UInt64) {
        self.vault = vault
        self.cause = cause
        self.begun = begun
    }

    /// What the tag covers.
    package var authenticatedBytes: [UInt8] {
        var writer = ByteWriter()
        writer.append(WipeMark.magic)
        writer.integer(WipeMark.version)
        writer.append(vault.bytes)
        writer.integer(cause.rawValue)
        writer.integer(begun)
        return writer.bytes
    }

    package func encoded(checksum: (RawSpan) -> [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(authenticatedBytes)
        writer.append(tag)
        return writer.checked(to: WipeMark.size, checksum)
    }

    /// Reads one mark. One of a newer version is named as such: that program began the wipe and must end it.
    package init(parsing bytes: [UInt8], checksum: (RawSpan) -> [UInt8]) throws(FormatError) {
        guard bytes.count == WipeMark.size else { throw .wrongSize }
        guard bytes.starts(with: WipeMark.magic) else { throw .wrongMagic }
        var reader = try ByteReader(checking: bytes, from: WipeMark.magic.count, checksum)
        let version = try reader.integer(UInt32.self)
        guard version <= WipeMark.version else { throw .newerVersion(version) }
        guard version == WipeMark.version else { throw .invalid(field: "mark version") }
        vault = try reader.vaultID()
        guard let cause = WipeCause(rawValue: try reader.integer(UInt8.self)) else {
            throw .invalid(field: "mark cause")
        }
        self.cause = cause
        begun = try reader.integer(UInt64.self)
        guard begun < 1 << 53 else { throw .invalid(field: "mark time") }
        tag = try reader.bytes(WipeMark.tagSize)
        try reader.expectZeros("mark padding")
    }
}
