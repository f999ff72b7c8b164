import Foundation
import Testing

/// `import` and `export` from the command line.
@Suite struct ImportTests {
    private let table = "name,url,username,password,note\nMail,https://a.example,ada,s3cret,\nBank,,bob,other,note\n"

    @Test func `a weak password of the new file is asked for again before it is repeated`() throws {
        let sandbox = try Sandbox(prepared: true)
        let terminal = try PseudoTerminal()
        let child = try sandbox.start("export", sandbox.path + "/out.kdbx", on: terminal)
        for (prompt, answer) in [
            ("Passcode: ", Prepared.passcode), ("New file password: ", "aaaa"),
            ("guesses this password at once. Choose a longer one, or press Enter for one of words.", nil),
            ("New file password: ", "correct horse battery"), ("Repeat file password: ", "another"),
            ("The two file passwords differ. Try again.", nil), ("New file password: ", "correct horse battery"),
            ("Repeat file password: ", "correct horse battery"),
        ] as [(String, String?)] {
            try terminal.wait(for: prompt)
            if let answer { terminal.type(answer + "\n") }
        }
        try terminal.wait(for: "Exported")
        #expect(child.wait() == 0)
        let password = Source.file(try sandbox.file("correct horse battery\n".utf8))
        let read = try sandbox.run(
            "import", sandbox.path + "/out.kdbx", "--dry-run", "--file-password-fd=5", passcode: Prepared.passcode,
            descriptors: [5: password])
        #expect(read.code == 0 && read.errors.contains("Would import 0 entries."), "\(read.errors)")
    }

    @Test func `a dry run stores nothing, an import everything, and a second one nothing`() throws {
        let sandbox = try Sandbox(prepared: true)
        let file = try sandbox.file(table.utf8, "chrome.csv")
        let dry = try sandbox.run("import", file, "--dry-run", passcode: Prepared.passcode)
        #expect(dry.code == 0 && dry.text == "add\tMail\tline 2\nadd\tBank\tline 3\n" && !dry.text.contains("s3cret"))
        #expect(try !sandbox.run("list", passcode: Prepared.passcode).text.contains("Mail"))
        let done = try sandbox.run("import", file, "--prefix=old", passcode: Prepared.passcode)
        #expect(done.code == 0 && done.errors.contains("Imported 2 entries."), "\(done.errors)")
        #expect(try sandbox.run("show", "old/Mail", "-f", "password", passcode: Prepared.passcode).text == "s3cret")
        let again = try sandbox.run("import", file, "--prefix=old", "--json", passcode: Prepared.passcode).json()
        #expect((again["added"] as? [Any])?.isEmpty ?? false)
        #expect((again["duplicates"] as? [Any])?.count == 2)
    }

