public import BetterAuthMessages
internal import Cryptography
internal import SecretMemory

/// What the client of an identity refuses or could not do: a code for programs, and a reason in plain words that says
/// what is wrong. What to do about it is told by the user interface that shows it.
public struct IdentityError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure.
    public let code: Code
    /// What happened, in plain words. Never a key, a token or a phrase.
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

    package static let noAccount = IdentityError(.noAccount, "this device has no identity")
    static let noSession = IdentityError(.noSession, "there is no session")
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
    private init(_ error: SecretMemoryError) {
        switch error {
        case .lockedMemoryExhausted, .derivationOutOfMemory: self.init(.outOfMemory, "\(error)")
        case .libraryUnavailable: self.init(.cryptography, "\(error)")
        case .invalidSize: self.init(.unexpected, "\(error)")
        }
    }

    /// Whatever a store, a chip or a library threw. Another's error may say anything, so only its type is told.
    package init(_ error: any Error) {
        switch error {
        case let error as IdentityError: self = error
        case CryptographyError.memory(let error): self.init(error)
        case let error as CryptographyError:
            self.init(.cryptography, "a cryptographic operation failed (\(error))")
        case let error as SecretMemoryError: self.init(error)
        // An app's own store throws what it likes; the rest has types that stand above.
        default: self.init(.storage, "the store of the identity failed (\(type(of: error)))")
        }
    }
}
