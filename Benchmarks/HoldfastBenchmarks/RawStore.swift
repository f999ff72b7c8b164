import CRawLoops

/// The LMDB and OpenSSL reference, written in C.
@safe final class RawStore {
    static let keySize = 32
    static let overhead = 32

    private let handle: OpaquePointer

    init(at path: String) throws {
        guard let handle = unsafe raw_store_open(path) else { throw BenchmarkError("no raw database at \(path)") }
        unsafe self.handle = handle
    }

    deinit { unsafe raw_store_close(handle) }

    /// Sealed values for the packed `keys`, packed too.
    func seal(_ plaintexts: [UInt8], size: Int, for keys: [UInt8]) throws -> [UInt8] {
        let count = keys.count / RawStore.keySize
        var values = [UInt8](repeating: 0, count: count * (size + RawStore.overhead))
        for index in 0..<count {
            let status = unsafe keys.withUnsafeBufferPointer { keys in
                unsafe plaintexts.withUnsafeBufferPointer { plaintexts in
                    unsafe values.withUnsafeMutableBufferPointer { values in
                        unsafe raw_store_seal(
                            handle, keys.baseAddress.map { unsafe $0 + index * RawStore.keySize },
                            plaintexts.baseAddress.map { unsafe $0 + index * size }, size,
                            values.baseAddress.map { unsafe $0 + index * (size + RawStore.overhead) })
                    }
                }
            }
            try check(status, "sealing")
        }
        return values
    }

    /// One durable transaction.
    func put(_ keys: [UInt8], _ values: [UInt8]) throws {
        let count = keys.count / RawStore.keySize
        try check(unsafe raw_store_put(handle, keys, values, values.count / count, count), "writing")
    }

    func delete(_ keys: [UInt8]) throws {
        try check(unsafe raw_store_delete(handle, keys, keys.count / RawStore.keySize), "deleting")
    }

    /// One decrypted byte of each value, added up.
    func get(_ keys: [UInt8]) throws -> UInt64 {
        var sum: UInt64 = 0
        try check(unsafe raw_store_get(handle, keys, keys.count / RawStore.keySize, &sum), "reading")
        return sum
    }

    /// Stores what is as long as the vault's records of `indices`, sealed, in one transaction.
    func putSealed(_ indices: Range<Int>) throws {
        let keys = Records.rawKeys(indices)
        let plaintexts = indices.flatMap { Records.value($0) + [UInt8](repeating: 0, count: Records.frontSize) }
        try put(keys, seal(plaintexts, size: Records.storedSize - RawStore.overhead, for: keys))
    }

    /// As ``get(_:)`` for every key, in their order.
    func each() throws -> UInt64 {
        var sum: UInt64 = 0
        try check(unsafe raw_store_each(handle, &sum), "listing")
        return sum
    }

    private func check(_ status: Int32, _ doing: String) throws {
        if status != 0 { throw BenchmarkError("\(doing) the raw database failed with \(status)") }
    }
}

/// SQLCipher, asked through a prepared statement.
@safe final class RawSQLCipher {
    private let handle: OpaquePointer
    private let nameSize: Int

    init(at path: String, nameSize: Int) throws {
        guard let handle = unsafe raw_sqlcipher_open(path) else {
            throw BenchmarkError("no SQLCipher database at \(path)")
        }
        unsafe self.handle = handle
        self.nameSize = nameSize
    }

    deinit { unsafe raw_sqlcipher_close(handle) }

    func put(_ names: [String], _ values: [UInt8]) throws {
        let packed = names.flatMap { $0.utf8.map(CChar.init(bitPattern:)) }
        let size = values.count / names.count
        try check(unsafe raw_sqlcipher_put(handle, packed, nameSize, values, size, names.count), "writing")
    }

    /// Packs names the way ``get(_:)`` takes them.
    func pack(_ names: [String]) -> [CChar] { names.flatMap { $0.utf8.map(CChar.init(bitPattern:)) } }

    /// The first byte of each value, added up.
    func get(_ names: [CChar]) throws -> UInt64 {
        var sum: UInt64 = 0
        try check(unsafe raw_sqlcipher_get(handle, names, nameSize, names.count / nameSize, &sum), "reading")
        return sum
    }

    private func check(_ status: Int32, _ doing: String) throws {
        if status != 0 { throw BenchmarkError("\(doing) with SQLCipher failed with \(status)") }
    }
}
