/// What has to happen before a key store can be asked for a share (`shareUnavailable`). Nothing was lost.
public enum ShareWait: Sendable, Hashable {
    /// The device or the keyring is unlocked. On an Apple device this is also what a launch before the first unlock waits for.
    case unlocked
    /// The keyring that has the share is there again: `kept` has it, and `found` is there now.
    case otherKeyring(kept: String, found: String)
    /// The key store is free: it is busy, or another program uses it.
    case free
    /// The chip or the service is there, and this user may use it.
    case present
    /// The chip has room for another share.
    case room
    /// The chip's owner permits it: somebody has set an authorisation for making and removing shares.
    case permitted
    /// The device has a passcode.
    case devicePasscode

    /// For programs.
    package var word: String {
        switch self {
        case .unlocked: "unlocked"
        case .otherKeyring: "otherKeyring"
        case .free: "free"
        case .present: "present"
        case .room: "room"
        case .permitted: "permitted"
        case .devicePasscode: "devicePasscode"
        }
    }
}
