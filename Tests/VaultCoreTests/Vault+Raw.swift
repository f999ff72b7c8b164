import Cryptography
import TestSupport
import Testing
import VaultFormat

@testable import VaultCore
@testable import VaultStorage

/// The database as somebody has it who can write it, but has no key.
extension Vault {
    /// What lies behind a record's name, and under which key.
    func rawRecord(
        _ name: String, _ collection: String = Vault.defaultCollection
    ) throws -> (key: [UInt8], value: [UInt8]) {
        let open = try #require(gate.current)
        let key = try open.keys.current.lookupKey(collection: collection, name: name).bytes
        return (key, try rawValue(key))
    }

    func rawValue(_ key: [UInt8]) throws -> [UInt8] {
        let open = try #require(gate.current)
        let reader = try ReadTransaction(open.database)
        try reader.renew()
        defer { reader.park() }
        return try key.withRawSpan { key in
            try reader.withValue(key, failure: { $0 }) { value throws(VaultError) in value?.array ?? [] }
        }
    }

    func overwrite(_ key: [UInt8], _ value: [UInt8]?, in tree: DatabaseTrees.Name = .records) throws {
        let open = try #require(gate.current)
        let transaction = try WriteTransaction(open.database)
        try key.withRawSpan { key in
            guard let value else {
                try transaction.delete(key, in: tree)
                return
            }
            _ = try transaction.put(key, in: tree, size: value.count, replacing: true) { bytes in
                for (index, byte) in value.enumerated() { bytes.store(byte, at: index) }
            }
        }
        try transaction.commit()
    }

    /// Makes the tag of a record wrong.
    func damage(_ name: String) throws {
        var (key, value) = try rawRecord(name)
        value[value.count - 1] ^= 1
        try overwrite(key, value)
    }
}