    @Test func `what is not taken over is counted, told with its entry, and has its exit code`() throws {
        let sandbox = try Sandbox(prepared: true)
        let items = (0..<5).map { #"{"type": 1, "name": "M\#($0)", "login": {"fido2Credentials": [{"x": 1}]}}"# }
        let file = try sandbox.file("{\"items\": [\(items.joined(separator: ","))]}".utf8)
        let done = try sandbox.run("import", file, passcode: Prepared.passcode)
        #expect(done.code == 8 && done.errors.contains("a passkey (5 times): M0, M1, M2 and 2 more"), "\(done.errors)")
        #expect(done.errors.contains("Imported 5 entries. 5 things left out."), "\(done.errors)")
    }

    @Test func `an entry that cannot be read ends the import, or is left out where that is asked for`() throws {
        let sandbox = try Sandbox(prepared: true)
        let items = ["A", "B", "C"].map { name in
            #"{"name": "\#(name)", "collection": "default", "fields": []\#(name == "B" ? "" : #", "kind": "note""#)}"#
        }
        let file = try sandbox.file(
            #"{"format": "holdfast-items", "version": 1, "items": [\#(items.joined(separator: ","))]}"#.utf8)
        let refused = try sandbox.run("import", file, passcode: Prepared.passcode)
        #expect(
            refused.code == 5 && refused.errors.contains("B, line 1") && refused.errors.contains("--skip-faulty"),
            "\(refused.errors)")
        let done = try sandbox.run("import", file, "--skip-faulty", "--json", passcode: Prepared.passcode)
        #expect(done.code == 8, "\(done.errors)")
        #expect(try done.json()["added"] as? [String] == ["A", "C"])
    }

    @Test func `another version of an entry is told, and taken over with its option`() throws {
        let sandbox = try Sandbox(prepared: true)
        func load(_ password: String, _ options: String...) throws -> Sandbox.Result {
            let file = try sandbox.file("name,url,username,password,note\nA,,a,\(password),\n".utf8)
            return try sandbox.run(
                raw: (["import", file] + options).map { Array($0.utf8) }, passcode: Prepared.passcode)
        }
        #expect(try load("one").code == 0)
        let told = try load("two")
        #expect(told.code == 8 && told.errors.contains("A: password") && told.errors.contains("--update"))
        #expect(try sandbox.run("show", "A", "-f", "password", passcode: Prepared.passcode).text == "one")
        let taken = try load("two", "--update")
        #expect(taken.code == 0 && taken.errors.contains("1 entry updated."), "\(taken.errors)")
        #expect(try sandbox.run("show", "A", "-f", "password", passcode: Prepared.passcode).text == "two")
        let again = try load("two", "--update", "--json")
        #expect(try again.code == 0 && (again.json()["duplicates"] as? [Any])?.count == 1)
    }

    @Test func `items of one name are known again, each by what it has`() throws {
        let sandbox = try Sandbox(prepared: true)
        let file = try sandbox.file("name,url,username,password,note\nA,,1,x,\nA,,2,y,\nA (2),,3,z,\n".utf8)
        let first = try sandbox.run("import", file, "--json", passcode: Prepared.passcode).json()
        #expect(first["added"] as? [String] == ["A", "A (2)", "A (2) (2)"])
        let again = try sandbox.run("import", file, "--json", passcode: Prepared.passcode).json()
        #expect(again["added"] as? [String] == [])
        let other = try sandbox.file("name,url,username,password,note\nA,,4,x,\n".utf8)
        let third = try sandbox.run("import", other, "--json", passcode: Prepared.passcode).json()
        #expect(third["added"] as? [String] == ["A (3)"])
    }

    @Test func `what is not understood stores nothing and names its place`() throws {
        let sandbox = try Sandbox(prepared: true)
        for (text, place) in [
            ("name,url,username,password,note\na,b,c,d,e\nx,y\n", "line 3"), ("{\"items\": [", "line 1"),
            ("<a><b></a>", "line 1"),
        ] {
            let file = try sandbox.file(text.utf8)
            let result = try sandbox.run("import", file, passcode: Prepared.passcode)
            #expect(
                result.code == 5 && result.errors.contains(place) && result.errors.contains("nothing was imported"),
                "\(result.errors)")
        }
        let columns = try sandbox.run(
            "import", sandbox.file("what,is,this\n1,2,3\n".utf8), passcode: Prepared.passcode)
        #expect(columns.code == 2 && columns.errors.contains("--column COLUMN=ROLE"), "\(columns.errors)")
        let huge = try sandbox.file([UInt8(ascii: "{")], "huge.json")
        try #require(unsafe truncate(huge, (64 << 20) + 1) == 0)
        let tooLarge = try sandbox.run("import", huge, passcode: Prepared.passcode)
        #expect(tooLarge.code == 1 && tooLarge.errors.contains("an imported file has at most"), "\(tooLarge.errors)")
        let table = try sandbox.file(self.table.utf8, "whole.csv")
        for kind in ["kdbx", "keepass-xml", "bitwarden", "1pux", "aegis", "holdfast", "proton-pass"] {
            let other = try sandbox.run(
                "import", table, "--format=\(kind)", "--file-password-fd=5", passcode: Prepared.passcode,
                descriptors: [5: sandbox.lines("x")])
            #expect(other.code == 5 && other.errors.contains("nothing was imported"), "\(kind): \(other.errors)")
        }
        #expect(try sandbox.run("import", sandbox.path + "/none", passcode: Prepared.passcode).code == 6)
        #expect(try sandbox.run("list", passcode: Prepared.passcode).text.split(separator: "\n").count == 2)
    }

