internal import BetterAuth
internal import Holdfast

/// The codes of the command alone.
extension CommandError.Code {
    static let ambiguous = Self(word: "ambiguous")
    static let clipboard = Self(word: "clipboard")
    static let controlCharacter = Self(word: "controlCharacter")
    static let drillFailed = Self(word: "drillFailed")
    static let earlierValueNotFound = Self(word: "earlierValueNotFound")
    static let editor = Self(word: "editor")
    static let empty = Self(word: "empty")
    static let failure = Self(word: "failure")
    static let fieldNotFound = Self(word: "fieldNotFound")
    static let input = Self(word: "input")
    static let interrupted = Self(word: "interrupted")
    static let invalidEdit = Self(word: "invalidEdit")
    static let invalidOneTimeCode = Self(word: "invalidOneTimeCode")
    static let invalidValue = Self(word: "invalidValue")
    static let isFolder = Self(word: "isFolder")
    static let keyring = Self(word: "keyring")
    static let noClipboard = Self(word: "noClipboard")
    static let noFile = Self(word: "noFile")
    static let noOneTimeCode = Self(word: "noOneTimeCode")
    static let noPhrase = Self(word: "noPhrase")
    static let noQRCode = Self(word: "noQRCode")
    static let notAPicture = Self(word: "notAPicture")
    static let notInvited = Self(word: "notInvited")
    static let notSynced = Self(word: "notSynced")
    static let notEnrolled = Self(word: "notEnrolled")
    static let notStarted = Self(word: "notStarted")
    static let output = Self(word: "output")
    static let phraseNotDelivered = Self(word: "phraseNotDelivered")
    static let program = Self(word: "program")
    static let readerGone = Self(word: "readerGone")
    static let samePasscode = Self(word: "samePasscode")
    static let system = Self(word: "system")
    static let tooLong = Self(word: "tooLong")
    static let usage = Self(word: "usage")
    static let weakPasscode = Self(word: "weakPasscode")

    /// A code of the identity.
    static func identity(_ code: IdentityError.Code) -> Self { Self(word: code.description) }

    /// The code as one of the identity's; without a kind where it is none of them.
    var identity: IdentityError.Code { IdentityError.Code(word: description) }
}
