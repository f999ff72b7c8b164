/// What a key store outside the home says a vault is at least: a home of another vault, or of a lower level, in its place is
/// noticed. No secret.
package struct LevelFloor: Sendable, Hashable {
    package static let size = 18
    static let version: UInt8 = 1

    package let vault: VaultID
    package let level: VaultLevel

    package init(_ vault: VaultID, _ level: VaultLevel) {
        self.vault = vault
        self.level = level
    }

    package var encoded: [UInt8] { [LevelFloor.version] + vault.bytes + [level.rawValue] }

    package init(parsing bytes: [UInt8]) throws(FormatError) {
        guard bytes.count == LevelFloor.size, let vault = VaultID(bytes: Array(bytes[1..<17])) else { throw .wrongSize }
        guard bytes[0] == LevelFloor.version, let level = VaultLevel(rawValue: bytes[17]) else {
            throw .invalid(field: "floor")
        }
        self.vault = vault
        self.level = level
    }
}
