import BetterAuthVerification
import BetterAuthMessages
import Cryptography
import Foundation
import SecretMemory
import TestSupport
import Testing

let gzip = ZlibTokenCompression()

/// BLAKE3 for the identifiers.
let derivations = Derivations(hash: blake3)

func blake3(_ bytes: RawSpan) -> DigestText {
    var state = BLAKE3()
    state.update(bytes)
    return DigestText { state.finalize(into: &$0) }
}

/// The public key of a private scalar, by the library that will sign in earnest.
func publicKey(ofScalar hexadecimal: String) throws -> [UInt8] {
    let bytes = hexBytes(hexadecimal)
    let scalar = try unsafe SecretBytes(copying: bytes.span.bytes)
    return try P256PrivateKey(scalar: scalar).publicKey.compressed
}

/// Whether the signature is that of the key over the bytes, by the library that will verify in earnest.
func verifies(_ signature: SignatureText, _ key: PublicKeyText, _ signed: RawSpan) -> Bool {
    guard let imported = key.withRawBytes({ try? P256PublicKey(compressed: $0) }) else { return false }
    return signature.withRawBytes { imported.isValid(signature: $0, for: signed) }
}

func verifies<P: MessagePayload>(_ message: SignedMessage<P>, _ key: PublicKeyText) -> Bool {
    message.withSignedBytes { verifies(message.signature, key, $0) }
}

/// What a parser throws.
func refusal<T>(_ body: () throws -> T) -> MessageError? {
    thrown(MessageError.self) { _ = try body() }
}

/// A vector file of this folder.
func vectors<T: Decodable>(_ name: String, as type: T.Type = T.self) throws -> T {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Vectors")
    return try JSONDecoder().decode(type, from: Data(contentsOf: folder.appending(path: "\(name).json")))
}
