/// What a key store outside of the home remembers of a vault, and below which the home is not believed.
package protocol RememberedFloor: Sendable, Hashable {
    /// ``FloorSize/bytes`` bytes.
    var encoded: [UInt8] { get }
    /// - Throws: `wrongSize`; `invalid` for another version and for what is out of its range.
    init(parsing bytes: [UInt8]) throws(FormatError)
}

/// Every floor: version, vault, and one byte.
package enum FloorSize {
    package static let bytes = 18
    static let version: UInt8 = 1

    static func encode(_ vault: VaultID, _ last: UInt8) -> [UInt8] { [version] + vault.bytes + [last] }

    static func parse(_ bytes: [UInt8]) throws(FormatError) -> (vault: VaultID, last: UInt8) {
        guard bytes.count == FloorSize.bytes, let vault = VaultID(bytes: Array(bytes[1..<17])) else { throw .wrongSize }
        guard bytes[0] == version else { throw .invalid(field: "floor") }
        return (vault, bytes[17])
    }
}

/// What a vault is at least: a home of another vault, or of a lower level, in its place is noticed. No secret.
package struct LevelFloor: RememberedFloor {
    package let vault: VaultID
    package let level: VaultLevel

    package init(_ vault: VaultID, _ level: VaultLevel) {
        self.vault = vault
        self.level = level
    }

    package var encoded: [UInt8] { FloorSize.encode(vault, level.rawValue) }

    package init(parsing bytes: [UInt8]) throws(FormatError) {
        let (vault, last) = try FloorSize.parse(bytes)
        guard let level = VaultLevel(rawValue: last) else { throw .invalid(field: "floor") }
        self.init(vault, level)
    }
}

/// That a vault destroys itself, and after how many wrong passcodes at least: a header that says so by itself, or
/// earlier, is not believed. No secret.
package struct DestructionFloor: RememberedFloor {
    package let vault: VaultID
    package let limit: Int

    /// - Parameter limit: One of `VaultPolicy.attemptLimits`.
    package init(_ vault: VaultID, limit: Int) {
        self.vault = vault
        self.limit = limit
    }

    package var encoded: [UInt8] { FloorSize.encode(vault, UInt8(clamping: limit)) }

    package init(parsing bytes: [UInt8]) throws(FormatError) {
        let (vault, last) = try FloorSize.parse(bytes)
        guard VaultPolicy.attemptLimits.contains(Int(last)) else { throw .invalid(field: "floor") }
        self.init(vault, limit: Int(last))
    }
}
