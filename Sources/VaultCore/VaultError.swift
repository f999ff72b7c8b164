internal import Cryptography
internal import KeyStores
package import SecretMemory
public import VaultFormat

/// What a vault refuses or could not do. One struct with an open set of codes, so that codes can be added.
public struct VaultError: Error, Sendable, Hashable {
    /// The kind of failure, for programs.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// A stable word, also used in JSON output.
        public let description: String
        package init(_ description: String) { self.description = description }

        /// There is no vault at this place.
        public static let noVault = Code("noVault")
        /// Something is at this place already; nothing was written.
        public static let exists = Code("exists")
        /// The passcode, or the PIN, was checked and is wrong.
        public static let wrongPasscode = Code("wrongPasscode")
        /// The recovery phrase was checked and is wrong.
        public static let wrongPhrase = Code("wrongPhrase")
        /// The vault has no recovery phrase: its owner had it removed.
        public static let noRecoveryPhrase = Code("noRecoveryPhrase")
        /// The vault has no PIN under a chip.
        public static let noPIN = Code("noPIN")
        /// Nothing would open the vault once its passcode or its chip is lost, and nobody insisted on that.
        public static let lastWayIn = Code("lastWayIn")
        /// A delay after failed attempts is running; nothing was checked.
        public static let delayed = Code("delayed")
        /// No passcode attempt is left; only the recovery phrase opens the vault.
        public static let attemptsExhausted = Code("attemptsExhausted")
        /// The vault was destroyed, or is being destroyed; nothing opens it any more.
        public static let wiped = Code("wiped")
        /// The system's yes opens nothing any more; the vault's own passcode has to be given first.
        public static let passcodeNeeded = Code("passcodeNeeded")
        /// A change that was to be confirmed or finished is not under way.
        public static let notPending = Code("notPending")
        /// A wipe's receipt was signed with another key than the one given.
        public static let receiptMismatch = Code("receiptMismatch")
        /// The home is older than what a key store remembers of it; only the recovery phrase opens it.
        public static let rollbackSuspected = Code("rollbackSuspected")
        /// A key store or chip that the vault needs could not be asked.
        public static let hardwareUnavailable = Code("hardwareUnavailable")
        /// The chip gives its share never again; only the recovery phrase opens the vault, and the passcode where it was the
        /// PIN's share.
        public static let hardwareDestroyed = Code("hardwareDestroyed")
        /// A chip or key store holds shares that the folder is not known to own: the user has to say first whether it is the
        /// vault itself or a copy (``Vault/claimHardware(passcode:spending:)``,
        /// ``Vault/leaveHardware(passcode:spending:)``). Nothing was changed.
        public static let hardwareUnclaimed = Code("hardwareUnclaimed")
        /// The operation needs an unlocked vault.
        public static let locked = Code("locked")
        /// Another process changed the vault's keys; unlock again.
        public static let keysChanged = Code("keysChanged")
        /// Bytes on disk are not what was written.
        public static let damaged = Code("damaged")
        /// A file of the vault has a second name, a hard link, through which another program could change it; nothing was
        /// read or written.
        public static let hardLinked = Code("hardLinked")
        /// Written by a newer Holdfast, or by a build from before the first release; the reason says which.
        public static let newerVersion = Code("newerVersion")
        /// No record of this name.
        public static let recordNotFound = Code("recordNotFound")
        /// A record of this name exists and replacing it was not asked for.
        public static let recordExists = Code("recordExists")
        /// A record or collection name is empty or too long.
        public static let invalidName = Code("invalidName")
        /// A passcode is empty or longer than 1,024 bytes, or a PIN is too short, too long or guessed first.
        public static let invalidPasscode = Code("invalidPasscode")
        /// The unlock proved less than the collection asks for.
        public static let assuranceTooLow = Code("assuranceTooLow")
        /// Rules of a vault are outside their range.
        public static let invalidPolicy = Code("invalidPolicy")
        /// A value is too large for the call used.
        public static let tooLarge = Code("tooLarge")
        /// The disk or its file system is read-only.
        public static let readOnly = Code("readOnly")
        /// No space left on the disk.
        public static let diskFull = Code("diskFull")
        /// The user may not read or write these files.
        public static let permissionDenied = Code("permissionDenied")
        /// The open compartment is full.
        public static let quotaExceeded = Code("quotaExceeded")
        /// Written while the vault was locked, and not confirmed by its owner.
        public static let unconfirmed = Code("unconfirmed")
        /// The vault has no public key that could be written to while it is locked.
        public static let noPublicKey = Code("noPublicKey")
        /// Another process holds the vault for longer than we wait.
        public static let busy = Code("busy")
        /// Reading or writing failed in another way; the reason has the system's words.
        public static let inputOutput = Code("inputOutput")
        /// Not enough memory, locked or ordinary.
        public static let outOfMemory = Code("outOfMemory")
        /// A cryptographic library refused to work.
        public static let cryptography = Code("cryptography")
    }

    /// The kind of failure.
    public let code: Code
    /// What happened and what to do, in words. Never a secret, never a record's name or content.
    public let reason: String
    /// Attempts left before the last consequence, where an attempt was refused.
    public var remainingAttempts: Int?
    /// Time until the next attempt is taken, where a delay runs.
    public var retryAfter: Duration?
    /// What an unlock must prove, where this one proved too little.
    public var neededAssurance: Assurance?

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

    package static func damaged(_ what: String) -> VaultError { VaultError(.damaged, "damaged: \(what)") }

    init(_ error: CryptographyError) {
        switch error {
        case .authenticationFailed: self = .damaged("data does not match its authentication tag")
        case .memory(let error): self.init(error)
        case .invalidSize, .scalarOutOfRange, .invalidPoint:
            self.init(.cryptography, "a cryptographic operation was given a wrong size")
        case .library(let code): self.init(.cryptography, "the cryptographic library failed (code \(code))")
        }
    }

    package init(_ error: SecretMemoryError) { self.init(.outOfMemory, "\(error)") }

    init(_ error: FormatError, in file: String) {
        switch error {
        case .newerVersion(let version):
            self.init(.newerVersion, "\(file) has format version \(version); a newer Holdfast is needed to open it")
        case .unreleased:
            self.init(
                .newerVersion,
                "this vault was made by a build from before the first release, whose layout is no longer read; open it with "
                    + "that build and move what is in it")
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

/// Runs `body` and turns the errors of the layers below into ours.
func crypto<R: ~Copyable>(_ body: () throws(CryptographyError) -> R) throws(VaultError) -> R {
    do throws(CryptographyError) { return try body() } catch { throw VaultError(error) }
}

func secretMemory<R: ~Copyable>(_ body: () throws(SecretMemoryError) -> R) throws(VaultError) -> R {
    do throws(SecretMemoryError) { return try body() } catch { throw VaultError(error) }
}

/// A key store's failure is never a wrong passcode, and nothing was counted for it.
func keyStore<R: ~Copyable>(_ body: () throws(KeyStoreError) -> R) throws(VaultError) -> R {
    do throws(KeyStoreError) {
        return try body()
    } catch {
        if error.code == .outOfMemory { throw VaultError(.outOfMemory, error.reason) }
        if error.code == .hardLinked { throw VaultError(.hardLinked, "\(error.reason); or use the recovery phrase") }
        if error.code == .damaged { throw .damaged("\(error.reason); use holdfast recover with the phrase") }
        throw VaultError(.hardwareUnavailable, "\(error.reason); or use the recovery phrase")
    }
}

func format<R: ~Copyable>(_ file: String, _ body: () throws(FormatError) -> R) throws(VaultError) -> R {
    do throws(FormatError) { return try body() } catch { throw VaultError(error, in: file) }
}
