import Foundation
import Testing

/// Options of `import` that fit no file, and files that are not there or empty.
@Suite struct ImportOptionsTests {
    private let table = "name,url,username,password,note\nMail,https://a.example,ada,s3cret,\n"

    @Test func `an option of another format is incorrect usage, before its file is read`() throws {
        let sandbox = try Sandbox(prepared: true)
        let csv = try sandbox.file(table.utf8, "a.csv")
        let missing = sandbox.path + "/none"
        let json = try sandbox.file("{\"items\": []}".utf8, "a.json")
        for (words, option) in [
            (["import", csv, "--key-file", missing], "--key-file"),
            (["import", missing, "--format=bitwarden", "--key-file", missing], "--key-file"),
            (["import", sandbox.path, "--key-file", missing], "--key-file"),
            (["import", "--format=gnome-keyring", "--key-file", missing], "--key-file"),
            (["import", csv, "--no-password"], "--no-password"),
            (["import", missing, "--format=kdbx", "--no-password"], "--key-file FILE"),
            (["import", json, "--column=a=title"], "--column"),
            (["import", missing, "--format=kdbx", "--column=a=title"], "--column"),
        ] {
            let result = try sandbox.run(raw: words.map { Array($0.utf8) }, passcode: Prepared.passcode)
            #expect(result.code == 2 && result.errors.contains(option), "\(words): \(result.code) \(result.errors)")
        }
        #expect(try !sandbox.run("list", passcode: Prepared.passcode).text.contains("Mail"))
    }

    /// What a file becomes would be in memory beside the derivation of the vault's key.
    @Test func `the vault is opened before a file is read, and after what is wrong at first sight`() throws {
        let sandbox = try Sandbox(prepared: true)
        let faulty = try sandbox.file("name,url,username,password,note\nMail".utf8, "a.csv")
        let strange = try sandbox.file([1, 2, 3], "strange")
        #expect(try sandbox.run("import", faulty, passcode: Prepared.passcode).code == 5)
        for (words, code) in [
            (["import", faulty], 3), (["import", strange], 2), (["import", sandbox.path + "/none"], 6),
            (["import", faulty, "--format=kdbx", "--key-file", sandbox.path + "/none"], 6),
        ] {
            let result = try sandbox.run(raw: words.map { Array($0.utf8) }, passcode: "not the passcode")
            #expect(result.code == code, "\(words): \(result.code) \(result.errors)")
        }
    }

    @Test func `a key file that is missing is as a missing file`() throws {
        let sandbox = try Sandbox(prepared: true)
        let database = try sandbox.file([0x03, 0xD9, 0xA2, 0x9A], "a.kdbx")
        let result = try sandbox.run(
            "import", database, "--key-file", sandbox.path + "/none", "--no-password", passcode: Prepared.passcode)
        #expect(result.code == 6 && result.errors.contains("/none"), "\(result.code) \(result.errors)")
        #expect(try sandbox.run("import", sandbox.path + "/none", passcode: Prepared.passcode).code == 6)
    }

    @Test(arguments: [[], ["--format=csv"], ["--format=bitwarden"]])
    func `an empty file is called empty`(_ options: [String]) throws {
        let sandbox = try Sandbox(prepared: true)
        let empty = try sandbox.file([], "empty")
        let result = try sandbox.run(
            raw: (["import", empty] + options).map { Array($0.utf8) }, passcode: Prepared.passcode)
        #expect(result.code == 5 && result.errors.contains("the file is empty"), "\(result.code) \(result.errors)")
    }

    @Test func `a table in Windows' encoding says what to do, and its lines can be left out`() throws {
        let sandbox = try Sandbox(prepared: true)
        let file = try sandbox.file(
            Array("name,url,username,password\nA,,J".utf8) + [0xFC] + Array("rgen,p\nB,,u,p\n".utf8), "a.csv")
        let refused = try sandbox.run("import", file, passcode: Prepared.passcode)
        #expect(
            refused.code == 5 && refused.errors.contains("line 2") && refused.errors.contains("save it as UTF-8")
                && refused.errors.contains("--skip-faulty"), "\(refused.errors)")
        let done = try sandbox.run("import", file, "--skip-faulty", "--json", passcode: Prepared.passcode)
        #expect(try done.code == 8 && done.json()["added"] as? [String] == ["B"], "\(done.errors)")
    }

    @Test func `a table with other separators and unknown columns says which were seen`() throws {
        let sandbox = try Sandbox(prepared: true)
        let file = try sandbox.file("Login;Key;Site\nu;p;A\n".utf8, "a.csv")
        let refused = try sandbox.run("import", file, passcode: Prepared.passcode)
        #expect(
            refused.code == 2 && refused.errors.contains("semicolons") && refused.errors.contains("--column"),
            "\(refused.errors)")
        let done = try sandbox.run(
            "import", file, "--column=Login=username", "--column=Key=password", "--column=Site=title",
            passcode: Prepared.passcode)
        #expect(done.code == 0, "\(done.errors)")
        #expect(try sandbox.run("show", "A", "-f", "password", passcode: Prepared.passcode).text == "p")
    }
}
