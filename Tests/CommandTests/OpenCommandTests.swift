import Foundation
import Testing

/// What is written without the passcode, and the inbox, with the real program.
@Suite struct OpenCommandTests {
    @Test func writesAndReadsWithoutThePasscode() throws {
        let sandbox = try Sandbox(prepared: true)
        let value = Array(0...255) as [UInt8]
        let put = try sandbox.run("put", "note", "--open", input: .file(sandbox.file(value)))
        #expect(put.code == 0 && put.output.isEmpty && put.errors.isEmpty, "\(put.errors)")
        #expect(try sandbox.run("get", "note", "--open").output == value)
        let again = try sandbox.run("put", "note", "--open", input: .file(sandbox.file([1])))
        #expect(again.code == 1 && again.errors.contains("use --replace to replace it"))
        #expect(try sandbox.run("put", "note", "--open", "--replace", input: .file(sandbox.file([1, 2]))).code == 0)
        #expect(try sandbox.run("put", "other", "--open", "--collection=c", input: .null).code == 0)
        let list = try sandbox.run("list", "--open", "--long").text.split(separator: "\n").map {
            $0.split(separator: "\t")
        }
        #expect(list.map { Array($0.prefix(3)) } == [["c", "other", "0"], ["default", "note", "2"]])
        #expect(list.allSatisfy { $0.count == 5 && $0[4] == "open" })
        #expect(try sandbox.run("rm", "other", "--open", "--collection", "c").code == 0)
        let missing = try sandbox.run("get", "other", "--open", "--collection", "c")
        #expect(missing.code == 6 && missing.output.isEmpty)
        let status = try sandbox.run("status", "--json").json()["open"] as? [String: Any]
        #expect(status?["items"] as? Int == 1 && status?["assurance"] as? String == "none")
        #expect(status?["quotaItems"] as? Int == 10_000 && status?["problem"] is NSNull)
        #expect(try sandbox.run("status").text.contains("1 entry, 8.1 kB of 16.7 MB, readable without the passcode"))
    }

    @Test func sealsWhatOnlyTheUnlockedVaultReads() throws {
        let sandbox = try Sandbox(prepared: true)
        let put = try sandbox.run(
            "put", "report", "--open", "--write-only", "--collection", "c", input: .file(sandbox.file("secret".utf8)))
        #expect(put.code == 0, "\(put.errors)")
        let sealed = try sandbox.run("get", "report", "--open", "--collection", "c")
        #expect(sealed.code == 6 && sealed.errors.contains("1 entry can be read only by the unlocked vault"))
        let records = try sandbox.run("list", "--open", "--json").json()["records"] as? [[String: Any]]
        let record = try #require(records?.first)
        #expect(record["isSealed"] as? Bool == true && record["collection"] as? String == "")
        let name = try #require(record["name"] as? String)
        #expect(try sandbox.run("get", name, "--open", "--collection", "c").code == 6)
        let inbox = try sandbox.run("inbox", "list", "--json", passcode: Prepared.passcode)
        let item = try #require((try inbox.json()["items"] as? [[String: Any]])?.first)
        #expect(item["name"] as? String == "report" && item["originalCollection"] as? String == "c")
        #expect(item["wasSealed"] as? Bool == true && item["size"] as? Int == 6)
        #expect(try sandbox.run("put", "more", "--open", "--write-only", input: .null).code == 0)
        let listed = try sandbox.run("list", "--open").text.split(separator: "\t")
        #expect(try sandbox.run("rm", String(listed[0]), "--open").code == 0)
        #expect(try sandbox.run("list", "--open").text.isEmpty)
    }

