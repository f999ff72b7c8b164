package import Cryptography
package import SecretMemory
package import VaultFormat

/// The keys of one epoch that every read and write needs, each in pages of its own.
package final class EpochKeys: Sendable {
    package let epoch: UInt32
    let records: SecretBytes
    /// Keys the hash of collection and name.
    let names: SecretBytes
    /// Keys the terms of the root record's sum.
    let multiset: SecretBytes
    /// Mixed into each file's own key.
    let files: SecretBytes

    package init(
        epoch: UInt32, records: consuming SecretBytes, names: consuming SecretBytes, files: consuming SecretBytes
    ) throws(VaultError) {
        self.epoch = epoch
        self.records = records
        self.files = files
        multiset = try EpochKeys.multisetKey(names)
        self.names = names
    }

    private static func multisetKey(_ names: borrowing SecretBytes) throws(VaultError) -> SecretBytes {
        do throws(CryptographyError) {
            return try BLAKE3.deriveKey(context: "holdfast/1/record-sum", material: names, lifetime: .longLived)
        } catch { throw VaultError(error) }
    }

    /// The database key of a record: keyed BLAKE3 over length-prefixed collection and name, on the stack.
    package func lookupKey(collection: String, name: String) throws(VaultError) -> Digest {
        guard RecordLimits.allow(collection: collection, name: name) else { throw .invalidName }
        let digest = unsafe collection.withUTF8Bytes { collection in
            unsafe name.withUTF8Bytes { name in unsafe EpochKeys.hash(collection, name, key: names) }
        }
        guard let digest else { throw VaultError(.cryptography, "a name could not be hashed") }
        return digest
    }

    private static func hash(
        _ collection: UnsafeBufferPointer<UInt8>, _ name: UnsafeBufferPointer<UInt8>, key: borrowing SecretBytes
    ) -> Digest? {
        let size = 4 + collection.count + name.count
        if size <= 64 {
            var block = SIMD64<UInt8>()
            return unsafe withUnsafeMutableBytes(of: &block) { block in
                unsafe write(collection, name, into: block)
                let input = unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(block))
                return key.withBytes { try? BLAKE3.keyedHash(padded: input, count: size, key: $0) }
            }
        }
        return unsafe withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) { buffer in
            unsafe write(collection, name, into: buffer)
            let input = unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(rebasing: buffer[..<size]))
            return key.withBytes { try? BLAKE3.keyedHash(input, key: $0) }
        }
    }

    /// Both texts, each behind its 16-bit length.
    @inline(__always)
    private static func write(
        _ collection: UnsafeBufferPointer<UInt8>, _ name: UnsafeBufferPointer<UInt8>,
        into buffer: UnsafeMutableRawBufferPointer
    ) {
        let nameOffset = 2 + collection.count
        unsafe buffer.storeBytes(of: UInt16(collection.count).littleEndian, as: UInt16.self)
        unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[2...]).copyMemory(from: .init(collection))
        unsafe buffer.storeBytes(of: UInt16(name.count).littleEndian, toByteOffset: nameOffset, as: UInt16.self)
        unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[(nameOffset + 2)...]).copyMemory(from: .init(name))
    }

    /// What one record adds to the root record's sum.
    package func term(lookupKey: Digest, sequence: UInt64) throws(VaultError) -> Sum256 {
        let digest = lookupKey.withBytes { lookup -> Digest? in
            unsafe withUnsafeTemporaryAllocation(byteCount: 40, alignment: 8) { buffer in
                unsafe lookup.withUnsafeBytes { unsafe buffer.copyMemory(from: $0) }
                unsafe buffer.storeBytes(of: sequence.littleEndian, toByteOffset: 32, as: UInt64.self)
                let input = unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(buffer))
                return multiset.withBytes { try? BLAKE3.keyedHash(input, key: $0) }
            }
        }
        guard let digest else { throw VaultError(.cryptography, "a record could not be hashed") }
        return digest.withBytes { Sum256($0) }
    }

    /// The key of a file's content: the files key over the file's own key and id.
    package func contentKey(fileKey: RawSpan, id: [UInt8]) throws(VaultError) -> SecretBytes {
        var input = try secretMemory(SecretBytes(zeroed: 48))
        input.withMutableBytes { input in
            input.store(copying: fileKey.extracting(0..<32), at: 0)
            for index in 0..<16 { input.store(id[index], at: 32 + index) }
        }
        var digest = try crypto(
            files.withBytes { key throws(CryptographyError) in
                try input.withBytes { input throws(CryptographyError) in try BLAKE3.keyedHash(input, key: key) }
            })
        defer { digest.withMutableBytes { $0.wipe() } }
        return try secretMemory(digest.withBytes { bytes throws(SecretMemoryError) in try SecretBytes(copying: bytes) })
    }
}

/// What one store of records, a compartment, is read and written with.
package final class RecordKeys: Sendable {
    /// The vault's id, or what stands for it in another compartment: no record of one opens in the other.
    let domain: VaultID
    /// Which collections are reached.
    package let admission: Admission
    /// Newest first; more than one only while records move to new keys.
    package let epochs: [EpochKeys]
    /// The newest.
    package let current: EpochKeys

    package init(domain: VaultID, admission: Admission, newest: EpochKeys, older: [EpochKeys] = []) {
        self.domain = domain
        self.admission = admission
        epochs = [newest] + older
        current = newest
    }

    package func epoch(_ number: UInt32) throws(VaultError) -> EpochKeys {
        guard let keys = epochs.first(where: { $0.epoch == number }) else { throw .keysChanged }
        return keys
    }
}

extension VaultError {
    package static let keysChanged = VaultError(
        .keysChanged, "another process gave the vault new keys")
}

/// Private keys on P-256 that follow from a seed in the keybag.
package enum SeededKey {
    /// The first of HKDF's candidates that is a scalar: all but one in 2^32 seeds need one.
    /// - Parameter label: What the key is for; the number of the try follows it in HKDF's info.
    package static func make(
        from seed: borrowing SecretBytes, vault: VaultID, label: String
    ) throws(VaultError) -> P256PrivateKey {
        for attempt: UInt8 in 0...UInt8.max {
            let info = Array(label.utf8) + [attempt]
            do throws(CryptographyError) {
                let scalar = try unsafe HKDFSHA256.derive(
                    seed, salt: vault.bytes.span.bytes, info: info.span.bytes, count: P256PrivateKey.scalarSize)
                return try P256PrivateKey(scalar: scalar)
            } catch {
                guard error == .scalarOutOfRange else { throw VaultError(error) }
            }
        }
        throw VaultError(.cryptography, "no private key could be made from a seed")
    }
}
