import Cryptography
import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultFormat

@testable import VaultCore

/// What was written while locked, in the other reader.
@Suite(.enabled(if: Decryptor.python != nil, Decryptor.missing))
struct OpenDecryptorTests {
    @Test func readsTheOpenCompartmentAndTheInbox() throws {
        let home = try TestHome()
        let vault = try home.locked()
        #expect(try Decryptor.run(home.path, .passcode("right"), "open").lines.isEmpty)
        try vault.open.put(pattern(300), "plain", "c")
        try vault.open.put(pattern(300_000), "large")
        try vault.open.drop(pattern(500), "sealed", "s")
        vault.open.close()
        let items = try Decryptor.run(home.path, .passcode("right"), "open")
        #expect(items.status == 0 && items.errors == "" && items.lines.count == 3, "\(items.errors)")
        #expect(items.lines.filter { $0.contains("\"sealed\": true") }.count == 1)
        for (collection, name, bytes) in [("c", "plain", pattern(300)), ("s", "sealed", pattern(500))] {
            let got = try Decryptor.run(home.path, .passcode("right"), "open-get", collection, name)
            #expect(got.status == 0 && got.output == bytes, "\(got.errors)")
        }
        try vault.unlock("right")
        vault.lock()
        #expect(try Decryptor.run(home.path, .passcode("right"), "open").lines.isEmpty)
        let listed = try Decryptor.run(home.path, .passcode("right"), "list")
        #expect(listed.status == 0 && listed.lines.count == 3, "\(listed.errors)")
        #expect(
            listed.lines.allSatisfy { $0.contains("\"origin\": \"open\"") && $0.contains("\"collection\": \"inbox\"") })
        #expect(listed.text.contains("\"original\": {\"collection\": \"s\", \"name\": \"sealed\", \"sealed\": true}"))
        let sealed = try Decryptor.run(home.path, .passcode("right"), "get", "inbox", "sealed")
        #expect(sealed.output == pattern(500))
        #expect(try Decryptor.run(home.path, .passcode("right"), "verify").text.contains("\"intact\": true"))
    }
}
