import Cryptography
import KeyStores
import SecretMemory
import TestSupport
import Testing
import VaultFormat

@testable import VaultCore
@testable import VaultHeader
@testable import VaultStorage

/// What the slot of a PIN gives away, keeps, and does not believe.
extension PINTests {
    private func write(_ header: Header) throws {
        let copy = try header.encoded { BLAKE3.hash($0).bytes }
        try home.write(copy + copy, to: "header")
    }

    /// The chip has found the PIN right: a commitment that does not fit is a changed header, and no wrong PIN.
    @Test func aChangedCommitmentIsDamageAndCostsNothing() throws {
        let (vault, _) = try create()
        var changed = try header()
        let index = try #require(changed.slots.firstIndex { $0.kind == .pin })
        changed.slots[index].commitment[5] ^= 1
        try write(changed)
        #expect(errorCode { try open(vault, pin: "2580") } == .damaged)
        #expect(errorCode { try open(vault, pin: "9999") } == .wrongPasscode)
        #expect(try vault.status().remainingAttempts == 4)
    }

    @Test func costsOutsideTheLimitsAreRefusedBeforeTheWork() throws {
        let (vault, _) = try create()
        var changed = try header()
        let index = try #require(changed.slots.firstIndex { $0.kind == .pin })
        changed.slots[index].derivation = DerivationParameters(passes: 1, memoryKiB: 1 << 30)
        try write(changed)
        #expect(errorCode { try open(vault, pin: "2580") } == .damaged)
        #expect(chip.asked == 0)
        #expect(try vault.status().remainingAttempts == 5)
    }

    @Test func aChangeOfTheRulesTakesNothingFromWhoOpenedItWithThePIN() throws {
        let (vault, _) = try create()
        try vault.changePolicy(passcode: secret("right"), spending: vault.burnAttempt()) {
            $0.collectionMinima = ["bank": .hardwareLimited]
        }
        try open(vault, pin: "2580")
        try vault.put([1], "card", "bank")
        try vault.changePolicy(passcode: secret("right"), spending: vault.burnAttempt()) { $0.lockTiming = .never }
        #expect(try vault.get("card", "bank") == [1])
        vault.lock()
        try vault.unlock("right")
        #expect(errorCode { _ = try vault.get("card", "bank") } == .assuranceTooLow)
    }

    /// The owner's finger is armed by the passcode, whatever the PIN proves.
    @Test func armsNoFinger() throws {
        var settings = settings
        settings.shareStores = { .files(in: $0 + "/shares") }
        settings.armsOwner = true
        _ = try Vault.create(at: home.path, passcode: secret("right"), settings: settings)
        let vault = try Vault(at: home.path, settings: settings)
        try vault.changePolicy(passcode: secret("right"), spending: vault.burnAttempt()) { policy in
            policy.fallback = .convenient
            policy.usesBiometrics = true
        }
        try enroll("2580", vault)
        try open(vault, pin: "2580")
        #expect(!vault.ownerState.isArmed)
        vault.lock()
        try vault.unlock("right")
        #expect(vault.ownerState.isArmed)
    }

    /// By the document (vault-format.md 5), and not by the code that made it.
    @Test func whatIsKeptIsThatOfTheDocument() throws {
        let (vault, phrase) = try create()
        let header = try header()
        let slot = try #require(header.pinSlot)
        #expect(slot.kindData.prefix(6) == [2, 3, 0, 1, 2, 3] && slot.kindData.count == 98)
        let master = try masterBytes(vault, phrase, header)
        let keeper = try derived(master, header.vault.bytes)
        let associated = header.vault.bytes + Array("slot key".utf8) + [1, 0, 0, 0, slot.id, 4] + slot.salt
        let kept = try opened(Array(slot.kindData[6...]), keeper, associated)
        let wrapping = Array(kept[..<32])
        let policy = try header.policy.encoded()
        let digest = unsafe BLAKE3.hash(policy.span.bytes).bytes
        let data = slot.authenticatedData(vault: header.vault, policyDigest: digest)
        #expect(try opened(slot.nonce + slot.wrappedKey, wrapping, data) == master)
        let factor = try SlotKey.stretch(secret("2580"), for: slot)
        let tag = try unsafe HKDFSHA256.derive(
            factor, salt: slot.salt.span.bytes, info: "holdfast/1/pin-value", count: 32)
        #expect(tag.withBytes { $0.array } == Array(kept[32...]))
    }

    // Keys in arrays, which only a test may have.

    private func masterBytes(_ vault: Vault, _ phrase: RecoveryPhraseBox, _ header: Header) throws -> [UInt8] {
        let master = try vault.unwrap(phrase.phrase, header)
        return master.withBytes { $0.array }
    }

    private func derived(_ key: [UInt8], _ salt: [UInt8]) throws -> [UInt8] {
        let key = try secret(key)
        let derived = try unsafe HKDFSHA256.derive(key, salt: salt.span.bytes, info: "holdfast/1/slot-keys", count: 32)
        return derived.withBytes { $0.array }
    }

    private func opened(_ box: [UInt8], _ key: [UInt8], _ associated: [UInt8]) throws -> [UInt8] {
        let key = try secret(key)
        var cipher = try AES256GCM(key: key)
        var plain = try SecretBytes(zeroed: box.count - 28)
        try plain.withMutableBytes { plain throws(CryptographyError) in
            let bytes = unsafe box.span.bytes
            try unsafe cipher.open(
                bytes.extracting(12..<bytes.byteCount), nonce: bytes.extracting(0..<12),
                authenticating: associated.span.bytes, into: &plain)
        }
        return plain.withBytes { $0.array }
    }
}
