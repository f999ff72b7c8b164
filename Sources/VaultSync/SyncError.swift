package import Cryptography
package import SecretMemory
package import SystemCalls
package import VaultFormat
package import VaultStorage

/// Why a step of a sync failed. Names the place, never the contents.
package enum SyncError: Error, Sendable, Hashable {
    /// Bytes that no writer of this version writes.
    case format(FormatError)
    /// A signature, a tag, or a key that was committed to does not fit.
    case notAuthentic(StaticField)
    /// A roster has no box for this member: it was removed.
    case notForThisMember
    /// What the cryptography's library says.
    case cryptography(CryptographyError)
    /// There is no locked memory for it.
    case memory(SecretMemoryError)
    /// What the system says about the road.
    case road(SystemError)
    /// What is wrong with a sync folder.
    case folder(RoadError)
    /// What the vault says.
    case vault(VaultError)
}
