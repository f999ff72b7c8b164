package import Cryptography
package import SecretMemory
package import SyncFormat
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
    /// An invitation is good for nothing any more.
    case invitationEnded(InvitationProgress.End)
    /// Two devices have removed each other, and this one has to choose first.
    case undecided
    /// A group has no room for another device.
    case tooManyMembers
    /// More invitations lie in the folder than a code is tried on.
    case tooManyInvitations
    /// What is wrong with a sync folder.
    case folder(RoadError)
    /// What the vault says.
    case vault(VaultError)
}

extension SyncError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .format(let error): "it is not in a form that this version writes (\(error))"
        case .notAuthentic(let field): "it is not authentic (\(field))"
        case .notForThisMember: "this device is not in the group any more"
        case .cryptography(let error): VaultError(error).reason
        case .memory(let error): error.description
        case .road(let error): "\(error)"
        case .invitationEnded(let end): end.words
        case .undecided: "two devices have removed each other; remove one of them on this device first"
        case .tooManyMembers: "the group has \(SyncLimits.members) devices, which is the most; remove one first"
        case .tooManyInvitations:
            "more than \(SyncLimits.invitations) other invitations lie in the folder; remove what is in its folder join"
        case .folder(let error): error.description
        case .vault(let error): error.reason
        }
    }
}

extension InvitationProgress.End {
    fileprivate var words: String {
        switch self {
        case .late: "ten minutes are over; invite again"
        case .secondCard: "two devices have answered the invitation: somebody else knows the words; invite again"
        case .refused: "no device was added"
        }
    }
}
