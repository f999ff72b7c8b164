import Items
import OneTimeCodes
import SecretMemory
import TestSupport
import Testing
import VaultFormat

@testable import Imports

/// Nothing of a file is lost or becomes something else without a note.
@Suite struct FidelityTests {
    @Test func `notes of several columns are all kept`() throws {
        let table =
            "folder,favorite,type,name,notes,fields,reprompt,login_uri,login_username,login_password,login_totp\n"
            + "Work,1,login,Mail,the notes,\"PIN: 99\nwho: me\",0,,ada,pw,\n,,note,N,text,,0,,,,\n"
        let read = try TableImport.read(secret(table))
        #expect(read.items[0].notes == "the notes")
        #expect(read.items[0].text("PIN") == "99" && read.items[0].text("who") == "me")
        #expect(read.items.map { $0.item.kind } == [.login, .note])
        let mapped = try TableImport.read(
            secret("a,b,c\n1,2,3\n"), ImportOptions(columns: ["a": .title, "b": .notes, "c": .notes]))
        #expect(mapped.items[0].notes == "2\n3")
        #expect(throws: ImportError.self) {
            try TableImport.read(secret("a,b\n1,2\n"), ImportOptions(columns: ["a": .title, "b": .title]))
        }
    }

    @Test func `an item that asks for the master password again asks before each use, and it is said`() throws {
        let json = #"""
            {"items": [{"type": 1, "name": "A", "reprompt": 1, "login": {}}, {"type": 1, "name": "B", "reprompt": 0, "login": {}},
            {"type": 1, "name": "C", "reprompt": null, "login": {}}, {"type": 1, "name": "D", "login": {}}]}
            """#
        let table =
            "folder,favorite,type,name,notes,fields,reprompt,login_uri,login_username,login_password,login_totp\n"
            + ",,login,A,,,1,,,pw,\n,,login,B,,,0,,,pw,\n,,login,C,,,,,,pw,\n"
        for imported in [
            try BitwardenImport.read(secret(json), password: nil), try TableImport.read(secret(table)),
        ] {
            #expect(imported.items[0].item.tags == ["ask-each-time"])
            #expect(imported.items.dropFirst().allSatisfy { $0.item.tags.isEmpty })
            #expect(imported.notes.count == 1 && imported.notes[0].text.contains("ask-each-time"), "\(imported.notes)")
        }
    }

    @Test func `a tag that begins as one that guards and is none becomes the strictest, and it is said`() throws {
        let read = try TableImport.read(
            secret("name,pw,tags\nA,1,\"ask-mom,work\"\nB,2,no-forward\nC,3,\"ask-until-lock,asking\"\n"),
            ImportOptions(columns: ["name": .title, "pw": .password, "tags": .tags]))
        #expect(
            read.items.map { $0.item.tags } == [
                ["ask-each-time", "work"], ["no-forwarding"], ["ask-until-lock", "asking"],
            ])
        #expect(read.notes.count == 2 && read.notes[0].text.contains("line 2"), "\(read.notes)")
    }

    @Test func `what lies in Bitwarden's trash is left out and said, what is archived has a tag`() throws {
        let text = #"""
            {"encrypted": false, "items": [{"type": 1, "name": "gone", "deletedDate": "2024-01-02T03:04:05.000Z"},
            {"type": 1, "name": "old", "deletedDate": null, "archivedDate": "2024-01-02T03:04:05.000Z"}]}
            """#
        let read = try BitwardenImport.read(secret(text), password: nil)
        #expect(read.items.map(\.name) == ["old"] && read.items[0].tags == ["archived"])
        #expect(read.notes.count == 1)
    }

    @Test func `what is too long for a name, a label or a tag is cut or left out, and said`() throws {
        let long = String(repeating: "\u{e4}", count: 300_000)
        let read = try KeePassSample.entries(
            "<Entry>\(KeePassSample.string("Title", long))\(KeePassSample.string(String(repeating: "k", count: 400), "v"))<Tags>fine;\(String(repeating: "t", count: 400))</Tags></Entry>"
        )
        let item = try #require(read.items.first)
        #expect(item.name == String(repeating: "\u{e4}", count: 500))
        #expect(item.item.fields.map(\.label) == [String(repeating: "k", count: 255)] && item.tags == ["fine"])
        #expect(read.notes.count == 3 && read.notes.allSatisfy { $0.what.utf8.count < 200 })
    }

    @Test func `a derivation that would take hours is refused before it begins`() throws {
        let tooMuch = "the key derivation asks for too much"
        func refusal(_ text: String) throws -> ImportError? {
            do throws(ImportError) {
                _ = try AegisImport.read(try! secret(text), password: try! secret("x"))
                return nil
            } catch { return error }
        }
        let slot =
            #"{"type": 1, "n": 1048576, "r": 16, "p": 1, "salt": "00", "key": "00", "key_params": {"nonce": "00", "tag": "00"}}"#
        let error = try #require(
            try refusal(#"{"version": 1, "header": {"slots": [\#(slot)], "params": {}}, "db": "AAAA"}"#))
        #expect(error.kind == .tooLarge && error.what == tooMuch)
        for (passes, memoryKiB, isAllowed) in [(32, 2 << 20, true), (33, 2 << 20, false), (10_000, 64 << 10, false)] {
            var settings = KDBXExport.Settings()
            (settings.passes, settings.memoryKiB) = (passes, memoryKiB)
            let bytes = [UInt8](repeating: 0, count: 32)
            let header = KDBXExport.header(settings, bytes, Array(bytes.prefix(12)), bytes)
            do throws(ImportError) {
                _ = try unsafe KDBXHeader(header.span.bytes)
                #expect(isAllowed)
            } catch { #expect(!isAllowed && error.kind == .tooLarge) }
        }
        for (rounds, isAllowed) in [(1 << 29, true), (1 << 29 | 1, false), (UInt64.max, false)] as [(UInt64, Bool)] {
            var settings = KDBXExport.Settings()
            settings.aesRounds = rounds
            let bytes = [UInt8](repeating: 0, count: 32)
            let header = KDBXExport.header(settings, bytes, Array(bytes.prefix(12)), bytes)
            do throws(ImportError) {
                _ = try unsafe KDBXHeader(header.span.bytes)
                #expect(isAllowed)
            } catch { #expect(!isAllowed && error.kind == .tooLarge) }
        }
        for settings in [
            #""kdfType": 0, "kdfIterations": 16777217"#, #""kdfType": 0, "kdfIterations": 9223372036854775807"#,
            #""kdfType": 1, "kdfIterations": 100, "kdfMemory": 2048, "kdfParallelism": 1"#,
            #""kdfType": 1, "kdfIterations": 33, "kdfMemory": 2048, "kdfParallelism": 1"#,
        ] {
            let text =
                #"{"encrypted": true, "passwordProtected": true, "salt": "0123456789", \#(settings), "data": "2.", "#
                + #""encKeyValidation_DO_NOT_EDIT": "2."}"#
            do throws(ImportError) {
                _ = try BitwardenImport.read(try! secret(text), password: try! secret("x"))
                Issue.record("it was read")
            } catch { #expect(error.kind == .tooLarge && error.what == tooMuch, "\(error)") }
        }
    }

    @Test func `many items of one name are numbered without counting from the beginning`() {
        var numbers = ImportNumbers(["A", "A (3)"])
        func name(_ name: String) -> String { numbers.entry(EntryPath(name: name)).name }
        #expect((0..<4).map { _ in name("A") } == ["A (2)", "A (4)", "A (5)", "A (6)"])
        #expect(name("A (2)") == "A (2) (2)" && name("B") == "B")
        let long = String(repeating: "n", count: 1024)
        #expect(name(long) == long && name(long).utf8.count == 1024)
        #expect(numbers.tries < 16)
    }
}
