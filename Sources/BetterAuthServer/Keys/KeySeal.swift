package import SecretMemory

/// Binds the keys of a server to the machine that it runs on.
package protocol KeySeal: Sendable {
    /// Seals a key of 32 bytes.
    /// - Returns: What opens it again on this machine, at most 2,048 bytes that are no secret.
    func seal(_ key: borrowing SecretBytes) throws -> [UInt8]

    /// Gives the key back.
    func unseal(_ object: [UInt8]) throws -> SecretBytes
}

/// What a file of server keys may be.
package enum KeyProtection: Sendable {
    /// Readable by its owner, and by anyone with a copy of the disk.
    case file
    /// Sealed; a file that is not is refused.
    case sealed(any KeySeal)
    /// Sealed when it is written next; one that is not yet is read.
    case toBeSealed(any KeySeal)

    var seal: (any KeySeal)? {
        switch self {
        case .file: nil
        case .sealed(let seal), .toBeSealed(let seal): seal
        }
    }
}