    @Test func theInboxWaitsForItsOwner() throws {
        let sandbox = try Sandbox(prepared: true)
        for name in ["greeting", "other", "thrown away"] {
            let put = try sandbox.run("put", name, "--open", input: .file(sandbox.file("written while locked".utf8)))
            #expect(put.code == 0)
        }
        let list = try sandbox.run("list", "--long", passcode: Prepared.passcode)
        let rows = list.text.split(separator: "\n").map { $0.split(separator: "\t").map(String.init) }
        #expect(rows.map(\.last) == ["protected", "protected", "open", "open", "open"])
        #expect(list.errors.isEmpty, "no terminal, no remark")
        #expect(try sandbox.run("get", "greeting", passcode: Prepared.passcode).text == Prepared.greeting)
        let waiting = try sandbox.run("get", "other", passcode: Prepared.passcode)
        #expect(waiting.code == 6 && waiting.errors.contains("holdfast inbox accept"), "\(waiting.errors)")
        let taken = try sandbox.run("inbox", "accept", "greeting", passcode: Prepared.passcode)
        #expect(taken.code == 1 && taken.errors.contains("give another name with --as"), "\(taken.errors)")
        let accepted = try sandbox.run(
            "inbox", "accept", "greeting", "--as", "second", "--collection", "c", "--json", passcode: Prepared.passcode)
        #expect(try accepted.json() as? [String: String] == ["name": "second", "collection": "c"])
        let second = try sandbox.run("get", "second", "--collection", "c", passcode: Prepared.passcode)
        #expect(second.text == "written while locked")
        #expect(try sandbox.run("inbox", "reject", "thrown away", passcode: Prepared.passcode).code == 0)
        // Its own name is one that a new entry can have.
        let plain = try sandbox.file("x".utf8, "plain")
        #expect(try sandbox.run("put", "fresh/name", "--open", input: .file(plain)).code == 0)
        #expect(try sandbox.run("list", passcode: Prepared.passcode).code == 0)
        let fresh = try sandbox.run("inbox", "accept", "name", passcode: Prepared.passcode)
        #expect(fresh.code == 0, "\(fresh.errors)")
        #expect(try sandbox.run("get", "fresh/name", passcode: Prepared.passcode).text == "x")
        // Whoever wrote it chose the name.
        for (number, name) in [".holdfast/own", "inbox/more", "git/https://ada@host/x"].enumerated() {
            let input = try sandbox.file("x".utf8, "own \(number)")
            #expect(try sandbox.run("put", name, "--open", input: .file(input)).code == 0)
            let list = try sandbox.run("inbox", "list", "--json", passcode: Prepared.passcode).json()
            let items = try #require(list["items"] as? [[String: Any]])
            let waiting = try #require(
                items.first { $0["originalName"] as? String != "greeting" && $0["originalName"] as? String != "other" })
            let item = try #require(waiting["name"] as? String)
            let refused = try sandbox.run("inbox", "accept", item, passcode: Prepared.passcode)
            #expect(refused.code == 2 && refused.errors.contains("give another name with --as"), "\(refused.errors)")
            #expect(try sandbox.run("inbox", "reject", item, passcode: Prepared.passcode).code == 0)
        }
        let gone = try sandbox.run("inbox", "accept", "thrown away", passcode: Prepared.passcode)
        #expect(gone.code == 6 && gone.errors.contains("no entry \"thrown away\" in the inbox"))
        let left = try sandbox.run("inbox", "list", passcode: Prepared.passcode)
        let cells = left.text.split(separator: "\t").map(String.init)
        #expect(cells.prefix(4).elementsEqual(["other", "default", "other", "20"]) && cells.last == "open\n")
    }

    @Test func garbageIsToldAndNeverInTheWay() throws {
        let sandbox = try Sandbox(prepared: true)
        #expect(try sandbox.run("put", "note", "--open", input: .null).code == 0)
        let path = sandbox.home + "/open.mdb"
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        try Data(repeating: 7, count: bytes.count).write(to: URL(fileURLWithPath: path))
        let list = try sandbox.run("list", "--open", "--json")
        #expect(list.code == 5)
        #expect(try list.jsonError()["code"] as? String == "damaged")
        #expect(list.errors.contains("the open compartment is damaged"), "\(list.errors)")
        let verify = try sandbox.run("verify", "--json", passcode: Prepared.passcode)
        #expect(verify.code == 5)
        let found = try verify.json()["open"] as? [String: Any]
        #expect(found?["unreadable"] as? Int == 1 && found?["isIntact"] as? Bool == false)
        let get = try sandbox.run("get", "greeting", passcode: Prepared.passcode)
        #expect(get.code == 0 && get.text == Prepared.greeting && get.errors.contains("kept as open.mdb.damaged"))
        #expect(try sandbox.run("put", "note", "--open", input: .null).code == 0)
        #expect(try sandbox.run("status").text.contains("kept as open.mdb.damaged"))
        let clean = try sandbox.run("verify", "--clean", passcode: Prepared.passcode)
        #expect(clean.code == 0 && clean.text.contains("1 item intact, not in the inbox yet"), "\(clean.text)")
        #expect(!sandbox.exists("home/open.mdb.damaged") && !sandbox.exists("home/open.key.damaged"))
    }

    @Test func aPlantedPublicKeyIsTold() throws {
        let sandbox = try Sandbox(prepared: true)
        let stranger = try Sandbox(prepared: true)
        let renew = try stranger.run(
            "passcode", "change", "--rekey", "--phrase-out-fd=4",
            descriptors: [
                3: stranger.lines(Prepared.passcode, "the next passcode"), 4: .output(stranger.path + "/phrase"),
            ],
            environment: [:])
        #expect(renew.code == 2, "the descriptor is not named: \(renew.errors)")
        let rekeyed = try stranger.run(
            "passcode", "change", "--rekey", "--phrase-out-fd=4", "--passcode-fd=3",
            descriptors: [
                3: stranger.lines(Prepared.passcode, "the next passcode"), 4: .output(stranger.path + "/phrase"),
            ])
        #expect(rekeyed.code == 0, "\(rekeyed.errors)")
        try FileManager.default.removeItem(atPath: sandbox.home + "/open.pub")
        try FileManager.default.copyItem(atPath: stranger.home + "/open.pub", toPath: sandbox.home + "/open.pub")
        #expect(try sandbox.run("put", "a", "--open", "--write-only", input: .null).code == 0)
        let get = try sandbox.run("get", "greeting", passcode: Prepared.passcode)
        #expect(get.code == 0 && get.text == Prepared.greeting)
        #expect(get.errors.contains("WARNING: the vault's public key (open.pub) had been replaced"), "\(get.errors)")
        #expect(try sandbox.run("get", "greeting", passcode: Prepared.passcode).errors.isEmpty, "mended")
    }

    @Test func whatDoesNotGoTogetherIsRefused() throws {
        let sandbox = try Sandbox(prepared: true)
        let wrong: [([String], String)] = [
            (["put", "a", "--write-only"], "--write-only requires --open"),
            (["put", "a", "--open", "--passcode-fd=0"], "--passcode-fd cannot be combined with --open"),
            (["get", "a", "--open", "--phrase"], "--phrase cannot be combined with --open"),
            (["put", "a", "--open", "--write-only", "--replace"], "--replace cannot be combined with --write-only"),
            (["inbox"], "inbox needs one of: list, accept, reject"),
            (["inbox", "accept"], "inbox accept: NAME is missing"),
        ]
        for (words, message) in wrong {
            let result = try sandbox.run(raw: words.map { Array($0.utf8) })
            #expect(result.code == 2 && result.errors.contains(message), "\(words): \(result.errors)")
        }
        let large = try sandbox.file([UInt8](repeating: 1, count: (1 << 20) + 1))
        let put = try sandbox.run("put", "a", "--open", input: .file(large))
        #expect(put.code == 1 && put.errors.contains("at most 1 MiB"))
        #expect(try sandbox.run("get", "a", "--open", environment: ["HOLDFAST_HOME": "/nowhere"]).code == 6)
    }

    @Test func aBackupCarriesIt() throws {
        let sandbox = try Sandbox(prepared: true)
        #expect(try sandbox.run("put", "note", "--open", input: .file(sandbox.file([5]))).code == 0)
        let backup = sandbox.path + "/backup"
        let restored = sandbox.path + "/restored"
        #expect(try sandbox.run("backup", backup).code == 0)
        #expect(try sandbox.run("restore", backup, "--home", restored).code == 0)
        for home in [backup, restored] {
            #expect(try sandbox.run("get", "note", "--open", "--home", home).output == [5])
            let note = try sandbox.run(
                "get", "note", "--collection", "inbox", "--home", home, passcode: Prepared.passcode)
            #expect(note.output == [5], "\(note.errors)")
        }
        #expect(try sandbox.run("get", "note", "--open").output == [5])
    }
}