    @Test func `an export for KeePass is imported again, and plain text is asked about`() throws {
        let sandbox = try Sandbox(prepared: true)
        let file = try sandbox.file(table.utf8, "chrome.csv")
        #expect(try sandbox.run("import", file, passcode: Prepared.passcode).code == 0)
        let target = sandbox.path + "/out.kdbx"
        let password = try sandbox.lines("new one")
        let out = try sandbox.run(
            "export", target, "--file-password-fd=5", passcode: Prepared.passcode, descriptors: [5: password])
        #expect(out.code == 0, "\(out.errors)")
        let mode = try FileManager.default.attributesOfItem(atPath: target)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let again = try sandbox.run(
            "import", target, "--json", passcode: Prepared.passcode,
            descriptors: [5: .file(sandbox.file("wrong\n".utf8))])
        #expect(again.code == 2)  // nowhere to ask for the file's password
        let wrong = try sandbox.run(
            "import", target, "--file-password-fd=5", passcode: Prepared.passcode,
            descriptors: [5: .file(sandbox.file("wrong\n".utf8))])
        #expect(wrong.code == 3)
        let same = try sandbox.run(
            "import", target, "--json", "--file-password-fd=5", passcode: Prepared.passcode, descriptors: [5: password]
        ).json()
        #expect((same["duplicates"] as? [Any])?.count == 4, "\(same)")
        let twice = try sandbox.run(
            "export", target, "--file-password-fd=5", passcode: Prepared.passcode, descriptors: [5: password])
        #expect(twice.code == 1 && twice.errors.contains("exists already"))
        let plain = sandbox.path + "/out.json"
        #expect(try sandbox.run("export", plain, "--plain", passcode: Prepared.passcode).code == 2)
        #expect(try sandbox.run("export", plain, "--plain", "--yes", passcode: "wrong").code == 3)
        #expect(!sandbox.exists("out.json"))
        // One value is larger than 1 MiB.
        #expect(try sandbox.run("export", plain, "--plain", "--yes", passcode: Prepared.passcode).code == 8)
        let json = try #require(
            try JSONSerialization.jsonObject(with: Data(sandbox.bytes("out.json"))) as? [String: Any])
        #expect((json["items"] as? [Any])?.count == 3)
    }

    @Test func `an export in plain text is read again, with kinds, files and bytes that are no text`() throws {
        let sandbox = try Sandbox(prepared: true)
        func run(
            _ words: String..., input: Source = .null, descriptors: [Int32: Source] = [:]
        ) throws -> Sandbox.Result {
            try sandbox.run(
                raw: words.map { Array($0.utf8) }, passcode: Prepared.passcode, input: input, descriptors: descriptors)
        }
        func canonical(_ value: Any?) throws -> Data {
            try JSONSerialization.data(withJSONObject: value ?? "none", options: [.fragmentsAllowed, .sortedKeys])
        }
        let bytes = try sandbox.file([0, 255, 10], "a.bin")
        #expect(try run("put", "raw", input: .file(bytes)).code == 0)
        let added = try run(
            "add", "visa", "--kind=card", "--collection=work", "--notes", "--tag=x", "--attach=" + bytes,
            "--secret-fd=5", descriptors: [5: sandbox.lines("4111", "123", "9999", "one", "two")])
        #expect(added.code == 0, "\(added.errors)")
        let edited = try run(
            "edit", "work/visa", "-f", "number", "--secret-fd=5", descriptors: [5: sandbox.lines("4242")])
        #expect(edited.code == 0, "\(edited.errors)")
        let plain = sandbox.path + "/out.json"
        #expect(try run("export", plain, "--plain", "--yes").code == 8)
        let other = try Sandbox(prepared: true)
        let file = try other.file(sandbox.bytes("out.json"), "all.json")
        let done = try other.run("import", file, passcode: Prepared.passcode)
        #expect(done.code == 0 && !done.errors.contains("not understood"), "\(done.errors)")
        let card = try other.run("show", "work/visa", "--json", "--reveal", passcode: Prepared.passcode).json()
        let before = try run("show", "work/visa", "--json", "--reveal").json()
        for key in ["kind", "tags", "fields", "notes", "created"] {
            #expect(try canonical(card[key]) == canonical(before[key]), "\(key)")
        }
        #expect(try other.run("show", "raw", "-f", "value", passcode: Prepared.passcode).output == [0, 255, 10])
        // Exported once more, everything is the same but for the numbers of the items in their vaults.
        func items(_ file: [UInt8]) throws -> Data {
            let whole = try JSONSerialization.jsonObject(with: Data(file)) as? [String: Any]
            let items = try #require(whole?["items"] as? [[String: Any]])
            return try canonical(items.map { item in item.filter { $0.key != "id" } })
        }
        let second = other.path + "/second.json"
        #expect(try other.run("export", second, "--plain", "--yes", passcode: Prepared.passcode).code == 8)
        try #expect(items(other.bytes("second.json")) == items(sandbox.bytes("out.json")))
        let text = try String(decoding: sandbox.bytes("out.json"), as: UTF8.self)
        #expect(text.contains("\"value\":\"4111\""))
        let again = try other.run("import", file, "--json", passcode: Prepared.passcode).json()
        #expect((again["added"] as? [Any])?.isEmpty ?? false, "\(again)")
    }

    @Test func `a folder that is no store of pass is refused before gpg sees anything of it`() throws {
        let sandbox = try Sandbox(prepared: true)
        for folder in ["bin", "store/web", "linked"] {
            try FileManager.default.createDirectory(
                atPath: sandbox.path + "/" + folder, withIntermediateDirectories: true)
        }
        let gpg = try sandbox.file("#!/bin/sh\necho run >> '\(sandbox.path)/ran'\necho s3cret\n".utf8, "bin/gpg")
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: gpg)
        let variables = ["PATH": sandbox.path + "/bin:/usr/bin:/bin"]
        func load(_ folder: String) throws -> Sandbox.Result {
            try sandbox.run(
                "import", sandbox.path + "/" + folder, passcode: Prepared.passcode, environment: variables)
        }
        for folder in ["store", "linked"] { _ = try sandbox.file("sealed".utf8, folder + "/trusted.gpg") }
        let mark = try sandbox.file("ada@example\n".utf8, "mark")
        try FileManager.default.createSymbolicLink(
            atPath: sandbox.path + "/linked/.gpg-id", withDestinationPath: mark)
        for folder in ["store", "linked"] {
            let refused = try load(folder)
            #expect(refused.code == 2 && refused.errors.contains(".gpg-id"), "\(refused.errors)")
        }
        #expect(!sandbox.exists("ran"))
        _ = try sandbox.file("ada@example\n".utf8, "store/.gpg-id")
        let done = try load("store")
        #expect(done.code == 0 && sandbox.exists("ran"), "\(done.errors)")
    }
}
