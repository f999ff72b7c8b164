import Foundation
import Testing
import VaultFormat

/// Missing, damaged and copied vaults.
@Suite struct DamageTests {
    @Test func aMissingVaultIsNotFound() throws {
        let sandbox = try Sandbox()
        for words in [["status"], ["backup", "b"]] {
            let result = try sandbox.run(raw: words.map { Array($0.utf8) })
            #expect(result.code == 6)
            #expect(result.errors.contains("there is no vault at \(sandbox.home); create one with holdfast init"))
        }
        let get = try sandbox.run("get", "a", passcode: "abc")
        #expect(get.code == 6)
        let json = try sandbox.run("status", "--json")
        #expect(try json.jsonError()["code"] as? String == "noVault")
    }

    @Test func aPathIsShownHarmlessly() throws {
        let result = try Sandbox().run("status", "--home", "/nowhere/\u{1B}[31m")
        #expect(result.code == 6)
        #expect(result.errors.contains(#"/nowhere/\u{1b}[31m"#))
    }

    @Test func theStatusNeedsNoPasscode() throws {
        let sandbox = try Sandbox(prepared: true)
        let json = try sandbox.run("status", "--json")
        #expect(json.code == 0)
        let status = try json.json()
        #expect(status["path"] as? String == sandbox.home)
        #expect((status["id"] as? String)?.count == 32)
        #expect(status["slots"] as? [String] == ["passcode", "recoveryPhrase"])
        #expect(status["isPasscodeClosed"] as? Bool == false)
        #expect(status["retryAfterSeconds"] is NSNull)
        let costs = try #require(status["derivation"] as? [String: Int])
        let floor = DerivationLimits.standard.floor
        #expect(costs["passes"] ?? 0 >= Int(floor.passes))
        #expect(costs["memoryKiB"] ?? 0 >= Int(floor.memoryKiB))
        let text = try sandbox.run("status")
        #expect(text.text.contains("5 of 5 left"))
    }

    @Test func aDamagedHeaderIsDamageAndNoAttempt() throws {
        let sandbox = try Sandbox(prepared: true)
        var header = try sandbox.bytes("home/header")
        for offset in stride(from: 100, to: header.count, by: 512) { header[offset] ^= 1 }
        _ = try sandbox.file(header, "home/header")
        let get = try sandbox.run("get", "greeting", passcode: Prepared.passcode)
        #expect(get.code == 5)
        #expect(get.errors.contains("header"))
        #expect(try sandbox.run("status", "--json").jsonError()["code"] as? String == "damaged")
        let again = try sandbox.run(
            "init", "--phrase-out-fd=4", passcode: "correct horse", descriptors: [4: .output(sandbox.path + "/phrase")])
        #expect(again.code == 1, "a damaged vault was taken for none")
    }

    @Test func aDamagedLedgerIsMendedByThePhrase() throws {
        let sandbox = try Sandbox(prepared: true)
        let ledger = try sandbox.bytes("home/ledger")
        _ = try sandbox.file(ledger.map { ~$0 }, "home/ledger")
        let closed = try sandbox.run("get", "greeting", passcode: Prepared.passcode)
        #expect(closed.code == 4, "a ledger that says nothing gives no attempt: \(closed.errors)")
        let phrase = try Prepared.shared().phrase
        let recovered = try sandbox.run(
            "recover", "--phrase-fd=3", "--passcode-fd=4",
            descriptors: [3: sandbox.lines(phrase), 4: sandbox.lines("found again")])
        #expect(recovered.code == 0, "\(recovered.errors)")
        #expect(try sandbox.run("get", "greeting", passcode: "found again").text == Prepared.greeting)
    }

    @Test func aDamagedFileIsFound() throws {
        let sandbox = try Sandbox(prepared: true)
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: sandbox.home + "/files").first)
        var bytes = try sandbox.bytes("home/files/" + name)
        bytes[1_500_000] ^= 1
        _ = try sandbox.file(bytes, "home/files/" + name)
        let get = try sandbox.run("get", "big", "--collection=files", passcode: Prepared.passcode)
        #expect(get.code == 5)
        #expect(get.output.count < 1_500_000 && get.output == Array(Prepared.big.prefix(get.output.count)))
        let verify = try sandbox.run("verify", "--json", "--clean", passcode: Prepared.passcode)
        #expect(verify.code == 5)
        #expect(try verify.json()["isIntact"] as? Bool == false)
        let files = try #require(try verify.json()["damagedFiles"] as? [[String: Any]])
        #expect(files.map { $0["name"] as? String } == ["big"])
        #expect(try verify.json()["removedFiles"] is NSNull, "a damaged vault was cleaned")
        #expect(try sandbox.run("get", "greeting", passcode: Prepared.passcode).code == 0)
    }

    @Test func leftoversAreCleanedOnRequest() throws {
        let sandbox = try Sandbox(prepared: true)
        let name = "home/files/" + String(repeating: "0", count: 32)
        _ = try sandbox.file([1, 2, 3], name)
        let verify = try sandbox.run("verify", passcode: Prepared.passcode)
        #expect(verify.code == 0)
        #expect(verify.text.contains("1 file without a record"))
        #expect(sandbox.exists(name))
        let clean = try sandbox.run("verify", "--clean", "--json", passcode: Prepared.passcode)
        #expect(clean.code == 0)
        #expect(try clean.json()["removedFiles"] as? Int == 1)
        #expect(try clean.json()["orphanedFiles"] as? Int == 0)
        #expect(!sandbox.exists(name))
        #expect(try sandbox.run("get", "big", "--collection=files", passcode: Prepared.passcode).output == Prepared.big)
    }

    @Test func aBackupComesBack() throws {
        let sandbox = try Sandbox(prepared: true)
        let copy = sandbox.path + "/copy"
        let backup = try sandbox.run("backup", copy, "--json")
        #expect(backup.code == 0)
        #expect(try backup.json()["path"] as? String == copy)
        #expect(try backup.json()["bytes"] as? Int ?? 0 > 3_000_000)
        #expect(try sandbox.run("backup", copy).code == 0, "the same line brings it up to date")

        #expect(try sandbox.run("restore", copy).code == 1, "a vault was overwritten")
        let restored = try sandbox.run("restore", copy, "--home", sandbox.path + "/new")
        #expect(restored.code == 0)
        #expect(restored.text.hasPrefix("restored to \(sandbox.path)/new: 4 files, 3."))
        let get = try sandbox.run(
            "get", "big", "--collection=files", "--home", sandbox.path + "/new", passcode: Prepared.passcode)
        #expect(get.output == Prepared.big)

        let none = try sandbox.run("restore", sandbox.home, "--home", sandbox.path + "/other", "--json")
        #expect(none.code == 6)
        #expect(try none.jsonError()["code"] as? String == "noBackup")
        var header = try sandbox.bytes("copy/header")
        header[200] ^= 1
        _ = try sandbox.file(header, "copy/header")
        let damaged = try sandbox.run("restore", copy, "--home", sandbox.path + "/other")
        #expect(damaged.code == 5)
        #expect(!sandbox.exists("other"))
    }
}
