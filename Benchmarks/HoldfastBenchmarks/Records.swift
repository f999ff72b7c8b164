import SecretMemory
import VaultCore
import VaultHeader

/// The records that all contenders hold: `count` of them, 256 bytes each, under names of 24 bytes.
struct Records {
    static let valueSize = 256
    static let nameSize = 24
    /// What a record of the vault has before its content: 32 bytes of fields, then collection and name.
    static let frontSize = 32 + Vault.defaultCollection.utf8.count + nameSize
    /// What it takes in the database.
    static let storedSize = frontSize + valueSize + RawStore.overhead

    static func name(_ index: Int) -> String {
        let digits = String(index)
        return "login/example-" + String(repeating: "0", count: 10 - digits.count) + digits
    }

    static func value(_ index: Int) -> [UInt8] {
        var generator = SeededGenerator(UInt64(index))
        return generator.bytes(valueSize)
    }

    /// Database keys of raw records: as random as the vault's, which are keyed hashes.
    static func rawKeys(_ indices: some Sequence<Int>) -> [UInt8] {
        indices.flatMap { index in
            var generator = SeededGenerator(UInt64(index) &+ 1 << 40)
            return generator.bytes(RawStore.keySize)
        }
    }
}

/// A vault made for one measurement, unlocked.
enum BenchmarkVault {
    static func passcode() throws -> SecretBytes {
        try SecretBytes(count: 8) { bytes in
            for index in 0..<8 {
                bytes.storeBytes(of: UInt8(ascii: "0") + UInt8(index), toByteOffset: index, as: UInt8.self)
            }
        }
    }

    /// Creates a vault whose key derivation costs next to nothing.
    static func create(at path: String) throws -> Vault {
        _ = try Vault.create(at: path, passcode: passcode(), settings: .costsForTests())
        let vault = try Vault(at: path, settings: .costsForTests())
        try unlock(vault)
        return vault
    }

    static func unlock(_ vault: Vault) throws {
        try vault.unlock(passcode: passcode(), spending: vault.burnAttempt())
    }
}

extension Vault {
    /// Stores the records of `indices`, `batch` of them per transaction.
    func fill(_ indices: Range<Int>, batch: Int) throws {
        for start in stride(from: indices.lowerBound, to: indices.upperBound, by: batch) {
            try write { session in
                for index in start..<min(start + batch, indices.upperBound) {
                    try unsafe session.put(Records.value(index).span.bytes, for: Records.name(index))
                }
            }
        }
    }
}
