internal import FaceMessages
internal import Faces

/// What a thread found for a call.
enum SecretServiceAnswer: Sendable {
    /// Done, and nobody need be asked.
    case done
    case created(String)
    case items([SecretServiceStore.Entry])
    /// What stands for items while the vault is locked.
    case locked([String])
    case secrets([(path: String, secret: SecretServiceSecret)])
    case properties([(name: String, value: Property)])

    /// The value of a property.
    enum Property: Sendable {
        case paths([String])
        case text(String)
        case flag(Bool)
        case number(UInt64)
        case attributes(SecretServiceAttributes)
    }
}
