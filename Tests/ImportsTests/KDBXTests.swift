import Cryptography
import Foundation
import Items
import SecretMemory
import TestSupport
import Testing
import VaultFormat

@testable import Imports

/// Databases of KeePass: ours are read by KeePassXC and by us, its own by us, and changed ones by nobody.
@Suite(.seeded) struct KDBXTests {
    /// KeePassXC's command; `scripts/bootstrap --test` installs it.
    private static let cli = "/usr/bin/keepassxc-cli"

    func run(_ words: [String], input: String) throws -> (code: Int32, output: String) {
        let scratch = try ScratchFolder("keepassxc")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: KDBXTests.cli)
        process.arguments = words
        process.environment = ["HOME": scratch.path, "LANG": "C.UTF-8", "QT_QPA_PLATFORM": "offscreen"]
        let (give, take, errors) = (Foundation.Pipe(), Foundation.Pipe(), Foundation.Pipe())
        process.standardInput = give
        process.standardOutput = take
        process.standardError = errors
        try process.run()
        give.fileHandleForWriting.write(Data(input.utf8))
        try give.fileHandleForWriting.close()
        let output = take.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }

    func export(_ change: (inout KDBXExport.Settings) -> Void) throws -> SecretBytes {
        var settings = KDBXExport.Settings()
        settings.memoryKiB = 1 << 10
        change(&settings)
        return try KDBXTests.filled().seal(password: secret("pass w\u{f6}rd"), settings: settings)
    }

    /// With two items, one of them with everything.
    static func filled() throws -> KDBXExport {
        var item = try Item(.login)
        try item.add(.text, "username", secret("ad\u{e4}"))
        try item.add(.secret, "password", secret("a<b>&\"c\" \n d"))
        try item.add(.url, "website", secret("https://a.example"))
        try item.add(.secret, "PIN", secret("1234"))
        try item.add(.oneTimeCode, "code", secret("otpauth://totp/x?secret=JBSWY3DPEHPK3PXP"))
        try secret([0, 1, 255]).withBytes { try item.addFile("file", name: "a.bin", content: $0) }
        try item.setNotes(secret("one\ntwo"))
        try item.addTag("work")
        let root = KDBXGroup()
        root.add(EntryPath(collection: "logins", name: "web/mail"), item)
        root.add(EntryPath(name: "bank"), try Item(.note))
        var export = try KDBXExport(title: "t<t")
        try export.append(root)
        return export
    }

    static let settings: [@Sendable (inout KDBXExport.Settings) -> Void] = [
        { _ in }, { $0.isChaCha20 = false }, { $0.aesRounds = 1000 },
        { settings in
            settings.isChaCha20 = false
            settings.aesRounds = 10
        },
    ]

    @Test(arguments: settings.indices)
    func `what is written is read by KeePassXC and by us`(_ index: Int) throws {
        let sealed = try export(KDBXTests.settings[index])
        let folder = try ScratchFolder("kdbx")
        let path = folder["a.kdbx"]
        let bytes = sealed.withBytes { $0.array }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        let shown = try run(["show", "-q", "-s", "--all", path, "/logins/web/mail"], input: "pass w\u{f6}rd\n")
        #expect(shown.code == 0, "\(shown.output)")
        for text in ["UserName: ad\u{e4}", "Password: a<b>&\"c\"", "URL: https://a.example", "PIN: 1234", "work"] {
            #expect(shown.output.contains(text), "\(text)")
        }
        let code = try run(["show", "-q", "-t", path, "/logins/web/mail"], input: "pass w\u{f6}rd\n")
        #expect(code.code == 0 && code.output.wholeMatch(of: /[0-9]{6}\n/) != nil)
        let read = try KDBXImport.read(sealed, password: secret("pass w\u{f6}rd"), keyFile: nil)
        #expect(read.items.map(\.name).sorted() == ["bank", "logins/web/mail"] && read.notes.isEmpty)
        let mail = try #require(read.items.first { $0.name == "logins/web/mail" })
        #expect(mail.text("password") == "a<b>&\"c\" \n d" && mail.text("username") == "ad\u{e4}")
        #expect(mail.has(.oneTimeCode) && mail.tags == ["work"])
        #expect(mail.file == [0, 1, 255])
    }

    /// KeePassXC changes an entry of ours, and what it has no place for is still there.
    @Test(arguments: TestRun.kinds([true, false], of: "keepassxc changes"))
    func `what KeePassXC saves again comes back with kinds, expiry and earlier values`(_ isChanged: Bool) throws {
        var item = try Item(.card, now: 1_600_000_000_123)
        try item.add(.secret, "number", secret("4111"))
        try item.add(.date, "expires", secret("2031-12"))
        try item.add(.text, "username", secret("ada"))
        try item.add(.url, "website", secret("https://a.example"))
        try item.add(.url, "second", secret("https://b.example"))
        for code in ["A", "B"] {
            try item.add(.oneTimeCode, code, secret("otpauth://totp/\(code)?secret=JBSWY3DPEHPK3PXP"))
        }
        try secret([]).withBytes { try item.addFile("scan", name: "a.bin", content: $0) }
        for number in ["4222", "{PASSWORD}"] { try item.set(item.fields[0], secret(number)) }
        try item.addTag("a;b")
        item.isFavourite = true
        let root = KDBXGroup()
        root.add(EntryPath(name: "card"), item)
        var export = try KDBXExport(title: "t")
        try export.append(root)
        var settings = KDBXExport.Settings()
        settings.aesRounds = 1000
        let folder = try ScratchFolder("kdbx")
        let path = folder["a.kdbx"]
        let sealed = try export.seal(password: secret("pw"), settings: settings)
        try Data(sealed.withBytes { $0.array }).write(to: URL(fileURLWithPath: path))
        let words = isChanged ? ["edit", "-q", "-u", "eve", path, "card"] : ["mkdir", "-q", path, "group"]
        #expect(try run(words, input: "pw\n").code == 0)
        let xml = try run(["export", "-q", "-f", "xml", path], input: "pw\n").output
        #expect(
            xml.contains("<Expires>True</Expires>") && xml.contains("<Key>KP2A_URL</Key>")
                && xml.contains(">4111</Value>"))
        let bytes = try secret(Array(Data(contentsOf: URL(fileURLWithPath: path))))
        let read = try KDBXImport.read(bytes, password: secret("pw"), keyFile: nil)
        let card = try #require(read.items.first)
        #expect(
            read.notes.isEmpty && card.item.kind == .card && card.item.isFavourite && card.item.tags == ["a;b"],
            "\(read.notes)")
        #expect(
            card.item.fields.map(\.label) == ["number", "expires", "username", "website", "second", "A", "B", "scan"])
        #expect(
            card.text("expires") == "2031-12" && card.text("number") == "{PASSWORD}"
                && card.item.created == 1_600_000_000_123)
        #expect(
            card.item.fields.map(\.kind) == [.secret, .date, .text, .url, .url, .oneTimeCode, .oneTimeCode, .file]
                && card.file == [])
        #expect(card.earlier == ["number", "number"] + (isChanged ? ["username"] : []), "\(card.earlier)")
        #expect(card.text("username") == (isChanged ? "eve" : "ada"))
    }

    /// KeePassXC writes version 4 where an entry has data of other programs; the inner stream is ChaCha20 and the
    /// values protected.
    @Test func `a database of KeePassXC is read, with its history and files`() throws {
        let folder = try ScratchFolder("kdbx")
        let xml = """
            <?xml version="1.0" encoding="UTF-8"?><KeePassFile><Meta/><Root><Group><UUID>AAAAAAAAAAAAAAAAAAAAAQ==</UUID><Name>Root</Name>
            <Group><UUID>AAAAAAAAAAAAAAAAAAAAAg==</UUID><Name>Web</Name><Entry><UUID>AAAAAAAAAAAAAAAAAAAAAw==</UUID>
            <CustomData><Item><Key>x</Key><Value>y</Value></Item></CustomData>
            <String><Key>Title</Key><Value>Mail</Value></String><String><Key>UserName</Key><Value>ada</Value></String>
            <String><Key>Password</Key><Value ProtectInMemory="True">first</Value></String>
            <String><Key>PIN</Key><Value ProtectInMemory="True">1234</Value></String>
            <Times><CreationTime>2020-01-02T03:04:05Z</CreationTime></Times></Entry></Group></Group></Root></KeePassFile>
            """
        try Data(xml.utf8).write(to: URL(fileURLWithPath: folder["a.xml"]))
        let path = folder["a.kdbx"]
        #expect(try run(["import", "-q", "-p", folder["a.xml"], path], input: "pw\npw\n").code == 0)
        try Data([7, 8, 9]).write(to: URL(fileURLWithPath: folder["b.bin"]))
        #expect(
            try run(["attachment-import", "-q", path, "Web/Mail", "b.bin", folder["b.bin"]], input: "pw\n").code == 0)
        #expect(try run(["edit", "-q", "-p", path, "Web/Mail"], input: "pw\nsecond\n").code == 0)
        let bytes = try secret(Array(Data(contentsOf: URL(fileURLWithPath: path))))
        let read = try KDBXImport.read(bytes, password: secret("pw"), keyFile: nil)
        let mail = try #require(read.items.first)
        #expect(read.items.count == 1 && mail.name == "Web/Mail" && mail.text("password") == "second")
        #expect(mail.text("PIN") == "1234" && mail.kind("PIN") == .secret)
        #expect(mail.earlier == ["password"])
        #expect(mail.file == [7, 8, 9])
        #expect(throws: ImportError.self) { _ = try KDBXImport.read(bytes, password: secret("wrong"), keyFile: nil) }
    }

    private static let keyFile =
        "<?xml version=\"1.0\"?><KeyFile><Meta><Version>2.0</Version></Meta><Key><Data Hash=\"630DCD29\">"
        + "000102030405060708090A0B0C0D0E0F 101112131415161718191A1B1C1D1E1F</Data></Key></KeyFile>"

    @Test func `pykeepass reads what is written, with expiry and earlier versions`() throws {
        var item = try Item(.login)
        try item.add(.secret, "password", secret("one"))
        try item.add(.date, "expires", secret("2031-12-24"))
        try item.set(item.fields[0], secret("two"))
        let root = KDBXGroup()
        root.add(EntryPath(name: "mail"), item)
        var export = try KDBXExport(title: "t")
        try export.append(root)
        var settings = KDBXExport.Settings()
        settings.memoryKiB = 1 << 10
        let folder = try ScratchFolder("kdbx")
        let sealed = try export.seal(password: secret("pw"), settings: settings)
        try Data(sealed.withBytes { $0.array }).write(to: URL(fileURLWithPath: folder["a.kdbx"]))
        let script = """
            import sys
            from pykeepass import PyKeePass
            kp = PyKeePass(sys.argv[1], password='pw')
            e = kp.find_entries(title='mail', first=True)
            assert e.password == 'two' and e.expires and e.expiry_time.strftime('%Y-%m-%d') == '2031-12-24'
            assert [old.password for old in e.history] == ['one']
            """
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        process.arguments = ["-c", script, folder["a.kdbx"]]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }

    /// pykeepass writes version 4 with Argon2d and AES.
    @Test(arguments: TestRun.kinds([(true, false), (false, true), (true, true)], of: "pykeepass"))
    func `a database of pykeepass is read, by password, by key file and by both`(_ hasPassword: Bool, _ hasFile: Bool)
        throws
    {
        let folder = try ScratchFolder("kdbx")
        let key = folder["a.keyx"]
        try Data(KDBXTests.keyFile.utf8).write(to: URL(fileURLWithPath: key))
        let script = """
            import sys
            from pykeepass import create_database
            path, password, key = sys.argv[1:]
            kp = create_database(path, password=password or None, keyfile=key or None)
            e = kp.add_entry(kp.add_group(kp.root_group, 'Web'), 'Mail', 'ada', 's3cret', url='https://a.example', notes='n\\nm', tags=['t1'])
            e.set_custom_property('PIN', '1234')
            e.add_attachment(kp.add_binary(b'\\x07\\x08\\x09'), 'b.bin')
            kp.save()
            """
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        process.arguments = ["-c", script, folder["a.kdbx"], hasPassword ? "p\u{f6}w" : "", hasFile ? key : ""]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "python3-pykeepass is needed (scripts/bootstrap --test)")
        let bytes = try secret(Array(Data(contentsOf: URL(fileURLWithPath: folder["a.kdbx"]))))
        func read(_ password: String?, _ file: String?) throws(ImportError) -> Imported {
            let password: SecretBytes? = password == nil ? nil : try! secret(password ?? "")
            let file: SecretBytes? = file == nil ? nil : try! secret(file ?? "")
            return try KDBXImport.read(bytes, password: password, keyFile: file)
        }
        let right = try read(hasPassword ? "p\u{f6}w" : nil, hasFile ? KDBXTests.keyFile : nil)
        let mail = try #require(right.items.first)
        #expect(right.items.map(\.name) == ["Web/Mail"] && right.notes.isEmpty, "\(right.notes)")
        #expect(mail.text("username") == "ada" && mail.text("password") == "s3cret" && mail.text("PIN") == "1234")
        #expect(mail.notes == "n\nm" && mail.tags == ["t1"] && mail.file == [7, 8, 9])
        #expect(throws: ImportError.self) { try read("wrong", hasFile ? KDBXTests.keyFile : nil) }
        #expect(throws: ImportError.self) { try read(hasPassword ? "p\u{f6}w" : nil, "another file") }
    }

    /// KeePassXC's own key file, which it writes where there is none.
    @Test func `a database that KeePassXC made with a key file alone or beside a password is read`() throws {
        let folder = try ScratchFolder("kdbx")
        for hasPassword in [true, false] {
            let (path, key) = (folder["\(hasPassword).kdbx"], folder["\(hasPassword).keyx"])
            let words = ["db-create", "-q", "-t", "100", "--set-key-file", key] + (hasPassword ? ["-p"] : []) + [path]
            #expect(try run(words, input: hasPassword ? "pw\npw\n" : "").code == 0)
            let bytes = try secret(Array(Data(contentsOf: URL(fileURLWithPath: path))))
            let file: SecretBytes? = try secret(Array(Data(contentsOf: URL(fileURLWithPath: key))))
            let password: SecretBytes? = hasPassword ? try secret("pw") : nil
            let read = try KDBXImport.read(bytes, password: password, keyFile: file)
            #expect(read.items.isEmpty)
            #expect(throws: ImportError.self) { _ = try KDBXImport.read(bytes, password: secret("pw"), keyFile: nil) }
        }
    }

    /// What KeePassXC writes where nothing asks for version 4.
    private func third(_ folder: borrowing ScratchFolder) throws -> [UInt8] {
        let xml = """
            <?xml version="1.0" encoding="UTF-8"?><KeePassFile><Meta/><Root><Group><UUID>AAAAAAAAAAAAAAAAAAAAAQ==</UUID><Name>Root</Name>
            <Group><UUID>AAAAAAAAAAAAAAAAAAAAAg==</UUID><Name>Web</Name>
            <Entry><UUID>AAAAAAAAAAAAAAAAAAAAAw==</UUID>
            <String><Key>Title</Key><Value>Mail</Value></String><String><Key>UserName</Key><Value>ada</Value></String>
            <String><Key>Password</Key><Value ProtectInMemory="True">first</Value></String>
            <String><Key>PIN</Key><Value ProtectInMemory="True">1234</Value></String>
            <Times><CreationTime>2020-01-02T03:04:05Z</CreationTime></Times></Entry>
            <Entry><UUID>AAAAAAAAAAAAAAAAAAAABA==</UUID><String><Key>Title</Key><Value>Bank</Value></String></Entry>
            </Group></Group></Root></KeePassFile>
            """
        try Data(xml.utf8).write(to: URL(fileURLWithPath: folder["a.xml"]))
        let path = folder["a.kdbx"]
        #expect(try run(["import", "-q", "-p", "-t", "100", folder["a.xml"], path], input: "pw\npw\n").code == 0)
        for (entry, name, content) in [("Web/Mail", "b.bin", [7, 8, 9] as [UInt8]), ("Web/Bank", "c.bin", [1])] {
            try Data(content).write(to: URL(fileURLWithPath: folder[name]))
            #expect(try run(["attachment-import", "-q", path, entry, name, folder[name]], input: "pw\n").code == 0)
        }
        #expect(try run(["edit", "-q", "-p", path, "Web/Mail"], input: "pw\nsecond\n").code == 0)
        let bytes = try Array(Data(contentsOf: URL(fileURLWithPath: path)))
        #expect(bytes[8...11].elementsEqual([1, 0, 3, 0]), "version \(bytes[8...11])")
        return bytes
    }

    @Test func `a database of version 3 is read, with its history and files`() throws {
        let folder = try ScratchFolder("kdbx")
        let bytes = try third(folder)
        let read = try KDBXImport.read(secret(bytes), password: secret("pw"), keyFile: nil)
        #expect(read.items.map(\.name).sorted() == ["Web/Bank", "Web/Mail"] && read.notes.isEmpty, "\(read.notes)")
        let mail = try #require(read.items.first { $0.name == "Web/Mail" })
        #expect(mail.text("password") == "second" && mail.text("username") == "ada" && mail.text("PIN") == "1234")
        #expect(mail.earlier == ["password"] && mail.file == [7, 8, 9])
        #expect(read.items.first { $0.name == "Web/Bank" }?.file == [1])
        func kind(_ bytes: [UInt8], _ password: String = "pw") throws -> ImportError.Kind? {
            do throws(ImportError) {
                _ = try KDBXImport.read(try! secret(bytes), password: try! secret(password), keyFile: nil)
                return nil
            } catch { return error.kind }
        }
        #expect(try kind(bytes, "wrong") == .wrongPassword)
        // Not the high bytes of the rounds: hundreds of millions of them are allowed, and take their time.
        let rounds = try #require((12..<300).first { bytes[$0...].starts(with: [6, 8, 0]) })
        // Each costs a tenth of a second, the least that KeePassXC takes for a derivation.
        var generator = TestRun.generator("version 3")
        let indices = Array(stride(from: 12, to: bytes.count, by: 67))
        for index in TestRun.sample(indices, indices.count, using: &generator)
        where !(rounds + 4...rounds + 10).contains(index) {
            var changed = bytes
            changed[index] ^= 0x10
            #expect(try kind(changed) != nil, "byte \(index)")
        }
        for end in stride(from: 0, to: bytes.count, by: 211) { #expect(try kind(Array(bytes[..<end])) != nil) }
        #expect(try kind(bytes + [UInt8](repeating: 0, count: 16)) != nil)
    }

    @Test func `files of one database are numbered, limited, and never two of one number`() throws {
        func read(_ binaries: String) throws(ImportError) -> Imported {
            let xml =
                "<KeePassFile><Meta><Binaries>\(binaries)</Binaries></Meta><Root><Group><Name>R</Name><Entry>"
                + "<String><Key>Title</Key><Value>T</Value></String>"
                + "<Binary><Key>n</Key><Value Ref=\"5\"/></Binary></Entry></Group></Root></KeePassFile>"
            return try KeePassTree.read(export: try! secret(xml))
        }
        #expect(
            try read("<Binary ID=\"0\">AA==</Binary><Binary ID=\"5\">BwgJ</Binary>").items.first?.file == [7, 8, 9])
        for wrong in ["<Binary>AA==</Binary>", "<Binary ID=\"x\"/>", "<Binary ID=\"1\"/><Binary ID=\"1\"/>"] {
            #expect(throws: ImportError.self, "\(wrong)") { try read(wrong) }
        }
    }

    @Test func `a wrong password, a changed byte and a cut are errors, and nothing is read`() throws {
        let sealed = try export { $0.aesRounds = 1 }
        let bytes = sealed.withBytes { $0.array }
        func kind(_ bytes: [UInt8], _ password: String) throws -> ImportError.Kind? {
            do throws(ImportError) {
                _ = try KDBXImport.read(try! secret(bytes), password: try! secret(password), keyFile: nil)
                return nil
            } catch { return error.kind }
        }
        #expect(try kind(bytes, "wrong") == .wrongPassword)
        for index in stride(from: 0, to: bytes.count, by: 7) {
            var changed = bytes
            changed[index] ^= 0x40
            #expect(try kind(changed, "pass w\u{f6}rd") != nil, "byte \(index)")
        }
        for end in stride(from: 0, to: bytes.count, by: 11) {
            #expect(try kind(Array(bytes[..<end]), "pass w\u{f6}rd") != nil, "\(end) bytes")
        }
        #expect(try kind(bytes + [0], "pass w\u{f6}rd") == .malformed)
    }

    @Test func `costs beyond the limits are refused before any is spent`() throws {
        #expect(throws: ImportError.self) { _ = try export { $0.aesRounds = 600_000_000 } }
        #expect(throws: ImportError.self) { _ = try export { $0.memoryKiB = 4 << 20 } }
        #expect(throws: ImportError.self) { _ = try export { $0.passes = 1 << 30 } }
    }

    @Test func `Salsa20 is the one of its submission`() throws {
        // Set 1, vector 0 of the 256-bit test vectors: the key begins with 80.
        var key = [UInt8](repeating: 0, count: 32)
        key[0] = 0x80
        let stream = try unsafe Salsa20.stream(8, key: secret(key), nonce: [UInt8](repeating: 0, count: 8).span.bytes)
        #expect(stream.withBytes { $0.array } == [0xE3, 0xBE, 0x8F, 0xDD, 0x8B, 0xEC, 0xA2, 0xE3])
    }

    @Test func `key files of every form give their key`() throws {
        let key = [UInt8](0..<32)
        let digits = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
        let one =
            "<?xml version=\"1.0\"?><KeyFile><Meta><Version>1.00</Version></Meta><Key><Data>AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=</Data></Key></KeyFile>"
        let two =
            "<KeyFile><Meta><Version>2.0</Version></Meta><Key><Data Hash=\"630DCD29\">\(digits.prefix(32))\n  \(digits.suffix(32))</Data></Key></KeyFile>"
        for text in [one, two, digits] {
            let found = try KeyFile.key(secret(text))
            #expect(found.withBytes { $0.array } == key)
        }
        let raw = try KeyFile.key(secret(key))
        #expect(raw.withBytes { $0.array } == key)
        #expect(throws: ImportError.self) {
            _ = try KeyFile.key(secret(two.replacingOccurrences(of: "630DCD29", with: "630DCD28")))
        }
    }
}
