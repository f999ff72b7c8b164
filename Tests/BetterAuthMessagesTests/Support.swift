import BetterAuthGzip
import BetterAuthMessages
import Cryptography
import Foundation
import SecretMemory
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
    let bytes = try hexBytes(hexadecimal)
    let scalar = try unsafe SecretBytes(copying: bytes.span.bytes)
    return try P256PrivateKey(scalar: scalar).publicKey.compressed
}

extension [UInt8] {
    /// Lends the bytes as a parser takes them.
    func lend<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R { try unsafe body(span.bytes) }

    var text: String { String(decoding: self, as: UTF8.self) }
}

extension RawSpan {
    var array: [UInt8] {
        (0..<byteCount).map { unsafe unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
    }
}

func hexBytes(_ text: String) throws -> [UInt8] {
    let digits = Array(text)
    return try stride(from: 0, to: digits.count, by: 2).map {
        try #require(UInt8(String(digits[$0..<Swift.min($0 + 2, digits.count)]), radix: 16))
    }
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
    do {
        _ = try body()
        return nil
    } catch {
        return error as? MessageError
    }
}

/// A vector file of this folder.
func vectors<T: Decodable>(_ name: String, as type: T.Type = T.self) throws -> T {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Vectors")
    return try JSONDecoder().decode(type, from: Data(contentsOf: folder.appending(path: "\(name).json")))
}

/// SplitMix64: a random source that repeats from its seed, which a failing test prints.
struct SeededGenerator: RandomNumberGenerator {
    let seed: UInt64
    private var state: UInt64

    init(seed: UInt64 = .random(in: 0...UInt64.max)) {
        self.seed = seed
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) } }
}
