import Foundation
import Testing

/// mv, cp and find on real vaults, without an agent.
@Suite struct MoveAndFindTests {
    private func names(_ result: Sandbox.Result) -> [String] {
        result.text.split(separator: "\n").map { String($0.split(separator: "\t")[0]) }
    }

    @Test func `a record is renamed, moved and copied`() throws {
        let sandbox = try Sandbox(prepared: true)
        let moved = try sandbox.run("mv", "greeting", "words/greeting", passcode: Prepared.passcode)
        #expect(moved.code == 0 && moved.output.isEmpty && moved.errors.isEmpty)
        let copied = try sandbox.run(
            "cp", "words/greeting", "copy", "--to-collection", "work", passcode: Prepared.passcode)
        #expect(copied.code == 0)
        #expect(try sandbox.run("get", "words/greeting", passcode: Prepared.passcode).text == Prepared.greeting)
        #expect(
            try sandbox.run("get", "copy", "--collection", "work", passcode: Prepared.passcode).text
                == Prepared.greeting)
        let gone = try sandbox.run("mv", "greeting", "other", passcode: Prepared.passcode)
        #expect(gone.code == 6 && gone.errors.contains("there is no entry 'greeting'"))
        let taken = try sandbox.run(
            "mv", "words/greeting", "copy", "--to-collection=work", passcode: Prepared.passcode)
        #expect(taken.code == 1 && taken.errors.contains("already an entry 'work/copy'; choose another name"))
    }

    @Test func `a record is named by its path, as lists show it, and nothing is guessed`() throws {
        let sandbox = try Sandbox(prepared: true)
        func run(_ words: String..., input: String = "") throws -> Sandbox.Result {
            try sandbox.run(
                raw: words.map { Array($0.utf8) }, passcode: Prepared.passcode,
                input: .file(sandbox.file(input.utf8)))
        }
        #expect(try run("get", "files/big").output == Prepared.big)
        #expect(try run("put", "note", "-c", "work", input: "one").code == 0)
        let copied = try run("cp", "work/note", "work/copy")
        #expect(copied.code == 0, "\(copied.errors)")
        #expect(try run("get", "copy", "--collection=work").text == "one")
        #expect(try run("mv", "work/note", "logins/moved", "--to-collection=default").code == 0)
        #expect(try run("get", "logins/moved").text == "one")
        let taken = try run("put", "work/copy", input: "two")
        #expect(taken.code == 1 && taken.errors.contains("already an entry 'work/copy'"), "\(taken.errors)")
        #expect(try run("put", "work/copy", "--replace", input: "two").code == 0)
        #expect(try run("get", "copy", "--collection=work").text == "two")
        // The first part is the collection; one from an earlier version, whose path is the same, is written whole as
        // long as both are there.
        let beside = try run("put", "work/copy", "--collection=default", input: "three")
        #expect(beside.code == 1 && beside.errors.contains("already an entry 'work/copy'"), "\(beside.errors)")
        try sandbox.store("three", "work/copy")
        #expect(try run("get", "work/copy").text == "two" && run("get", "default/work/copy").text == "three")
        #expect(try run("list").text.contains("default/work/copy\t"))
        #expect(try run("get", "work/copy", "--collection=work").code == 6)
        #expect(try run("rm", "work/copy").code == 0)
        #expect(try run("list").text.contains("\nwork/copy\t"))
        #expect(try run("get", "work/copy").text == "three")
        // It can be given the place that it is written as.
        #expect(try run("mv", "work/copy", "work/copy").code == 0)
        #expect(try run("get", "copy", "--collection=work").text == "three")
        #expect(try run("mv", "work/copy", "work/copy").code == 1)
        let exists = try run("put", "work/copy", input: "four")
        #expect(exists.code == 1 && exists.errors.contains("already an entry"), "\(exists.errors)")
        #expect(try run("rm", "work/copy").code == 0)
        #expect(try run("rm", "work/copy").code == 6)
        #expect(try run("put", "work/new", input: "four").code == 0)
        #expect(try run("get", "new", "--collection=work").text == "four")
    }

    @Test(arguments: [["get"], ["put"], ["rm"], ["mv", "other"], ["cp", "other"]])
    func `a name that no record can have is refused before anything is asked for`(_ command: [String]) throws {
        let sandbox = try Sandbox(prepared: true)
        let words = [command[0], String(repeating: "x", count: 1025)] + command.dropFirst()
        let result = try sandbox.run(raw: words.map { Array($0.utf8) })
        #expect(result.code == 2 && result.errors.contains("a name has 1 to 1,024 bytes"), "\(result.errors)")
    }

    @Test(arguments: [["rm"], ["rm", "--for-good"], ["mv", "other"], ["cp", "other"], ["get"]])
    func `what takes whole names does nothing with a part of one, and says which was meant`(_ command: [String]) throws
    {
        let sandbox = try Sandbox(prepared: true)
        let moved = try sandbox.run("mv", "greeting", "words/greeting", passcode: Prepared.passcode)
        #expect(moved.code == 0)
        func run(_ name: String) throws -> Sandbox.Result {
            try sandbox.run(
                raw: ([command[0], name] + command.dropFirst()).map { Array($0.utf8) }, passcode: Prepared.passcode)
        }
        let part = try run("greeting")
        #expect(part.code == 6 && part.errors.contains("did you mean 'words/greeting'?"), "\(part.errors)")
        let elsewhere = try run("big")
        #expect(elsewhere.code == 6 && elsewhere.errors.contains("did you mean 'files/big'?"), "\(elsewhere.errors)")
        let nothing = try run("zzzzzzzz")
        #expect(nothing.code == 6 && nothing.errors.contains("holdfast list shows"), "\(nothing.errors)")
        #expect(try sandbox.run("get", "words/greeting", passcode: Prepared.passcode).text == Prepared.greeting)
    }

    @Test func `a large value is moved, and copied by other commands only`() throws {
        let sandbox = try Sandbox(prepared: true)
        let copied = try sandbox.run("cp", "big", "copy", "--collection=files", passcode: Prepared.passcode)
        #expect(copied.code == 1)
        let moved = try sandbox.run("mv", "big", "bigger", "--collection=files", passcode: Prepared.passcode)
        #expect(moved.code == 0)
        #expect(
            try sandbox.run("get", "bigger", "--collection=files", passcode: Prepared.passcode).output == Prepared.big)
        #expect(try sandbox.run("verify", passcode: Prepared.passcode).code == 0)
    }

    @Test func `records are found by words, and the output is that of a list`() throws {
        let sandbox = try Sandbox(prepared: true)
        let found = try sandbox.run("find", "GREET", passcode: Prepared.passcode)
        #expect(found.code == 0 && names(found) == ["greeting"])
        let all = try sandbox.run("list", passcode: Prepared.passcode).text.split(separator: "\n")
        #expect(found.text.split(separator: "\n").allSatisfy(all.contains))
        let none = try sandbox.run("find", "greet", "nothing", passcode: Prepared.passcode)
        #expect(none.code == 0 && none.output.isEmpty)
        let json = try sandbox.run("find", "nothing", "--json", passcode: Prepared.passcode)
        #expect(json.text == "{\"records\":[]}\n")
        #expect(
            try names(sandbox.run("find", "big", "--collection=files", passcode: Prepared.passcode)) == ["files/big"])
        let empty = try sandbox.run("find", passcode: Prepared.passcode)
        #expect(empty.code == 2)
        let long = try sandbox.run("find", String(repeating: "x", count: 1025), passcode: Prepared.passcode)
        #expect(long.code == 2)
    }
}
