import Foundation
import Items
import TestSupport
import Testing
import VaultFormat

@testable import Imports

#if os(Linux) && !canImport(Darwin)
/// SSH keys of other programs: those that the agent offers are stored as OpenSSH writes them, all others are noted.
@Suite struct SSHKeyTests {
    /// Made by OpenSSL for this test.
    static let ed25519 = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEIAHIQrS7NQvtZzHk16s4OwzESA7W6hdmYAjB/Io6FiF1
        -----END PRIVATE KEY-----
        """
    static let ed25519Public =
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOWWWssdfdV++C3DVjW0k2QaqXC6xRmPc9P1EO2EibCH"
    static let p256 = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgBWEgm2FVYaKJCIpn
        3Ogvx8kIXBvI8xDnLTcB0VocRg6hRANCAASwjMvhGQG1DbVgzfqVoE3fa6MbFJDr
        +z5mhlGwldSMxrtC+FOl0RJCcJua9Tj//n0n47d1YCg9gshbssjKJ1uC
        -----END PRIVATE KEY-----
        """
    static let p256OfOpenSSL = """
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEIAVhIJthVWGiiQiKZ9zoL8fJCFwbyPMQ5y03AdFaHEYOoAoGCCqGSM49
        AwEHoUQDQgAEsIzL4RkBtQ21YM36laBN32ujGxSQ6/s+ZoZRsJXUjMa7QvhTpdES
        QnCbmvU4//59J+O3dWAoPYLIW7LIyidbgg==
        -----END EC PRIVATE KEY-----
        """
    static let p256Public =
        "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBLCMy+EZAbUNtWDN+pWgTd9roxsUkOv7PmaGUbCV1IzGu0L4U6XREkJwm5r1OP/+fSfjt3VgKD2CyFuyyMonW4I="
    /// Made by ssh-keygen, from a public report.
    static let openSSH = """
        -----BEGIN OPENSSH PRIVATE KEY-----
        b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW
        QyNTUxOQAAACB2vbgmZ36bEk43VbmCy0RyWJm5qAqhKkqcJqFEmHDowwAAAJCE8kxZhPJM
        WQAAAAtzc2gtZWQyNTUxOQAAACB2vbgmZ36bEk43VbmCy0RyWJm5qAqhKkqcJqFEmHDoww
        AAAEDD3659E7SD+A1YKMD/dpOGabWMS02/h+/e7EgT31siYHa9uCZnfpsSTjdVuYLLRHJY
        mbmoCqEqSpwmoUSYcOjDAAAACWtfZWQyNTUxOQECAwQ=
        -----END OPENSSH PRIVATE KEY-----
        """
    static let rsa = """
        -----BEGIN OPENSSH PRIVATE KEY-----
        b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAABFwAAAAdzc2gtcn
        NhAAAAAwEAAQAAAQEAwJB2IFNDuANxnkjw/qCaWJ0lGDn5R666HgB97W2aMRpM+crao6OR
        aZtdBNvv+9GuCOzBCWdveJyfW3f654y9RUcgz6b00kkC5jOt1PAaerKpfgk+rwuAUkdPPB
        qr5qRJlLv3cD34BwJJYLP7uxqYecLcj4NwmUOwKAg8YAHz840cvccEDN649NiFn8Sur2NS
        YoqTFAA/bg3prc/bfUzg+BreMccXwQAEz/72V3gugWfPcnEwaKz1QNtuXSGKapL+hkYvxA
        1LDTcSbbW9dCffhkKJfmk2CyU/nLCUGio1EUux6dNQgnuZ5cldsN7A5wnib7jREKUi3U+s
        PHH+/ttjewAAA8CcexwtnHscLQAAAAdzc2gtcnNhAAABAQDAkHYgU0O4A3GeSPD+oJpYnS
        UYOflHrroeAH3tbZoxGkz5ytqjo5Fpm10E2+/70a4I7MEJZ294nJ9bd/rnjL1FRyDPpvTS
        SQLmM63U8Bp6sql+CT6vC4BSR088GqvmpEmUu/dwPfgHAklgs/u7Gph5wtyPg3CZQ7AoCD
        xgAfPzjRy9xwQM3rj02IWfxK6vY1JiipMUAD9uDemtz9t9TOD4Gt4xxxfBAATP/vZXeC6B
        Z89ycTBorPVA225dIYpqkv6GRi/EDUsNNxJttb10J9+GQol+aTYLJT+csJQaKjURS7Hp01
        CCe5nlyV2w3sDnCeJvuNEQpSLdT6w8cf7+22N7AAAAAwEAAQAAAQAM23IEe7eN/5Td5H4X
        nwuPMFB78WsAHhEWB1X6vPjkBgVVUsKnogU66U4cEL9RfGrDwWMS+95vTcdwgqG0q8Rh1G
        HDDtSFfq1JFFkRjawgiYtT+5pwcsxXmHFLtxAuCMW5vsjC35bCIqUmZf4NCRwpjRkC8A8o
        yWJnc3bshiGoUj1zDWKwhBg+76NCZ9Qq6DgIJ0wB8+8DanDJujquZt3XKLCmP1C2AeYY/8
        Fn6LycPOQIZ+kRd2FEbHUaGcEBS1y3fZVyPtJVm/L56if0FS5o+5IIh6g714bestyRuhrY
        jUYhRkxfqMxDKHjNAqtX6X3dX4ituw9j65ee6jySW3RhAAAAgCko7RYxmaera5Fi8BKEfB
        3amEubxOUlb8ELcw3TZGMQIcNxcQf5eIZp+VGv2yolLF/pRBU/h9gRl07Ulkfc482s8cQL
        EJBjFGUuQltNofa4KXOX1h70QcngZDZ+pGwF7B/cT+PoGn7Mku3aakI8IBQClkAnfkB+oE
        cKKwLKFUUTAAAAgQDjHHIKEzxI8hwGxpNa5umDnSViynmA64bcccH6Efj9ysHmPigHvzFv
        pASy0VCbkUr9Mp3cgnu2fiNa9c5kXqDNynljqxzOXFqoI1TZY+AZjZy/eLrK9yzzPNf2P/
        SIHqYWMKdlg758txE2c7K7NgkbJjcwNaUGMc3Nd2bP8VKrUQAAAIEA2Q8MKpLwMOgruQiW
        TliVJ+WliHv7t93oMNp7HjDiujAi6SdmKhSt/XRd6CM9dYMaUC2xVTMHNVdhjae451D4cx
        jTll2zVx45A/nJs7DIbdH3V5tRBngtWsPJNuj+uwg9SqbtsNJTEDKApcEF82d/QLyeO8rn
        YZyaAyEXAhZd1wsAAAAKa19yc2FiMjA0OAE=
        -----END OPENSSH PRIVATE KEY-----
        """

