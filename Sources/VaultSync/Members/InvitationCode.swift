package import Cryptography
package import SecretMemory
package import SyncFormat
package import VaultFormat

/// What the user carries from one device to the other: seven words, or 16 bytes in a QR code.
package struct InvitationCode: ~Copyable, Sendable {
    /// 77 bits; six words would be 66.
    package static let words = 7
    package static let size = 16

    /// The words whole, in lower case, one space between two; or the bytes.
    private let bytes: SecretBytes

    private init(_ bytes: consuming SecretBytes) { self.bytes = bytes }

    /// Draws words.
    package static func drawWords() throws(SyncError) -> InvitationCode {
        InvitationCode(
            try crypto { () throws(CryptographyError) in
                try PasswordGenerator.words(WordRules(count: words, separator: " "))
            })
    }

    /// Draws bytes.
    package static func drawBytes() throws(SyncError) -> InvitationCode {
        InvitationCode(try crypto { () throws(CryptographyError) in try SecureRandom.secret(size) })
    }

    /// Reads words as a person enters them: cut after four letters, in any case, with any space.
    /// - Throws: ``Cryptography/RecoveryPhraseError``, which names the word.
    package static func entered(_ text: borrowing SecretBytes) throws(RecoveryPhraseError) -> InvitationCode {
        InvitationCode(try RecoveryPhrase.words(words, in: text))
    }

    /// Takes the bytes of a QR code.
    /// - Throws: `format` unless there are 16.
    package static func scanned(_ bytes: consuming SecretBytes) throws(SyncError) -> InvitationCode {
        guard bytes.count == size else { throw .format(.wrongSize) }
        return InvitationCode(bytes)
    }

    /// Lends the words or bytes, to be shown.
    package borrowing func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try bytes.withBytes(body)
    }

    /// Stretches the code; takes a moment.
    /// - Parameter costs: The same on both devices; the floor of a vault's, and never below it.
    package borrowing func key(
        for invitation: InvitationID, costs: DerivationParameters = DerivationLimits.standard.floor
    ) throws(SyncError) -> InvitationKey {
        try format { () throws(FormatError) in try DerivationLimits.standard.check(costs) }
        let salt = invitation.bytes
        return InvitationKey(
            invitation: invitation,
            bytes: try crypto { () throws(CryptographyError) in
                try salt.lend { salt throws(CryptographyError) in
                    try Argon2id.derive(
                        bytes, salt: salt, passes: Int(costs.passes), memoryKiB: Int(costs.memoryKiB))
                }
            })
    }
}

/// What the three messages of an invitation are sealed under.
package struct InvitationKey: ~Copyable, Sendable {
    package let invitation: InvitationID
    let bytes: SecretBytes
}

/// Words of BLAKE3, for people to compare.
enum ShownWords {
    static func words(of input: [UInt8], _ count: UInt8) throws(SyncError) -> SecretBytes {
        let digest = input.lend { BLAKE3.hash($0) }
        let entropy = try digest.withBytes { digest throws(SyncError) in
            try secretMemory { () throws(SecretMemoryError) in try SecretBytes(copying: digest) }
        }
        do throws(RecoveryPhraseError) {
            return try RecoveryPhrase(entropy: entropy).words(at: Array(1...count))
        } catch {
            if case .memory(let error) = error { throw .cryptography(.memory(error)) }
            throw .format(.wrongSize)
        }
    }
}

/// What both devices show for the user to compare.
package enum ComparingWords {
    package static let count: UInt8 = 6

    /// Six words, of 66 bits: of the invitation, the card, and the inviting member's keys.
    package static func words(
        _ invitation: InvitationID, _ card: MemberCard, inviter: MemberRecord
    ) throws(SyncError) -> SecretBytes {
        try ShownWords.words(
            of: Array("holdfast/1/sync-words\n".utf8) + invitation.bytes + card.encoded + inviter.signingKey
                + inviter.boxKey, count)
    }
}
