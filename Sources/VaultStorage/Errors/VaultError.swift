package import Cryptography
package import SecretMemory
internal import SystemCalls
package import VaultFormat

/// What a vault refuses or could not do: a code for programs, and a reason in plain words that says what is wrong.
///
/// What the user can do about it depends on the user interface that shows it, so the reason names no command and no
/// button: an app has its own words for each ``Code``.
public struct VaultError: Error, Sendable, Hashable {
    // One word: every function on the way up makes room for the error that it may pass on, and with all of its values
    // in place a read went twice as far down the stack.
    private var contents: Contents

    /// The kind of failure.
    public var code: Code { contents.values.code }
    /// What happened, in plain words. Never a secret, never a record's name or content.
    public var reason: String { contents.values.reason }
    /// Attempts left before the last consequence, where an attempt was refused.
    public var remainingAttempts: Int? {
        get { contents.values.remainingAttempts }
        set { change { $0.remainingAttempts = newValue } }
    }
    /// Time until the next attempt is taken, where a delay runs.
    public var retryAfter: Duration? {
        get { contents.values.retryAfter }
        set { change { $0.retryAfter = newValue } }
    }
    /// What an unlock must prove, where this one proved too little.
    package var neededAssurance: Assurance? {
        get { contents.values.neededAssurance }
        set { change { $0.neededAssurance = newValue } }
    }
    /// What has to happen first, where a key store cannot be asked now (`shareUnavailable`) and that is known.
    public var until: ShareWait? {
        get { contents.values.until }
        set { change { $0.until = newValue } }
    }

    package init(_ code: Code, _ reason: String, remainingAttempts: Int? = nil, retryAfter: Duration? = nil) {
        contents = Contents(
            Values(code: code, reason: reason, remainingAttempts: remainingAttempts, retryAfter: retryAfter))
    }

    private mutating func change(_ change: (inout Values) -> Void) {
        var values = contents.values
        change(&values)
        contents = Contents(values)
    }
}

extension VaultError {
    private struct Values: Sendable, Hashable {
        let code: Code
        let reason: String
        var remainingAttempts: Int?
        var retryAfter: Duration?
        var neededAssurance: Assurance?
        var until: ShareWait?
    }

    private final class Contents: Sendable, Hashable {
        let values: Values
        init(_ values: Values) { self.values = values }

        static func == (left: Contents, right: Contents) -> Bool { left.values == right.values }

        func hash(into hasher: inout Hasher) { hasher.combine(values) }
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

/// What has to happen before a key store can be asked for a share (`shareUnavailable`). Nothing was lost.
public enum ShareWait: Sendable, Hashable {
    /// The device or the keyring is unlocked. On an Apple device this is also what a launch before the first unlock
    /// waits for.
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

extension VaultError {
    /// An `errno` as one of our codes, with the system's words.
    package static func system(_ number: Int32, _ doing: String) -> VaultError {
        let words = SystemError(number)
        switch number {
        case ENOSPC, EDQUOT:
            return VaultError(.diskFull, "\(doing): \(words); what was stored before is unchanged")
        case EEXIST: return VaultError(.exists, "\(doing): \(words)")
        case EROFS: return VaultError(.readOnly, "\(doing): \(words)")
        case EACCES, EPERM: return VaultError(.permissionDenied, "\(doing): \(words)")
        case ENOMEM: return VaultError(.outOfMemory, "\(doing): \(words)")
        default: return VaultError(.inputOutput, "\(doing): \(words)")
        }
    }
}

/// Repeats a system call that a signal interrupted; throws its `errno` as ours.
@discardableResult
package func system<T: SignedInteger>(_ doing: @autoclosure () -> String, _ call: () -> T) throws(VaultError) -> T {
    while true {
        let result = call()
        if result >= 0 { return result }
        let number = errno
        if number != EINTR { throw .system(number, doing()) }
    }
}

extension VaultError {
    /// What lies under a name of the home and was not opened, as one of our codes.
    init(opening name: String, _ error: BeneathError) {
        switch error {
        case .notThere: self = .system(ENOENT, "opening \(name)")
        case .link: self = .damaged("\(name) is a link; a file of a vault lies in its own folder")
        case .notRegular: self = .damaged("\(name) is not a regular file")
        case .notFolder: self = .damaged("\(name) does not lie in a folder of its own")
        case .hardLinked: self = .hardLinked(name)
        case .system(let number): self = .system(number, "opening \(name)")
        }
    }

    /// A file that another name elsewhere leads to as well.
    package static func hardLinked(_ name: String) -> VaultError {
        VaultError(
            .hardLinked,
            "\(name) has a second name on this disk (a hard link), through which another program could change it; "
                + "nothing was changed")
    }
}
