import Cryptography
import Foundation
import SecretMemory
import TestSupport
import VaultFormat

/// Every key that an unlock brings into memory, made from the files and a secret as Docs/vault-format.md has it.
struct KeysOfHome {
    /// Each key with what it is called.
    private(set) var keys: [(name: String, bytes: [UInt8])] = []

    /// - Parameters:
    ///   - home: A vault in the file tier.
    ///   - passcode: Its passcode.
    ///   - phrase: Its recovery phrase.
    ///   - pin: Its PIN, where it has one. What the chip adds is known to the chip alone.
    init(_ home: String, passcode: String, phrase: String, pin: String? = nil) throws {
        let header = try KeysOfHome.header(home)
        let text = try secret(phrase)
        let words = try RecoveryPhrase(parsing: text)
        let entropy = words.withEntropy { $0.array }
        add("entropy of the phrase", entropy)
        guard let slot = header.passcodeSlot, let costs = slot.derivation, let recovery = header.recoverySlot else {
            throw Missing(what: "slots")
        }
        let stretched = try KeysOfHome.stretch(passcode, slot.salt, costs)
        add("stretched passcode", stretched)
        try add("repeat tag", stretched, salt: slot.salt, "holdfast/1/repeat")
        if let pin, let slot = header.pinSlot, let costs = slot.derivation {
            let stretched = try KeysOfHome.stretch(pin, slot.salt, costs)
            add("stretched PIN", stretched)
            try add("repeat tag of the PIN", stretched, salt: slot.salt, "holdfast/1/repeat")
            try add("the PIN's word to the chip", stretched, salt: slot.salt, "holdfast/1/tpm-auth")
        }
        let expanded = try KeysOfHome.hkdf(entropy, salt: header.vault.bytes, "holdfast/1/recovery")
        add("factor of the phrase", expanded)
        _ = try master(recovery, factor: expanded, header)
        let master = try master(slot, factor: stretched, header)
        add("master key", master)
        try add("header MAC key", master, salt: header.vault.bytes, "holdfast/1/header-mac")
        let wrapping = try KeysOfHome.hkdf(master, salt: header.vault.bytes, "holdfast/1/keybag")
        add("keybag key", wrapping)
        let numbers = [Header.formatVersion, header.epoch].flatMap(KeysOfHome.little)
        let keybag = try KeysOfHome.open(
            Array(header.sealedKeybag[12...]), nonce: Array(header.sealedKeybag[..<12]), key: wrapping,
            header.vault.bytes + Array("keybag".utf8) + numbers)
        let layout = try unsafe KeybagLayout(parsing: keybag.span.bytes)
        for entry in layout.entries {
            let key = Array(keybag[entry.range])
            add("\(entry.kind) key of epoch \(entry.epoch)", key)
            switch entry.kind {
            case .names: try derive("key of the records' sum", key, "holdfast/1/record-sum")
            case .inbox:
                try derive("tag key of the inbox", key, "holdfast/1/inbox-public")
                try add(
                    "private key of the inbox", key, salt: header.vault.bytes, "holdfast/1/inbox-scalar", suffix: [0])
            case .log:
                try add("private key of the log", key, salt: header.vault.bytes, "holdfast/1/log-scalar", suffix: [0])
            default: break
            }
        }
    }

    /// What is made of a passcode, right or wrong.
    static func stretched(_ passcode: String, _ home: String) throws -> [UInt8] {
        guard let slot = try header(home).passcodeSlot, let costs = slot.derivation else { throw Missing(what: "slot") }
        return try stretch(passcode, slot.salt, costs)
    }

    private static func header(_ home: String) throws -> Header {
        let file = [UInt8](try Data(contentsOf: URL(fileURLWithPath: home + "/header")))
        return try Header(parsing: Array(file.prefix(Header.copySize))) { BLAKE3.hash($0).bytes }
    }

    private static func stretch(
        _ passcode: String, _ salt: [UInt8], _ costs: DerivationParameters
    ) throws -> [UInt8] {
        let typed = try secret(passcode)
        let derived = try unsafe Argon2id.derive(
            typed, salt: salt.span.bytes, passes: Int(costs.passes), memoryKiB: Int(costs.memoryKiB))
        return derived.withBytes { $0.array }
    }

    struct Missing: Error { let what: String }

    private mutating func add(_ name: String, _ bytes: [UInt8]) { keys.append((name, bytes)) }

    private mutating func add(
        _ name: String, _ key: [UInt8], salt: [UInt8], _ info: String, suffix: [UInt8] = []
    ) throws {
        add(name, try KeysOfHome.hkdf(key, salt: salt, info, suffix: suffix))
    }

    private mutating func derive(_ name: String, _ key: [UInt8], _ context: String) throws {
        let material = try unsafe SecretBytes(copying: key.span.bytes)
        let key = try BLAKE3.deriveKey(context: context, material: material, lifetime: .transient)
        add(name, key.withBytes { $0.array })
    }

    private mutating func master(_ slot: Slot, factor: [UInt8], _ header: Header) throws -> [UInt8] {
        let input = [UInt8](repeating: 0, count: 32) + factor
        let both = try KeysOfHome.hkdf(input, salt: slot.salt, "holdfast/1/slot/\(slot.kind.name)", count: 64)
        add("wrapping key of the \(slot.kind.name)", Array(both[..<32]))
        let policy = try header.policy.encoded()
        let digest = unsafe BLAKE3.hash(policy.span.bytes).bytes
        return try KeysOfHome.open(
            slot.wrappedKey, nonce: slot.nonce, key: Array(both[..<32]),
            slot.authenticatedData(vault: header.vault, policyDigest: digest))
    }

    private static func hkdf(
        _ key: [UInt8], salt: [UInt8], _ info: String, suffix: [UInt8] = [], count: Int = 32
    ) throws -> [UInt8] {
        let purpose = Array(info.utf8) + suffix
        let input = try unsafe SecretBytes(copying: key.span.bytes)
        let output = try unsafe HKDFSHA256.derive(
            input, salt: salt.span.bytes, info: purpose.span.bytes, count: count)
        return output.withBytes { $0.array }
    }

    private static func open(
        _ box: [UInt8], nonce: [UInt8], key: [UInt8], _ associated: [UInt8]
    ) throws -> [UInt8] {
        var output = try SecretBytes(zeroed: box.count - AES256GCM.tagSize)
        let wrapping = try unsafe SecretBytes(copying: key.span.bytes)
        var cipher = try AES256GCM(key: wrapping)
        try output.withMutableBytes { output throws(CryptographyError) in
            try unsafe cipher.open(
                box.span.bytes, nonce: nonce.span.bytes, authenticating: associated.span.bytes, into: &output)
        }
        return output.withBytes { $0.array }
    }

    private static func little(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}
