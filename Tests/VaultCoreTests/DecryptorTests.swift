import Cryptography
import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultFormat

@testable import VaultCore
@testable import VaultStorage

/// Vaults of ours, read by `scripts/holdfast_decrypt.py`, which shares no code with us.
@Suite(.enabled(if: Decryptor.python != nil, Decryptor.missing))
struct DecryptorTests {
    @Test func readsEveryKindOfValue() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        var values = Values()
        try values.put([], "empty", in: vault)
        try values.put(pattern(256), "binary", in: vault)
        try values.put(Array(0...255), "every byte", "other collection", in: vault)
        try values.put(pattern(300_000), "300 kB", in: vault)
        try values.put(pattern(Vault.largestInlineValue), "largest", in: vault)
        try values.put([1], "no collection", "", in: vault)
        try values.put([2], "name\nwith \u{0}, \t and \u{7f}", "line\u{2028}end", in: vault)
        try values.put([3], "Straße 日本語 👩‍👩‍👧 e\u{301}", "مجموعة", in: vault)
        try values.put([4], "é", in: vault)
        try values.put([5], "e\u{301}", in: vault)
        try values.put([6], "../../escape", "..", in: vault)
        try values.put([7], ".hidden", "CON", in: vault)
        try values.put([8], "%2E", "a/b", in: vault)
        try values.put([9], "Case", in: vault)
        try values.put([10], "case", in: vault)
        try values.put([11], String(repeating: "n", count: 1024), String(repeating: "ü", count: 127), in: vault)
        try values.put([12], String(repeating: "n", count: 1023), String(repeating: "ü", count: 127), in: vault)
        try values.stream(pattern(Vault.largestInlineValue + 1), "one byte too many", in: vault)
        try values.stream(pattern(20 * FileFormat.chunkSize), "whole chunks", in: vault)
        try values.stream(pattern(20 * FileFormat.chunkSize + 7), "replaced by a record", in: vault)
        try values.put([13], "replaced by a record", in: vault)
        try values.put(pattern(40), "replaced by a file", in: vault)
        try values.stream(pattern(1_234_567, seed: 3), "replaced by a file", in: vault)
        try values.put([14], "deleted", in: vault)
        try values.delete("deleted", in: vault)
        try values.check(home, vault, .passcode("right"))
    }

    @Test(arguments: ["caf\u{E9}", "cafe\u{301}"])
    func `reads with a passcode in either form`(_ passcode: String) throws {
        let home = try TestHome()
        _ = try home.create("cafe\u{301}")
        let vault = try home.open()
        try vault.unlock("caf\u{E9}")
        var values = Values()
        try values.put([1], "name", in: vault)
        try values.check(home, vault, .passcode(passcode))
    }

    @Test func readsAnEmptyVault() throws {
        let home = try TestHome()
        try Values().check(home, home.unlocked(), .passcode("right"))
    }

    /// Pages that a transaction takes and gives back at the end of the file are never written.
    @Test func readsADatabaseShorterThanItSays() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        var values = Values()
        for number in 0..<20 { try values.put([UInt8(number)], "record", in: vault) }
        let large = pattern(Vault.largestInlineValue)
        try vault.write { session in
            try large.withRawSpan { try session.put($0, for: "large") }
            try session.delete("large")
        }
        vault.lock()
        // As LMDB leaves it: without the pages at the end that were never written.
        let whole = try home.bytes("vault.mdb")
        let used = try #require(whole.lastIndex { $0 != 0 }) / 4096 + 1
        try home.write(Array(whole[..<(used * 4096)]), to: "vault.mdb")
        let isShorter = used * 4096 < whole.count
        #expect(isShorter)
        let read = try Decryptor.run(home.path, .passcode("right"), "get", "default", "record")
        #expect(read.output == [19])
        #expect(try Decryptor.run(home.path, .passcode("right"), "verify").status == 0)
    }

    @Test func opensWithThePhrase() throws {
        let home = try TestHome()
        let phrase = try home.create().text
        let vault = try home.open()
        try vault.unlock("right")
        var values = Values()
        try values.put([1, 2, 3], "record", in: vault)
        try values.check(home, vault, .phrase(phrase))
        let cut = phrase.split(separator: " ").map { $0.prefix(4).uppercased() }.joined(separator: " \t")
        #expect(try Decryptor.run(home.path, .phrase(cut), "get", "default", "record").output == [1, 2, 3])

        var words = phrase.split(separator: " ").map(String.init)
        words[3] = words[3] == "abandon" ? "zoo" : "abandon"
        let checksum = try Decryptor.run(home.path, .phrase(words.joined(separator: " ")), "list")
        // One changed word passes the checksum of eight bits once in 256 times; it is a wrong phrase either way.
        #expect(checksum.status == 3 && !checksum.errors.isEmpty)
        words[3] = "notaword"
        let unknown = try Decryptor.run(home.path, .phrase(words.joined(separator: " ")), "list")
        #expect(unknown.status == 3 && unknown.errors.contains("word 4"))
    }

    @Test func readsAfterThePasscodeChanged() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        var values = Values()
        try values.put([1], "record", in: vault)
        try vault.changePasscode("right", "päss wörd")
        try values.check(home, vault, .passcode("päss wörd"))
        #expect(try Decryptor.run(home.path, .passcode("right"), "list").status == 3)
    }

    @Test func readsDuringAndAfterARekey() throws {
        let home = try TestHome()
        let first = try home.create().text
        let vault = try home.open()
        try vault.unlock("right")
        var values = Values()
        for number in 0..<10 { try values.put(pattern(number * 10), "record \(number)", in: vault) }
        try values.stream(pattern(Vault.largestInlineValue + 99), "file", in: vault)
        try values.stream(pattern(Vault.largestInlineValue + 98), "other file", in: vault)

        let phrase = try vault.rekeyForTest("right", to: "next")
        try values.check(home, vault, .passcode("next"))  // all under the older keys
        try values.put([1], "new", in: vault)
        try values.put([2], "record 3", in: vault)
        try values.stream(pattern(Vault.largestInlineValue + 97), "file", in: vault)
        try values.delete("record 4", in: vault)
        #expect(try vault.isRekeyUnfinished)
        try values.check(home, vault, .passcode("next"))  // some here, some there
        try values.check(home, vault, .phrase(phrase))

        try vault.finishRekey()
        #expect(try !vault.isRekeyUnfinished)
        try values.check(home, vault, .passcode("next"))
        #expect(try Decryptor.run(home.path, .passcode("right"), "list").status == 3)
        #expect(try Decryptor.run(home.path, .phrase(first), "list").status == 3)
    }

    @Test func readsUnderRulesOfEachVersion() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.put([1, 2, 3], "name")
        let passcode = try secret("right")
        for preset in [FallbackPolicy.neverBlocks, .convenient, .strict] {
            let policy = try vault.changePolicy(passcode: passcode, spending: vault.burnAttempt()) { policy in
                policy.fallback = preset
                policy.collectionMinima = ["work": .keyBound]
            }
            #expect(try policy.encoded().first == (preset == .strict ? 1 : 2))
            let result = try Decryptor.run(home.path, .passcode("right"), "get", "default", "name")
            #expect(result.status == 0 && result.output == [1, 2, 3], "\(result.errors)")
        }
        let silent = try vault.changePolicy(passcode: passcode, spending: vault.burnAttempt()) { policy in
            policy.remembersPasscode = false
        }
        #expect(try silent.encoded().first == 4)
        let result = try Decryptor.run(home.path, .passcode("right"), "get", "default", "name")
        #expect(result.status == 0 && result.output == [1, 2, 3], "\(result.errors)")
    }

    @Test func readsAfterARecovery() throws {
        let home = try TestHome()
        let phrase = try home.create()
        let vault = try home.open()
        try vault.unlock("right")
        var values = Values()
        try values.put([1, 2], "record", in: vault)
        let passcode = try secret("recovered")
        _ = try vault.recover(phrase: phrase.phrase, newPasscode: passcode)
        try values.check(home, vault, .passcode("recovered"))
        #expect(try Decryptor.run(home.path, .passcode("right"), "list").status == 3)
    }

    @Test func readsABackup() throws {
        let home = try TestHome()
        let copy = try TestHome()
        let vault = try home.unlocked()
        var values = Values()
        try values.put([1, 2], "record", in: vault)
        try values.stream(pattern(Vault.largestInlineValue + 5), "file", in: vault)
        _ = try vault.backup(to: copy.path)
        try values.check(copy, vault, .passcode("right"))
    }
}
