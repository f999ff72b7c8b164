/// What can go wrong while memory for a secret is prepared.
public enum SecretMemoryError: Error, Sendable, Hashable {
    /// The system lends no more memory that is kept out of swap (`RLIMIT_MEMLOCK`; usually 8 MiB for a user).
    case lockedMemoryExhausted(bytes: Int)
    /// A negative or absurd size was asked for.
    case invalidSize(Int)
    /// Argon2id could not get its working memory.
    case derivationOutOfMemory
    /// libsodium could not start; nothing secret may be touched.
    case libraryUnavailable
}

extension SecretMemoryError: CustomStringConvertible {
    /// What is wrong and what to do.
    public var description: String {
        switch self {
        case .lockedMemoryExhausted(let bytes):
            "no memory that is kept out of swap is left for \(bytes) bytes"
        case .invalidSize(let bytes): "\(bytes) bytes is not a possible size for a secret"
        case .derivationOutOfMemory: "not enough memory to derive a key with these Argon2id parameters"
        case .libraryUnavailable: "libsodium could not be started"
        }
    }
}