    private func item(_ key: String, told: String?) throws -> ImportedItem {
        let item = try ImportedItem(.sshKey, path: ["k"], place: "line 1")
        try item.addKey(secret(key), told: told)
        return item
    }

    @Test(arguments: [(ed25519, ed25519Public), (p256, p256Public), (p256OfOpenSSL, p256Public)])
    func `a key in another form gets OpenSSH's`(_ key: String, _ line: String) throws {
        for told in [nil, line, line + " ada@host"] {
            let item = try item(key, told: told)
            let text = try #require(item.text("private key"))
            #expect(text.hasPrefix("-----BEGIN OPENSSH PRIVATE KEY-----\n") && item.text("public key") == told ?? line)
            #expect(item.remarks.map(\.1) == ["an SSH key in another form than OpenSSH's, which has that form now"])
            // It is one of OpenSSH's now, and the same.
            let again = try self.item(text, told: nil)
            #expect(again.remarks.isEmpty && again.text("public key") == line && again.text("private key") == text)
            try #expect(publicKey(of: text) == line)
        }
    }

    /// By OpenSSL, whose output is different each time.
    @Test(arguments: [
        "genrsa -traditional 2048", "genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048",
        "ecparam -genkey -noout -name secp384r1", "ecparam -genkey -noout -name secp521r1",
        "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-521",
        "ecparam -genkey -name prime256v1",
    ])
    func `a key that OpenSSL makes gets OpenSSH's form`(_ words: String) throws {
        let key = try run("/usr/bin/openssl", words.split(separator: " ").map(String.init))
        let item = try item(key, told: nil)
        let text = try #require(item.text("private key"))
        #expect(text.hasPrefix("-----BEGIN OPENSSH PRIVATE KEY-----\n") && item.remarks.count == 1)
        try #expect(publicKey(of: text) == item.text("public key") && publicKey(of: key) == item.text("public key"))
    }

