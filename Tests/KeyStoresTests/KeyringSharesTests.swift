import Foundation
import KeyStores
import RealParts
import TestSupport
import Testing
import VaultFormat

/// Shares in the real gnome-keyring. Its file lies in the home of its user and can be put back.
@Suite(
    .enabled(if: SessionKeyring.isInstalled, "gnome-keyring or dbus-daemon is not installed: keyrings are not tested"))
struct KeyringSharesTests {
    let keyring: SessionKeyring

    init() throws { keyring = try SessionKeyring() }

    private func ask(_ words: String...) throws -> String {
        switch words.count {
        case 1: try askKeyring("shares", words[0], environment: keyring.environment)
        case 2: try askKeyring("shares", words[0], words[1], environment: keyring.environment)
        default: try askKeyring("shares", words[0], words[1], words[2], environment: keyring.environment)
        }
    }

    private func nonce(_ byte: UInt8) -> String { Hexadecimal.encode([UInt8](repeating: byte, count: 16)) }

    private static let locked = "unavailable(KeyStores.ShareObstacle.locked)"
    private static let gone = "lost(KeyStores.ShareLoss.notThere)"

    @Test func `a share is made once, read back and revoked`() throws {
        #expect(try ask("probe") == "done")
        let item = try ask("make", nonce(1), "7")
        let parsed = try ShareItem(.secretService, parsing: #require(Hexadecimal.decode(item)))
        #expect(parsed.place == .named(.secretService, backend: "gnome-keyring-d:login"), "what the item keeps")
        #expect(try ask("read", item) == "7 32")
        #expect(try ask("make", nonce(1), "8") == "nameTaken")
        #expect(try ask("read", item) == "7 32", "and nothing is replaced")
        let second = try ask("make", nonce(2), "9")
        #expect(try ask("revoke", item) == "gone")
        #expect(try ask("read", item) == KeyringSharesTests.gone)
        #expect(try ask("revoke", item) == "gone", "twice is fine")
        #expect(try ask("read", second) == "9 32")
    }

    @Test func `a locked keyring says so and loses nothing`() throws {
        let item = try ask("make", nonce(1), "7")
        try keyring.lock()
        #expect(try ask("probe") == KeyringSharesTests.locked)
        #expect(try ask("read", item) == KeyringSharesTests.locked)
        #expect(try ask("revoke", item) == KeyringSharesTests.locked)
        #expect(try ask("make", nonce(2), "7") == KeyringSharesTests.locked)
        try keyring.stop()
        try keyring.start()
        #expect(try ask("read", item) == "7 32")
    }

    @Test func `another default keyring does not make the old one's share lost`() throws {
        let item = try ask("make", nonce(1), "7")
        // The service's keyring for the session only, which is always open, becomes the default one.
        try keyring.bus.python(
            """
            s = bus.get_object('org.freedesktop.secrets', '/org/freedesktop/secrets')
            i = dbus.Interface(s, 'org.freedesktop.Secret.Service')
            login = i.ReadAlias('default')
            i.SetAlias('default', i.ReadAlias('session'))
            i.Lock([login])
            """)
        #expect(try ask("read", item) == KeyringSharesTests.locked)
        #expect(try ask("revoke", item) == KeyringSharesTests.locked)
    }

    @Test func `a keyring whose file was put back has what was revoked, and not what was made since`() throws {
        let old = try ask("make", nonce(1), "7")
        try keyring.stop()
        let copy = keyring.bus.folder + "/copy"
        try FileManager.default.copyItem(atPath: keyring.files, toPath: copy)
        try keyring.start()
        let new = try ask("make", nonce(2), "9")
        #expect(try ask("revoke", old) == "gone")
        #expect(try ask("read", old) == KeyringSharesTests.gone)
        try keyring.stop()
        try FileManager.default.removeItem(atPath: keyring.files)
        try FileManager.default.moveItem(atPath: copy, toPath: keyring.files)
        try keyring.start()
        #expect(try ask("read", old) == "7 32", "a keyring is a file: this is what it is worth")
        #expect(try ask("read", new) == KeyringSharesTests.gone)
    }

    @Test func `without a keyring program nothing is lost`() throws {
        let item = try ask("make", nonce(1), "7")
        try keyring.stop()
        for words in [["probe"], ["read", item], ["revoke", item]] {
            let answer = try words.count == 1 ? ask(words[0]) : ask(words[0], words[1])
            #expect(answer.hasPrefix("unavailable(KeyStores.ShareObstacle.absent("), "\(words[0]): \(answer)")
        }
    }

    @Test(
        .enabled(if: SessionKeyring.canPlayAnother, "python3-dbus or python3-gi is missing: no other keyring is played")
    )
    func `another program in the keyring's place is named, and nothing is lost`() throws {
        let item = try ask("make", nonce(1), "7")
        try keyring.stop()
        try keyring.startAnother()
        let other =
            "unavailable(KeyStores.ShareObstacle.otherBackend(kept: \"gnome-keyring-d:login\", found: \"python3:other\"))"
        #expect(try ask("read", item) == other)
        #expect(try ask("revoke", item) == other)
        #expect(try ask("probe") == "done", "it is one, and new shares could go into it")
    }

    /// The service's keyring for the session only, which is always open, becomes the default one.
    private func otherDefault() throws {
        try keyring.bus.python(
            """
            s = bus.get_object('org.freedesktop.secrets', '/org/freedesktop/secrets')
            i = dbus.Interface(s, 'org.freedesktop.Secret.Service')
            i.SetAlias('default', i.ReadAlias('session'))
            """)
    }

    /// A keyring that reads its file again names none of its items for a moment.
    @Test func `no floor is only where every keyring could be asked`() throws {
        #expect(try ask("floor") == "none")
        try keyring.lock()
        try otherDefault()
        let answer = try ask("floor")
        #expect(answer == KeyringSharesTests.locked, "\(answer)")
    }

    @Test func `a floor in a locked keyring is not absent`() throws {
        #expect(try ask("floor") == "none")
        #expect(try ask("raise", "1") == "done")
        let raised = try ask("floor")
        #expect(raised.hasPrefix("floor(") && raised.contains("owner"))
        #expect(try ask("raise", "2") == "done")
        #expect(try ask("floor").contains("secret"))
        try keyring.lock()
        #expect(try ask("floor") == KeyringSharesTests.locked)
        #expect(try ask("raise", "0") == KeyringSharesTests.locked)
        #expect(try ask("forget") == KeyringSharesTests.locked)
        // Behind another default keyring, which is open.
        try otherDefault()
        let behind = try ask("floor")
        #expect(behind == KeyringSharesTests.locked, "\(behind)")
        try keyring.stop()
        #expect(try ask("floor").hasPrefix("unavailable("), "no keyring is not a keyring without a floor")
        try keyring.start()
        #expect(try ask("floor").contains("secret"))
        #expect(try ask("forget") == "done")
        #expect(try ask("floor") == "none")
    }
}
