internal import Cryptography
package import VaultFormat
package import VaultStorage
internal import SystemCalls

/// The receipt in the home: the one file that a finished wipe leaves.
package enum WipeReceiptFile {
    package static let part = HomeDirectory.part(of: WipeReceipt.fileName)

    /// Replaces the receipt as a whole.
    package static func write(_ receipt: WipeReceipt, in home: HomeDirectory) throws(VaultError) {
        try home.publish(WipeReceipt.fileName) { file throws(VaultError) in try file.write(receipt.encoded, at: 0) }
    }

    /// What is there, with a signature that its own key verifies; nil for anything else.
    package static func read(in home: HomeDirectory) -> WipeReceipt? {
        // Its owner may have given it a second name to keep it by; its signature says what it is.
        guard let file = try? home.openFile(WipeReceipt.fileName, O_RDONLY, evenIfLinked: true),
            let bytes = try? file.read(WipeReceipt.largestSize + 1, at: 0)
        else { return nil }
        return try? WipeReceipt(verifying: bytes)
    }

    /// A home where a wipe has ended: no header, and a receipt.
    package static func finished(in home: HomeDirectory) -> VaultError? {
        guard !home.exists(HeaderFile.name), let receipt = read(in: home) else { return nil }
        return .wiped(receipt, in: home)
    }
}

extension VaultError {
    /// A wipe that has ended, with its receipt.
    package static func wiped(_ receipt: WipeReceipt, in home: HomeDirectory) -> VaultError {
        VaultError(
            .wiped,
            "this vault was destroyed\(receipt.cause.why); what was erased is in \(home.path)/\(WipeReceipt.fileName)",
            remainingAttempts: 0)
    }
}

extension WipeCause {
    /// Why a vault was destroyed, to be put behind that it was.
    package var why: String {
        switch self {
        case .attempts: " because wrong passcodes reached the limit"
        case .owner: " because its owner asked for it"
        }
    }
}

extension WipeMark {
    /// Milliseconds since 1970, as marks and receipts have them.
    package static func now() -> UInt64 { UInt64(min(max(0, WallClock.milliseconds), 1 << 53 - 1)) }
}

extension WipeReceipt {
    /// Reads a receipt and verifies its signature; needs nothing but its bytes.
    ///
    /// - Parameters:
    ///   - bytes: The file's content.
    ///   - expected: The public key that was shown when self-destruct was switched on, in hexadecimal. Without it, the
    ///     receipt is only known to be unchanged since it was signed.
    /// - Throws: `damaged`, naming the place, for what is no receipt or was changed; `receiptMismatch` when it was
    ///   signed with another key; `invalidName` when `key` is no public key.
    package init(verifying bytes: [UInt8], key expected: String? = nil) throws(VaultError) {
        let receipt = try format(WipeReceipt.fileName, WipeReceipt(parsing: bytes))
        if let expected {
            guard let wanted = Hexadecimal.decode(expected.lowercased()),
                (try? unsafe P256PublicKey(compressed: wanted.span.bytes)) != nil
            else { throw VaultError(.invalidName, "the key is not 66 hexadecimal digits of a public key") }
            guard wanted == receipt.key else {
                throw VaultError(.receiptMismatch, "the receipt was signed with another key than the one given")
            }
        }
        do throws(CryptographyError) {
            let key = try unsafe P256PublicKey(compressed: receipt.key.span.bytes)
            let signed = receipt.signedBytes
            guard unsafe key.isValid(signature: receipt.signature.span.bytes, for: signed.span.bytes) else {
                throw .authenticationFailed
            }
        } catch {
            switch error {
            case .invalidPoint: throw .damaged("\(WipeReceipt.fileName): receipt key is not valid")
            case .authenticationFailed:
                throw .damaged("\(WipeReceipt.fileName): the signature does not fit; the receipt was changed")
            default: throw VaultError(error)
            }
        }
        self = receipt
    }

    /// The file's content.
    package var bytes: [UInt8] { encoded }

    /// Signs what was found.
    package func signed(by key: borrowing ReceiptKey) throws(VaultError) -> WipeReceipt {
        var receipt = self
        receipt.signature = try crypto(unsafe key.key.sign(signedBytes.span.bytes))
        return receipt
    }
}