    @Test func `a key of RSA that is too small is kept and said`() throws {
        let key = try run("/usr/bin/openssl", ["genrsa", "1024"])
        let item = try item(key, told: "told")
        #expect(item.text("private key") == key && item.remarks.map(\.1).joined().contains("2,048 to 4,096 bits"))
    }

    /// As ssh-keygen says it.
    private func publicKey(of text: String) throws -> String {
        let folder = try ScratchFolder("key")
        _ = FileManager.default.createFile(
            atPath: folder["k"], contents: Data(text.utf8), attributes: [.posixPermissions: 0o600])
        return try run("/usr/bin/ssh-keygen", ["-y", "-f", folder["k"]]).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private func run(_ program: String, _ words: [String]) throws -> String {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = words
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return text
    }

    @Test func `a key as OpenSSH writes it stays as it is`() throws {
        for (key, kind) in [(SSHKeyTests.openSSH, "ssh-ed25519"), (SSHKeyTests.rsa, "ssh-rsa")] {
            let item = try item(key, told: nil)
            #expect(item.remarks.isEmpty && item.text("private key") == key)
            let line = try #require(item.text("public key"))
            #expect(try line.hasPrefix("\(kind) AAAA") && line == publicKey(of: key + "\n"))
        }
    }

    @Test func `a public key that is another one's is said`() throws {
        let item = try item(SSHKeyTests.openSSH, told: SSHKeyTests.ed25519Public)
        #expect(item.text("public key") == SSHKeyTests.ed25519Public && item.text("private key") == SSHKeyTests.openSSH)
        #expect(item.remarks.map(\.1) == ["an SSH key whose public key belongs to another one"])
    }

    @Test(arguments: [
        ("x", "no private key"), ("-----BEGIN PRIVATE KEY-----\nMA==\n-----END PRIVATE KEY-----", "no private key"),
        ("-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIGj\n-----END ENCRYPTED PRIVATE KEY-----", "with a passphrase"),
    ])
    func `a key that the agent does not offer is kept and said`(_ key: String, _ words: String) throws {
        let item = try item(key, told: "told")
        #expect(item.text("private key") == key && item.text("public key") == "told")
        #expect(item.remarks.count == 1 && item.remarks[0].1.contains(words), "\(item.remarks)")
    }

    @Test func `a changed text is kept whatever it is`() throws {
        var (all, kept) = (0, 0)
        for key in [SSHKeyTests.ed25519, SSHKeyTests.p256, SSHKeyTests.p256OfOpenSSL, SSHKeyTests.openSSH] {
            for index in key.utf8.indices {
                var bytes = Array(key.utf8)
                bytes[key.utf8.distance(from: key.startIndex, to: index)] ^= 1
                all += 1
                let read = try item(String(decoding: bytes, as: UTF8.self), told: nil)
                kept += read.kind("private key") == .secret ? 1 : 0
            }
        }
        #expect(kept == all)
    }
}
#endif
