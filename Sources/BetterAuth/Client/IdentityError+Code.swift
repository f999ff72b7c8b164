extension IdentityError {
    /// The kind of failure, for programs. An open set: later versions may add codes.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// A stable word, also used in JSON output.
        public let description: String

        package init(_ kind: Kind) { description = kind.rawValue }

        /// A code as another process of Holdfast sent it.
        package init(word: String) { description = word }

        /// The code as one of a closed set, for a table that the compiler checks; nil for a word that this version does
        /// not know.
        package var kind: Kind? { Kind(rawValue: description) }
    }
}

extension IdentityError.Code {
    /// Every code of this version. A user interface has one table over them: a code without advice does not compile.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case noAccount = "noAccount", accountExists = "accountExists", noSession = "noSession", refused = "refused"
        case unreachable = "unreachable", notTheServer = "notTheServer", invalidReply = "invalidReply"
        case unknownServerKey = "unknownServerKey"
        case undecided = "undecided", chainUnknown = "chainUnknown", keyUnavailable = "keyUnavailable"
        case keysLost = "keysLost", locked = "locked", storage = "storage", damaged = "damaged"
        case newerVersion = "newerVersion", tooLarge = "tooLarge"
        case invalidContainer = "invalidContainer", wrongPhrase = "wrongPhrase", invalidAddress = "invalidAddress"
        case invalidData = "invalidData", cryptography = "cryptography", outOfMemory = "outOfMemory"
        case unexpected = "unexpected"
        case proofExpired = "proofExpired", otherServer = "otherServer"
    }

    /// This device has no account. Create, recover or link one.
    package static let noAccount = IdentityError.Code(.noAccount)
    /// This device has an account already, or one that the server has not confirmed yet; nothing was changed.
    package static let accountExists = IdentityError.Code(.accountExists)
    /// There is no session, or it is over. Open one.
    package static let noSession = IdentityError.Code(.noSession)
    /// The server refused; ``IdentityError/failure`` has its code. Its refusals are not signed, so nothing was erased
    /// because of one.
    public static let refused = IdentityError.Code(.refused)
    /// The server could not be reached, or did not answer in time. Try again later.
    package static let unreachable = IdentityError.Code(.unreachable)
    /// Something other than the server refused: a proxy, a firewall's page, another site at this address. The reason
    /// names the address and what answered. Nothing was erased because of it.
    package static let notTheServer = IdentityError.Code(.notTheServer)
    /// The answer is not the server's: malformed, signed with an unknown key, or for another request.
    package static let invalidReply = IdentityError.Code(.invalidReply)
    /// The answer was signed with a key that is not known to be the server's. Do not accept another key unless the
    /// server's operator publishes it.
    package static let unknownServerKey = IdentityError.Code(.unknownServerKey)
    /// Whether the server did it is not known yet. The next operation finds out first; nothing is lost.
    public static let undecided = IdentityError.Code(.undecided)
    /// The server accepts neither of this device's keys. All keys are kept; recover the identity, or erase it if the
    /// user meant to leave.
    public static let chainUnknown = IdentityError.Code(.chainUnknown)
    /// A key is in a chip that cannot be used now. Try again where the chip answers.
    package static let keyUnavailable = IdentityError.Code(.keyUnavailable)
    /// Nothing authorises this device's keys any more. Recover the identity with its recovery phrase.
    package static let keysLost = IdentityError.Code(.keysLost)
    /// The store of the credentials is locked. Unlock the vault and try again.
    public static let locked = IdentityError.Code(.locked)
    /// The store of the credentials failed; the reason has its words.
    package static let storage = IdentityError.Code(.storage)
    /// The stored credentials are not what was written. Restore a backup, or recover the identity.
    package static let damaged = IdentityError.Code(.damaged)
    /// The credentials were stored by a newer version. Use that version.
    package static let newerVersion = IdentityError.Code(.newerVersion)
    /// The credentials or a request are larger than allowed.
    package static let tooLarge = IdentityError.Code(.tooLarge)
    /// The link container cannot be read, belongs to another identity, or is this device's own.
    package static let invalidContainer = IdentityError.Code(.invalidContainer)
    /// The recovery phrase cannot be read, or is not this identity's.
    package static let wrongPhrase = IdentityError.Code(.wrongPhrase)
    /// The address of the server cannot be read, or is not safe.
    package static let invalidAddress = IdentityError.Code(.invalidAddress)
    /// The application's data cannot be sent.
    package static let invalidData = IdentityError.Code(.invalidData)
    /// A cryptographic library failed.
    package static let cryptography = IdentityError.Code(.cryptography)
    /// Not enough memory, locked or ordinary.
    package static let outOfMemory = IdentityError.Code(.outOfMemory)
    /// Something failed that has no code; the reason names what kind of error it was. Report it.
    package static let unexpected = IdentityError.Code(.unexpected)
}
