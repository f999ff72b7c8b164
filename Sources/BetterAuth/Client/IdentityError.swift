public import BetterAuthMessages
internal import Cryptography
internal import SecretMemory

/// What the client of an identity refuses or could not do. One struct with an open set of codes.
public struct IdentityError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure, for programs.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// A stable word, also used in JSON output.
        public let description: String
        package init(_ description: String) { self.description = description }

        /// This device has no account.
        public static let noAccount = Code("noAccount")
        /// This device has an account already; nothing was changed.
        public static let accountExists = Code("accountExists")
        /// There is no session, or it is over: open one.
        public static let noSession = Code("noSession")
        /// The server said no. Its refusals are not signed, so nothing was erased because of one.
        public static let refused = Code("refused")
        /// The server could not be reached, or did not answer in time.
        public static let unreachable = Code("unreachable")
        /// Something other than the server refused: a proxy, a firewall's page, another site at this address. The reason
        /// names the address and what answered. Nothing was erased because of it.
        public static let notTheServer = Code("notTheServer")
        /// The answer is not the server's: malformed, signed by nobody we know, or for another request.
        public static let invalidReply = Code("invalidReply")
        /// The answer was signed with a key that is not the server's as far as we know.
        public static let unknownServerKey = Code("unknownServerKey")
        /// Whether the server did it is not known yet. The next operation finds out first; nothing is lost.
        public static let undecided = Code("undecided")
        /// The server accepts neither of the keys that this device holds. All are kept.
        public static let chainUnknown = Code("chainUnknown")
        /// A key is in a chip that cannot be used now.
        public static let keyUnavailable = Code("keyUnavailable")
        /// The store of the credentials is locked.
        public static let locked = Code("locked")
        /// The store of the credentials failed.
        public static let storage = Code("storage")
        /// The stored credentials are not what was written.
        public static let damaged = Code("damaged")
        /// The credentials were stored by a newer program.
        public static let newerVersion = Code("newerVersion")
        /// The credentials or a request are larger than they may be.
        public static let tooLarge = Code("tooLarge")
        /// The link container is not one, belongs to another identity, or is this device's own.
        public static let invalidContainer = Code("invalidContainer")
        /// The recovery phrase is not one, or not this identity's.
        public static let wrongPhrase = Code("wrongPhrase")
        /// The address of the server is not one, or is not safe.
        public static let invalidAddress = Code("invalidAddress")
        /// The application's data cannot be sent.
        public static let invalidData = Code("invalidData")
        /// A cryptographic library failed.
        public static let cryptography = Code("cryptography")
    }

    /// The kind of failure.
    public let code: Code
    /// What happened and what to do, in words. Never a key, a token or a phrase.
    public let reason: String
    /// What the server said where it refused; not signed by anybody.
    public var failure: ServerFailure?

    package init(_ code: Code, _ reason: String, failure: ServerFailure? = nil) {
        self.code = code
        self.reason = reason
        self.failure = failure
    }

    /// The reason.
    public var description: String { reason }

    static func damaged(_ reason: String) -> IdentityError { IdentityError(.damaged, reason) }

    static let noAccount = IdentityError(.noAccount, "this device has no identity; create, recover or link one")
    static let noSession = IdentityError(.noSession, "there is no session; open one")
    static let undecided = IdentityError(
        .undecided, "the server did not answer; whether it was done shows when it can be reached again")
    static let chainUnknown = IdentityError(
        .chainUnknown,
        "the server accepts none of this device's keys: it was unlinked, or the account was recovered or deleted; "
            + "the keys are kept")

    static func refused(_ failure: ServerFailure) -> IdentityError {
        let words = [failure.codeText, failure.message].compactMap(\.self).joined(separator: ": ")
        return IdentityError(
            .refused, words.isEmpty ? "the server refused" : "the server refused (\(words))", failure: failure)
    }

    /// The same failure, and what follows from it.
    func adding(_ words: String) -> IdentityError { IdentityError(code, "\(reason); \(words)", failure: failure) }
}

extension IdentityError {
    /// Whatever a store, a chip or a library threw.
    package init(_ error: any Error) {
        switch error {
        case let error as IdentityError: self = error
        case let error as CryptographyError:
            self.init(.cryptography, "a cryptographic operation failed (\(error))")
        case let error as SecretMemoryError: self.init(.storage, "\(error)")
        default: self.init(.storage, "\(error)")
        }
    }
}
