internal import Cryptography
internal import SecretMemory
internal import VaultFormat

/// What a writer seals with. All of it in one value: a record is checked for exclusive access once, not at each step.
struct RecordSealer: ~Copyable {
    var cipher: RecordCipher
    private var nonces: NoncePool
    /// What stands before the content in a record's plaintext: fields and names.
    private var front: SecretBytes

    init(_ keys: RecordKeys) throws(VaultError) {
        let cipher = try RecordCipher(keys)
        let nonces = try crypto(NoncePool())
        let size =
            RecordFields.size + RecordName.maximumCollectionSize + RecordName.maximumNameSize + RecordLabel.maximumSize
        front = try secretMemory(SecretBytes(zeroed: size))
        self.cipher = cipher
        self.nonces = nonces
    }

    /// Seals the `frontSize` bytes that `writeFront` writes, and `content` behind them, under a nonce of their own.
    mutating func seal(
        _ frontSize: Int, _ content: RawSpan, lookupKey: RawSpan, into value: inout MutableRawSpan,
        _ writeFront: (inout MutableRawSpan) -> Void
    ) throws(VaultError) {
        let nonce = try crypto(nonces.next())
        front.withMutableBytes(writeFront)
        try front.withBytes { front throws(VaultError) in
            try cipher.seal(
                front.extracting(0..<frontSize), content, lookupKey: lookupKey, nonce: nonce, into: &value)
        }
    }
}
