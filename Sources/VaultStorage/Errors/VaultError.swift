package import Cryptography
package import SecretMemory
package import VaultFormat

/// What a vault refuses or could not do: a code for programs, and a reason in plain words that says what is wrong.
///
/// What the user can do about it depends on the face that shows it, so the reason names no command and no button: an app
/// has its own words for each ``Code``.
public struct VaultError: Error, Sendable, Hashable {
    /// The kind of failure.
    public let code: Code
    /// What happened, in plain words. Never a secret, never a record's name or content.
    public let reason: String
    /// Attempts left before the last consequence, where an attempt was refused.
    public var remainingAttempts: Int?
    /// Time until the next attempt is taken, where a delay runs.
    public var retryAfter: Duration?
    /// What an unlock must prove, where this one proved too little.
    package var neededAssurance: Assurance?
    /// What has to happen first, where a key store cannot be asked now (`shareUnavailable`) and that is known.
    public var until: ShareWait?

    package init(_ code: Code, _ reason: String, remainingAttempts: Int? = nil, retryAfter: Duration? = nil) {
        self.code = code
        self.reason = reason
        self.remainingAttempts = remainingAttempts
        self.retryAfter = retryAfter
    }
}

extension VaultError: CustomStringConvertible {
    /// The reason.
    public var description: String { reason }
}

extension VaultError {
    package static let locked = VaultError(.locked, "the vault is locked")

    package static func noAttemptLeft(hasPhrase: Bool) -> VaultError {
        hasPhrase
            ? VaultError(.attemptsExhausted, "no passcode attempt is left", remainingAttempts: 0)
            : VaultError(
                .noWayLeft,
                "no passcode attempt is left, and there is no recovery phrase: nothing opens this vault any more",
                remainingAttempts: 0)
    }

    package static func damaged(_ what: String) -> VaultError { VaultError(.damaged, "damaged: \(what)") }

    package init(_ error: CryptographyError) {
        switch error {
        case .authenticationFailed: self = .damaged("data does not match its authentication tag")
        case .memory(let error): self.init(error)
        case .invalidSize, .scalarOutOfRange, .invalidPoint:
            self.init(.cryptography, "a cryptographic operation was given a wrong size")
        case .library(let code): self.init(.cryptography, "the cryptographic library failed (code \(code))")
        }
    }

    package init(_ error: SecretMemoryError) {
        switch error {
        case .lockedMemoryExhausted, .derivationOutOfMemory: self.init(.outOfMemory, "\(error)")
        case .libraryUnavailable: self.init(.cryptography, "\(error)")
        case .invalidSize: self.init(.unexpected, "\(error)")
        }
    }

    /// Whatever code without typed errors threw. Another's error may say anything, so only its type is told.
    package init(any error: any Error) {
        switch error {
        case let error as VaultError: self = error
        case let error as SecretMemoryError: self.init(error)
        case let error as CryptographyError: self.init(error)
        default: self.init(.unexpected, "something failed in a way that was not expected (\(type(of: error)))")
        }
    }

    package init(_ error: FormatError, in file: String) {
        switch error {
        case .newerVersion(let version):
            self.init(.newerVersion, "\(file) was written by a newer version of Holdfast (format version \(version))")
        case .unreleased:
            self.init(
                .newerVersion,
                "this vault was made by a build from before the first release, whose layout is no longer read")
        case .derivationCostOutOfRange:
            self = .damaged("\(file) asks for Argon2id costs outside what is allowed")
        case .headerFull: self.init(.tooLarge, "\(file) has no room for more slots, keys or settings")
        case .wrongMagic: self = .damaged("\(file) is not a file of a vault")
        case .checksumMismatch: self = .damaged("\(file) does not match its checksum")
        case .wrongSize: self = .damaged("\(file) has the wrong size")
        case .invalid(let field): self = .damaged("\(file): \(field) is not valid")
        }
    }
}

/// The value of an expression, with the errors of the layers below turned into ours, as in
/// `try crypto(SecureRandom.bytes(16))`.
package func crypto<R: ~Copyable>(
    _ value: @autoclosure () throws(CryptographyError) -> R
) throws(VaultError) -> R {
    do throws(CryptographyError) { return try value() } catch { throw VaultError(error) }
}

/// As ``crypto(_:)``: `try secretMemory(SecretBytes(zeroed: 32))`.
package func secretMemory<R: ~Copyable>(
    _ value: @autoclosure () throws(SecretMemoryError) -> R
) throws(VaultError) -> R {
    do throws(SecretMemoryError) { return try value() } catch { throw VaultError(error) }
}

/// Runs `body` and turns the errors of the layers below into ours.
package func crypto<R: ~Copyable>(_ body: () throws(CryptographyError) -> R) throws(VaultError) -> R {
    do throws(CryptographyError) { return try body() } catch { throw VaultError(error) }
}

package func secretMemory<R: ~Copyable>(_ body: () throws(SecretMemoryError) -> R) throws(VaultError) -> R {
    do throws(SecretMemoryError) { return try body() } catch { throw VaultError(error) }
}

/// As ``crypto(_:)``, for what is read from or written to a file of the vault.
package func format<R: ~Copyable>(
    _ file: String, _ value: @autoclosure () throws(FormatError) -> R
) throws(VaultError) -> R {
    do throws(FormatError) { return try value() } catch { throw VaultError(error, in: file) }
}
