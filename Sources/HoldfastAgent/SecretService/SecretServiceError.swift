internal import VaultStorage

/// Errors as the bus names them (Secret Service API 0.2, chapter 6; D-Bus specification).
enum SecretServiceError {
    static let isLocked = "org.freedesktop.Secret.Error.IsLocked"
    static let noSession = "org.freedesktop.Secret.Error.NoSession"
    static let noSuchObject = "org.freedesktop.Secret.Error.NoSuchObject"
    static let accessDenied = "org.freedesktop.DBus.Error.AccessDenied"
    static let invalidArguments = "org.freedesktop.DBus.Error.InvalidArgs"
    static let limits = "org.freedesktop.DBus.Error.LimitsExceeded"
    static let notSupported = "org.freedesktop.DBus.Error.NotSupported"
    static let unknownMethod = "org.freedesktop.DBus.Error.UnknownMethod"
    static let unknownObject = "org.freedesktop.DBus.Error.UnknownObject"
    static let readOnly = "org.freedesktop.DBus.Error.PropertyReadOnly"
    static let unknownProperty = "org.freedesktop.DBus.Error.UnknownProperty"
    static let failed = "org.freedesktop.DBus.Error.Failed"

    static func name(of error: VaultError) -> String {
        switch error.code {
        case .locked: isLocked
        case .recordNotFound, .invalidName: noSuchObject
        case .notAllowed: accessDenied
        case .tooLarge: limits
        default: failed
        }
    }
}
