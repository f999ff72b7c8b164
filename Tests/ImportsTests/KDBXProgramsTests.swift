import Foundation
import Items
import SecretMemory
import TestSupport
import Testing
import VaultFormat
import VaultStorage

@testable import Imports

/// The same values on both sides of KeePassXC and pykeepass. In `make check` alone: what is tried here are other
/// programs, which do not change with ours.
extension KDBXTests {
    /// A database of keepassxc-cli's with everything that its exports have.
    private func database(_ folder: borrowing ScratchFolder) throws -> String {
        let xml = """
            <?xml version="1.0" encoding="UTF-8"?><KeePassFile><Meta/><Root><Group><UUID>AAAAAAAAAAAAAAAAAAAAAQ==</UUID><Name>Root</Name>
            <Group><UUID>AAAAAAAAAAAAAAAAAAAAAg==</UUID><Name>Web</Name><Entry><UUID>AAAAAAAAAAAAAAAAAAAAAw==</UUID>
            <String><Key>Title</Key><Value>Mail, "new"</Value></String><String><Key>UserName</Key><Value>ad\u{e4}</Value></String>
            <String><Key>Password</Key><Value ProtectInMemory="True">p&lt;w&gt;,"1"</Value></String>
            <String><Key>URL</Key><Value>https://a.example</Value></String>
            <String><Key>Notes</Key><Value>one\ntwo</Value></String>
            <String><Key>PIN</Key><Value ProtectInMemory="True">1234</Value></String>
            <String><Key>otp</Key><Value ProtectInMemory="True">otpauth://totp/Ex:ada?secret=JBSWY3DPEHPK3PXP&amp;period=60&amp;digits=8&amp;issuer=Ex</Value></String>
            <Times><CreationTime>2020-01-02T03:04:05Z</CreationTime></Times></Entry></Group></Group></Root></KeePassFile>
            """
        try Data(xml.utf8).write(to: URL(fileURLWithPath: folder["in.xml"]))
        let path = folder["in.kdbx"]
        try #require(run(["import", "-q", "-p", "-t", "100", folder["in.xml"], path], input: "pw\npw\n").code == 0)
        try Data([7, 8, 9]).write(to: URL(fileURLWithPath: folder["b.bin"]))
        try #require(
            run(["attachment-import", "-q", path, "Web/Mail, \"new\"", "b.bin", folder["b.bin"]], input: "pw\n").code
                == 0)
        return path
    }

    @Test(.enabled(if: TestRun.isCheck, "SKIPPED: tries other programs, see make check"))
    func `a database of KeePassXC, its XML and its CSV have the same values`() throws {
        let folder = try ScratchFolder("kdbx")
        let path = try database(folder)
        var all = [
            "kdbx": try KDBXImport.read(
                secret(Array(Data(contentsOf: URL(fileURLWithPath: path)))), password: secret("pw"), keyFile: nil)
        ]
        for (form, format) in [("xml", ImportFormat.keepassXML), ("csv", .csv)] {
            let exported = try run(["export", "-q", "-f", form, path], input: "pw\n")
            try #require(exported.code == 0)
            let bytes = try secret(exported.output)
            #expect(bytes.withBytes(ImportFormat.detected) == format)
            all[form] = try format.read(bytes, password: nil, keyFile: nil)
        }
        for (form, read) in all {
            let mail = try #require(read.items.first)
            #expect(read.items.count == 1 && mail.name == "Web/Mail, \"new\"", "\(form): \(mail.name)")
            #expect(mail.text("username") == "ad\u{e4}" && mail.text("password") == "p<w>,\"1\"", "\(form)")
            #expect(mail.text("website") == "https://a.example" && mail.notes == "one\ntwo", "\(form)")
            let code = mail.texts.first { $0.hasPrefix("otpauth://") } ?? ""
            for part in ["secret=JBSWY3DPEHPK3PXP", "period=60", "digits=8"] { #expect(code.contains(part), "\(form)") }
            // The table has no column for them.
            #expect((mail.text("PIN") == "1234") == (form != "csv"), "\(form)")
        }
        #expect(all["kdbx"]?.items.first?.file == [7, 8, 9])
    }

    /// It knows AES-KDF in version 4 by its number of version 3 only, which neither KeePassXC nor we write.
    @Test(
        .enabled(if: TestRun.isCheck, "SKIPPED: tries other programs, see make check"),
        arguments: settings.indices.prefix(2))
    func `what is written has the same values in pykeepass`(_ index: Int) throws {
        let sealed = try export(KDBXTests.settings[index])
        let folder = try ScratchFolder("kdbx")
        try Data(sealed.withBytes { $0.array }).write(to: URL(fileURLWithPath: folder["a.kdbx"]))
        let script = """
            import json, sys
            from pykeepass import PyKeePass
            kp = PyKeePass(sys.argv[1], password=sys.argv[2])
            print(json.dumps([{'path': '/'.join(e.path), 'username': e.username, 'password': e.password, 'url': e.url,
                'notes': e.notes, 'otp': e.otp, 'tags': e.tags, 'own': e.custom_properties,
                'files': {a.filename: list(a.data) for a in e.attachments}} for e in kp.entries]))
            """
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        process.arguments = ["-c", script, folder["a.kdbx"], "pass w\u{f6}rd"]
        let output = Foundation.Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let said = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "\(String(decoding: said, as: UTF8.self))")
        let entries = try #require(JSONSerialization.jsonObject(with: said) as? [[String: Any]])
        #expect(entries.count == 2)
        let mail = try #require(entries.first { ($0["path"] as? String)?.hasPrefix("logins/") ?? false })
        #expect(mail["username"] as? String == "ad\u{e4}" && mail["password"] as? String == "a<b>&\"c\" \n d")
        #expect(mail["url"] as? String == "https://a.example" && mail["notes"] as? String == "one\ntwo")
        #expect((mail["otp"] as? String)?.contains("secret=JBSWY3DPEHPK3PXP") ?? false)
        #expect(mail["tags"] as? [String] == ["work"] && (mail["own"] as? [String: Any])?["PIN"] as? String == "1234")
        #expect((mail["files"] as? [String: [Int]])?["a.bin"] == [0, 1, 255], "\(mail)")
    }

    @Test(.enabled(if: TestRun.isCheck, "SKIPPED: tries other programs, see make check"), arguments: settings.indices)
    func `what KeePassXC saves again comes back with the same values`(_ index: Int) throws {
        let sealed = try export(KDBXTests.settings[index])
        let folder = try ScratchFolder("kdbx")
        let path = folder["a.kdbx"]
        try Data(sealed.withBytes { $0.array }).write(to: URL(fileURLWithPath: path))
        #expect(try run(["mkdir", "-q", path, "/another"], input: "pass w\u{f6}rd\n").code == 0)
        let bytes = try Array(Data(contentsOf: URL(fileURLWithPath: path)))
        #expect(bytes != sealed.withBytes { $0.array })
        let texts = { (read: Imported) in
            // The times of the items are those of the moment in which the export was made.
            Dictionary(uniqueKeysWithValues: read.items.map { ($0.name, $0.texts.sorted()) })
        }
        let before = try KDBXImport.read(sealed, password: secret("pass w\u{f6}rd"), keyFile: nil)
        let after = try KDBXImport.read(secret(bytes), password: secret("pass w\u{f6}rd"), keyFile: nil)
        #expect(texts(before) == texts(after) && before.items.count == 2)
    }
}
