import Cryptography
import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultStorage

/// Carries a noncopyable phrase through test code.
final class RecoveryPhraseBox: Sendable {
    let phrase: RecoveryPhrase
    init(_ phrase: consuming RecoveryPhrase) { self.phrase = phrase }
}

extension Vault {
    func unlock(_ passcode: String) throws {
        let secret = try secret(passcode)
        try unlock(passcode: secret, spending: burnAttempt())
    }

    /// A batch as an app makes it: what took more room than there was is made again, and the room doubles each time.
    func writeAgain(_ body: (inout WriteSession) throws -> Void) throws {
        for _ in 0..<16 {
            do { return try write(body) } catch let error as VaultError where error.code == .outOfMemory { continue }
        }
        try write(body)
    }

    func changePasscode(_ old: String, _ new: String) throws {
        let old = try secret(old)
        let new = try secret(new)
        try changePasscode(from: old, spending: burnAttempt(), to: new)
    }

    func put(_ bytes: [UInt8], _ name: String, _ collection: String = defaultCollection, replacing: Bool = false)
        throws
    {
        let secret = try secret(bytes)
        try put(secret, for: name, in: collection, replacing: replacing)
    }

    func get(_ name: String, _ collection: String = defaultCollection) throws -> [UInt8] {
        try withValue(for: name, in: collection) { $0.array }
    }

    /// Reads a value of any size.
    func readAll(_ name: String, _ collection: String = defaultCollection) throws -> [UInt8] {
        var all: [UInt8] = []
        try read(name, in: collection) { all += $0.array }
        return all
    }

    /// Streams bytes in pieces of an odd size.
    func stream(_ bytes: [UInt8], _ name: String, piece: Int = 33_333, replacing: Bool = false) throws {
        var position = 0
        try put(name, replacing: replacing) { memory in
            let count = min(piece, memory.byteCount, bytes.count - position)
            for index in 0..<count {
                memory.storeBytes(of: bytes[position + index], toByteOffset: index, as: UInt8.self)
            }
            position += count
            return count
        }
    }
}

/// That the owner is there, whose passcode is "right".
func ownersProof(_ vault: Vault, _ passcode: String = "right") throws -> Proof {
    let passcode = try secret(passcode)
    return try vault.prove(passcode: passcode, spending: vault.burnAttempt())
}
