import Cryptography
import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultFormat
import VaultStorage

@testable import VaultCore
@testable import VaultHeader

/// One passcode, however a keyboard writes it.
@Suite struct PasscodeFormTests {
    private let home: TestHome
    private static let composed = "Zoë, cafés & 한국"
    private static let typed = Array(composed.decomposedStringWithCanonicalMapping.utf8)

    init() throws { home = try TestHome() }

    private func form(_ text: [UInt8]) throws -> [UInt8] {
        try ComposedForm.with(secret(text)) { form in form.withBytes { $0.array } }
    }

    private func unlock(_ vault: Vault, _ bytes: [UInt8]) throws {
        try vault.unlock(passcode: secret(bytes), spending: vault.burnAttempt())
    }

    @Test func `a passcode opens the vault in either form, and so does a PIN`() throws {
        #expect(Self.typed != Array(Self.composed.utf8))
        let chip = CountingChip()
        var settings = home.settings
        settings.tier = chip
        _ = try Vault.create(at: home.path, passcode: secret(Self.typed), settings: settings)
        let vault = try Vault(at: home.path, settings: settings)
        for form in [Self.typed, Array(Self.composed.utf8)] {
            try unlock(vault, form)
            vault.lock()
        }
        try vault.enrollPIN(secret("e\u{301}t\u{E9}"), passcode: secret(Self.typed), spending: vault.burnAttempt())
        try vault.unlock(pin: secret("\u{E9}te\u{301}"), spending: vault.burnAttempt())
        #expect(
            errorCode { try vault.changePasscode(Self.composed, "\u{E9}t\u{E9}") } == .invalidPasscode, "it is the PIN")
        #expect(
            errorCode {
                try vault.enrollPIN(
                    secret(Self.composed), passcode: secret(Self.typed), spending: vault.burnAttempt())
            } == .invalidPasscode, "it is the passcode")
        #expect(try vault.status().remainingAttempts == 5)
    }

    /// As earlier builds made it.
    private func makeSlotAsTyped(_ bytes: [UInt8]) throws -> Vault {
        let phrase = try home.create()
        let vault = try home.open()
        let locked = try HomeDirectory(path: home.path)
        var header = try HeaderFile.read(in: locked)
        let master = try vault.unwrap(phrase.phrase, header)
        let empty = try Vault.emptySlot(1, .passcode, [.bindsPolicy], header.passcodeSlot?.derivation)
        let costs = try #require(empty.derivation)
        let factor = try unsafe Argon2id.derive(
            secret(bytes), salt: empty.salt.span.bytes, passes: Int(costs.passes), memoryKiB: Int(costs.memoryKiB))
        header.set(
            try SlotKey(factor: factor, slot: empty)
                .wrap(master, into: empty, vault: header.vault, policyDigest: header.policy.digest()))
        let keys = try HeaderKeys(master: master, vault: header.vault)
        header.mac = try keys.mac(header.authenticatedBytes())
        let copy = try header.encoded { BLAKE3.hash($0).bytes }
        try home.write(copy + copy, to: "header")
        return vault
    }

    @Test func `a slot of the bytes as they were typed opens with them, and nothing is counted`() throws {
        let vault = try makeSlotAsTyped(Self.typed)
        try unlock(vault, Self.typed)
        vault.lock()
        #expect(try vault.status().remainingAttempts == 5)
        #expect(errorCode { try unlock(vault, Array(Self.composed.utf8)) } == .wrongPasscode)
        #expect(try vault.status().remainingAttempts == 4)
        // Also where the composed form is known to be wrong.
        try unlock(vault, Self.typed)
        vault.lock()
        let other = Array("Zoe\u{308}s".utf8)
        for _ in 0..<2 { #expect(errorCode { try unlock(vault, other) } == .wrongPasscode) }
        #expect(try vault.status().remainingAttempts == 4, "one attempt for both forms, and none for the second time")
        try vault.changePasscode(from: secret(Self.typed), spending: vault.burnAttempt(), to: secret(Self.typed))
        try unlock(vault, Array(Self.composed.utf8))
    }

    @Test func `a slot under a chip is tried in one form alone`() throws {
        let chip = CountingChip()
        var settings = home.settings
        settings.tier = chip
        _ = try Vault.create(at: home.path, passcode: secret("right"), settings: settings)
        let vault = try Vault(at: home.path, settings: settings)
        try vault.enrollPIN(secret("2580"), passcode: secret("right"), spending: vault.burnAttempt())
        #expect(
            errorCode { try vault.unlock(pin: secret("e\u{301}tes"), spending: vault.burnAttempt()) } == .wrongPasscode)
        #expect(chip.asked == 1)
    }

    @Test(arguments: [
        ("e\u{301}", "\u{E9}"), ("\u{212B}", "\u{C5}"), ("\u{1100}\u{1161}\u{11A8}", "\u{AC01}"),
        ("\u{AC00}\u{11A7}", "\u{AC00}\u{11A7}"), ("q\u{307}\u{323}", "q\u{323}\u{307}"),
        ("a\u{300}\u{315}\u{5AE}", "\u{E0}\u{5AE}\u{315}"), ("\u{915}\u{93C}", "\u{915}\u{93C}"),
        ("\u{958}", "\u{915}\u{93C}"), ("\u{301}e", "\u{301}e"), ("\u{2126}", "\u{3A9}"), ("plain", "plain"), ("", ""),
    ])
    func `the composed form is that of Unicode`(_ text: String, _ expected: String) throws {
        #expect(try form(Array(text.utf8)) == Array(expected.utf8))
    }

    @Test(
        arguments: [
            [0xCC], [0xCC, 0x41], [0xE1, 0x80], [0xED, 0xA0, 0x80], [0xE0, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80],
            [0xF4, 0x90, 0x80, 0x80], [0x80, 0xCC, 0x81], [0x65, 0xCC, 0x81, 0xFF], [0xC0, 0x80, 0xCC, 0x81],
        ] as [[UInt8]])
    func `bytes that are no text stay as they are`(_ bytes: [UInt8]) throws {
        #expect(try form(bytes) == bytes)
    }

    /// Every character of the planes that have letters, between a letter and marks, and random ones beside each other;
    /// judged by Python's `unicodedata`.
    @Test(
        .enabled(if: Decryptor.hasUnicode14, "no python3 with Unicode 14.0: the composed form is not compared with it"))
    func `all characters have the form that another program gives them`() throws {
        var lines: [String] = []
        let numbers = Array(UInt32(1)..<0x20000) + Array(0x2F800..<0x2FA20) + Array(0xE0000..<0xE0200)
        let scalars = numbers.compactMap(Unicode.Scalar.init)
        var random = SeededGenerator()
        // Characters that something happens to, more often than the others.
        let marks = scalars.filter { $0.properties.canonicalCombiningClass != .notReordered }
        func add(_ text: String) throws {
            let bytes = Array(text.utf8)
            lines.append("\(Hexadecimal.encode(bytes)) \(Hexadecimal.encode(try form(bytes)))")
        }
        for start in stride(from: 0, to: scalars.count, by: 64) {
            var text = String.UnicodeScalarView()
            for scalar in scalars[start..<min(start + 64, scalars.count)] {
                text.append(contentsOf: ["a", scalar, "\u{301}", scalar, "\u{323}"])
            }
            try add(String(text))
        }
        for _ in 0..<20_000 {
            var text = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 1...12, using: &random) {
                let pool = [scalars[..<0x3000], marks[...], scalars[0x1100..<0x1200], scalars[0xAC00..<0xAC80]]
                    .randomElement(using: &random)
                if let scalar = pool?.randomElement(using: &random) { text.append(scalar) }
            }
            try add(String(text))
        }
        let folder = try ScratchFolder()
        try lines.joined(separator: "\n").write(toFile: folder["forms"], atomically: true, encoding: .utf8)
        let code = """
            import sys, unicodedata
            for line in open(sys.argv[1]):
                text, form = (bytes.fromhex(word).decode() for word in line.split())
                assert unicodedata.normalize("NFC", text) == form, line
            """
        try Decryptor.interpret(code, folder["forms"])
    }
}
