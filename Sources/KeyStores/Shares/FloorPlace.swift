internal import Cryptography
internal import VaultFormat

/// The word by which a program tells its vaults apart where floors are kept.
package struct FloorProfile: Sendable, Hashable {
    /// 1 to 64 bytes.
    package let name: String

    package static let standard = FloorProfile(checked: "default")

    /// - Returns: Nil for a word that is empty or longer than 64 bytes.
    package init?(_ name: String) {
        guard (1...64).contains(name.utf8.count) else { return nil }
        self.init(checked: name)
    }

    private init(checked name: String) { self.name = name }
}

/// By what a floor is found in a store: never a path, and nothing of it is secret.
package struct FloorPlace: Sendable, Hashable {
    /// What is remembered there.
    package enum Kind: String, Sendable, Hashable {
        /// A profile's vault, and its level.
        case level = "floor"
        /// That a home's vault destroys itself, and after how many wrong passcodes.
        case destruction = "destruction"

        var tag: String { "holdfast/1/" + rawValue }
    }

    package let kind: Kind
    /// 32 bytes: SHA-256 of the kind's tag and what it is for.
    package let digest: [UInt8]

    init(_ kind: Kind, of what: [UInt8]) {
        self.kind = kind
        digest = unsafe SHA256.hash((Array(kind.tag.utf8) + what).span.bytes).bytes
    }

    /// What stores call it that take texts.
    var text: String { kind.rawValue + "." + hexadecimal }

    var hexadecimal: String { Hexadecimal.encode(digest) }
}

extension FloorProfile {
    /// Where the floor of a profile's vault is kept.
    package var place: FloorPlace { FloorPlace(.level, of: Array(name.utf8)) }
}

extension HardwareOwner {
    /// Where it is kept that the vault of this home destroys itself.
    package var destructionPlace: FloorPlace { FloorPlace(.destruction, of: vault.bytes + home) }
}
