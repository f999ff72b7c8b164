package import Cryptography
package import SecretMemory
package import VaultStorage

/// Why a file cannot be imported. Names the place, never what is in it.
package struct ImportError: Error, Sendable, Hashable {
    /// What kind of error it is.
    package enum Kind: String, Sendable, Hashable {
        /// It is not what files of this format are.
        case malformed = "malformedImport"
        /// More than this program reads.
        case tooLarge = "tooLarge"
        /// A feature of the format that this program does not know.
        case unsupported = "unsupportedImport"
        /// What each column of a table is has to be said.
        case unknownColumns = "unknownColumns"
        /// An image has no QR code.
        case noCode = "noQRCode"
        /// The password or the key file is not the right one, or the file was changed.
        case wrongPassword = "wrongImportPassword"
        /// A password is required.
        case passwordNeeded = "importPasswordNeeded"
        case outOfMemory = "outOfMemory"
        case unexpected = "unexpected"
    }

    package let kind: Kind
    /// Where: `line 3`, `byte 120`, `entry 4`; empty for the whole file.
    package let place: String
    /// What is wrong there.
    package let what: String
    /// The path of the one entry that cannot be read, as far as it is known, if the others can be imported without it
    /// (``ImportOptions/skipsFaulty``).
    package private(set) var entry: String?

    package init(_ kind: Kind, _ place: String = "", _ what: String) {
        self.kind = kind
        self.place = place
        self.what = what
    }

    /// Whether the rest of the file can be read without the entry, or the part of one, that it is of.
    var isOfPart: Bool { kind == .malformed || kind == .unsupported }

    /// The same, of one entry.
    func ofEntry(_ entry: String) -> ImportError {
        var error = self
        error.entry = entry
        return error
    }

    /// The place and what is wrong there.
    package var reason: String { place.isEmpty ? what : "\(place): \(what)" }

    package static func malformed(_ place: String, _ what: String) -> ImportError {
        ImportError(.malformed, place, what)
    }

    package init(_ error: SecretMemoryError) {
        if case .invalidSize = error {
            self.init(.tooLarge, "", "a part of the file is larger than an import may be")
        } else {
            self.init(.outOfMemory, "", "\(error)")
        }
    }

    package init(_ error: CryptographyError, _ place: String = "") {
        if case .memory(let error) = error {
            self.init(error)
        } else {
            self.init(.unexpected, place, "the cryptographic library failed")
        }
    }

    package init(_ error: VaultError, _ place: String) {
        self.init(error.code == .outOfMemory ? .outOfMemory : .malformed, place, error.reason)
    }
}

/// What an import reads at most, checked before memory is taken.
package enum ImportLimits {
    /// Bytes of a file.
    package static let file = 64 << 20
    /// Bytes of a key file.
    package static let keyFile = 1 << 20
    /// Bytes that compressed or encrypted content may become.
    package static let expanded = 128 << 20
    /// Items of a file, and values of their own below them.
    package static let items = 100_000
    /// Attachments of an entry beside the small ones that it holds at once.
    package static let attachments = 256
    /// Bytes of memory that a text and its values, elements or cells take together.
    package static let parts = 144 << 20
    /// Bytes of memory that the entries of a file take: beside ``parts`` as long as it is read, and beside the
    /// derivation of the vault's key later.
    package static let entries = 104 << 20
    /// Things that are listed as not understood, and bytes of memory that they take.
    package static let notes = 100_000, noteBytes = 24 << 20
    /// How deep values may be inside of each other.
    package static let depth = 64
    /// Bytes that a key derivation may fill altogether, each pass anew: a minute or two of one core. A hostile file
    /// could ask for hours before its password is known.
    package static let derivation: UInt64 = 64 << 30
    /// What a round of a derivation that fills no memory counts as: no more than it would fill in the time that it
    /// takes.
    static let aesRound: UInt64 = 128, pbkdf2Round: UInt64 = 4096

    /// Whether a derivation of so many passes, each of which fills so many bytes, is within ``derivation``.
    static func allowsDerivation(passes: UInt64, of bytes: UInt64) -> Bool {
        let (work, overflows) = passes.multipliedReportingOverflow(by: bytes)
        return !overflows && work <= derivation
    }

    /// Bytes of memory that a derivation by scrypt may take.
    package static let scryptMemory = 1 << 30
}

/// The value of an expression, with the errors of the layers below turned into ours.
func memory<R: ~Copyable>(_ value: @autoclosure () throws(SecretMemoryError) -> R) throws(ImportError) -> R {
    do throws(SecretMemoryError) { return try value() } catch { throw ImportError(error) }
}

func cryptography<R: ~Copyable>(_ value: @autoclosure () throws(CryptographyError) -> R) throws(ImportError) -> R {
    do throws(CryptographyError) { return try value() } catch { throw ImportError(error) }
}

func memory<R: ~Copyable>(_ body: () throws(SecretMemoryError) -> R) throws(ImportError) -> R {
    do throws(SecretMemoryError) { return try body() } catch { throw ImportError(error) }
}

func cryptography<R: ~Copyable>(_ body: () throws(CryptographyError) -> R) throws(ImportError) -> R {
    do throws(CryptographyError) { return try body() } catch { throw ImportError(error) }
}

extension RawSpan {
    /// One byte; an offset outside is our own mistake and traps.
    subscript(offset: Int) -> UInt8 {
        precondition(offset >= 0 && offset < byteCount, "offset outside of a span")
        return unsafe unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
    }

    /// The line that a byte is in, from 1.
    func line(of offset: Int) -> Int {
        var line = 1
        for index in 0..<min(offset, byteCount) where self[index] == UInt8(ascii: "\n") { line += 1 }
        return line
    }

    /// Bytes that are no secret, as a text; what is not UTF-8 is repaired.
    func openText(_ range: Range<Int>) -> String {
        unsafe extracting(range).withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }

    /// Whether a part is an ASCII text.
    func equals(_ text: StaticString, _ range: Range<Int>) -> Bool {
        guard range.count == text.utf8CodeUnitCount else { return false }
        return range.allSatisfy { unsafe self[$0] == text.utf8Start[$0 - range.lowerBound] }
    }
}

extension SecretBytes {
    /// What is no secret, as a text.
    borrowing func openText() -> String { withBytes { $0.openText(0..<$0.byteCount) } }
}
