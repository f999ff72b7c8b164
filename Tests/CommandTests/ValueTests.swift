import Foundation
import Testing

/// put, get, list and rm on real vaults at real costs.
@Suite struct ValueTests {
    @Test func anyBytesComeBack() throws {
        let sandbox = try Sandbox(prepared: true)
        let bytes = (0..<1024).map { UInt8(truncatingIfNeeded: $0) }
        let put = try sandbox.run("put", "all bytes", passcode: Prepared.passcode, input: .file(sandbox.file(bytes)))
        #expect(put.code == 0)
        #expect(put.output.isEmpty)
        #expect(put.errors.isEmpty)
        let get = try sandbox.run("get", "all bytes", passcode: Prepared.passcode)
        #expect(get.code == 0)
        #expect(get.output == bytes)
        #expect(get.errors.isEmpty)
    }

    @Test func anEmptyValueIsAValue() throws {
        let sandbox = try Sandbox(prepared: true)
        #expect(try sandbox.run("put", "nothing", passcode: Prepared.passcode).code == 0)
        let get = try sandbox.run("get", "nothing", passcode: Prepared.passcode)
        #expect(get.code == 0)
        #expect(get.output.isEmpty)
    }

    @Test func largeValuesStream() throws {
        let sandbox = try Sandbox(prepared: true)
        let get = try sandbox.run("get", "big", "--collection=files", passcode: Prepared.passcode)
        #expect(get.code == 0)
        #expect(get.output == Prepared.big)
    }

    @Test func anExistingRecordIsReplacedOnlyOnRequest() throws {
        let sandbox = try Sandbox(prepared: true)
        let value = try sandbox.file("another".utf8)
        let input = unsafe open(value, O_RDONLY)
        defer { close(input) }
        let refused = try sandbox.run("put", "greeting", passcode: Prepared.passcode, input: .ours(input))
        #expect(refused.code == 1)
        #expect(refused.errors.contains("already an entry 'greeting'; use --replace to replace it"))
        #expect(lseek(input, 0, SEEK_CUR) == 0, "standard input was read though the value was refused")
        #expect(try sandbox.run("get", "greeting", passcode: Prepared.passcode).text == Prepared.greeting)

        let replaced = try sandbox.run(
            "put", "greeting", "--replace", passcode: Prepared.passcode, input: .ours(input))
        #expect(replaced.code == 0)
        #expect(try sandbox.run("get", "greeting", passcode: Prepared.passcode).text == "another")
    }

    @Test func theValueMayFollowThePasscode() throws {
        let sandbox = try Sandbox(prepared: true)
        let input = try sandbox.lines(Prepared.passcode, "first line", "second line")
        #expect(try sandbox.run("put", "two lines", "--passcode-fd", "0", input: input).code == 0)
        #expect(try sandbox.run("get", "two lines", passcode: Prepared.passcode).text == "first line\nsecond line")
    }

    @Test func aRemovedRecordIsGone() throws {
        let sandbox = try Sandbox(prepared: true)
        #expect(try sandbox.run("rm", "greeting", passcode: Prepared.passcode).code == 0)
        let get = try sandbox.run("get", "greeting", passcode: Prepared.passcode)
        #expect(get.code == 6)
        #expect(get.output.isEmpty)
        #expect(get.errors.contains("no entry 'greeting'"))
        #expect(try sandbox.run("rm", "greeting", passcode: Prepared.passcode).code == 6)
        #expect(try sandbox.run("get", "big", passcode: Prepared.passcode).code == 6, "another collection")
    }

    @Test func namesAreShownHarmlessly() throws {
        let sandbox = try Sandbox(prepared: true)
        let name = "-\u{1B}[31m\n\u{202E}\\\"tab\t"
        #expect(try sandbox.run("put", "-c", "default", "--", name, passcode: Prepared.passcode).code == 0)
        let list = try sandbox.run("list", "--long", passcode: Prepared.passcode)
        #expect(list.code == 0)
        let shown = list.text.split(separator: "\n").map { $0.split(separator: "\t", omittingEmptySubsequences: false) }
        try #require(shown.count == 3)
        #expect(shown[0].prefix(3).elementsEqual(["default", #"-\u{1b}[31m\u{a}\u{202e}\\"tab\u{9}"#, "0"]))
        #expect(shown[1].prefix(3).elementsEqual(["default", "greeting", "10"]))
        #expect(shown[2].prefix(3).elementsEqual(["files", "big", "3000001"]))
        #expect(shown.allSatisfy { $0.count == 5 && $0[3].hasSuffix("Z") && $0[4] == "protected" })

        let json = try sandbox.run("list", "--json", passcode: Prepared.passcode)
        #expect(!json.output.contains(0x1B))
        #expect(!json.text.unicodeScalars.contains("\u{202E}"))
        let records = try #require(try json.json()["records"] as? [[String: Any]])
        #expect(records.map { $0["name"] as? String } == [name, "greeting", "big"])
        #expect(records.map { $0["size"] as? Int } == [0, 10, 3_000_001])
        #expect(records.map { $0["isFile"] as? Bool } == [false, false, true])

        let removed = try sandbox.run("rm", "--", name, passcode: Prepared.passcode)
        #expect(removed.code == 0)
        let missing = try sandbox.run("rm", "--", name, passcode: Prepared.passcode)
        #expect(missing.errors.contains(#"'-\u{1b}[31m\u{a}\u{202e}\\"tab\u{9}'"#))
    }

    @Test func aCollectionIsListedAlone() throws {
        let sandbox = try Sandbox(prepared: true)
        let list = try sandbox.run("list", "--collection", "files", "--json", passcode: Prepared.passcode)
        let records = try #require(try list.json()["records"] as? [[String: Any]])
        #expect(records.map { $0["collection"] as? String } == ["files"])
    }

    @Test func `a line of a descriptor may end as on other systems`() throws {
        let sandbox = try Sandbox(prepared: true)
        func list(_ text: String) throws -> Int32 {
            try sandbox.run("list", "--passcode-fd=3", descriptors: [3: .file(sandbox.file(text.utf8))]).code
        }
        #expect(try list(Prepared.passcode + "\r\n") == 0)
        #expect(try list(Prepared.passcode) == 0)
        #expect(try list(Prepared.passcode + "\r") == 3, "only in front of a newline")
        #expect(try list(Prepared.passcode + "\r\r\n") == 3, "only one")
    }

    /// As for any program of a pipe: it ends, with the code that shells show, and says nothing.
    @Test func `a reader that went away ends a command without a word`() throws {
        let sandbox = try Sandbox(prepared: true)
        var ends: [Int32] = [-1, -1]
        try #require(unsafe pipe(&ends) == 0)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        close(ends[0])
        defer { close(ends[1]) }
        let get = try sandbox.run(
            "get", "big", "--collection", "files", passcode: Prepared.passcode, descriptors: [1: .ours(ends[1])])
        #expect(get.code == 141 && get.errors.isEmpty, "\(get.errors)")
    }

    @Test func aFullOutputIsAFailure() throws {
        let sandbox = try Sandbox(prepared: true)
        let get = try sandbox.run(
            "get", "greeting", passcode: Prepared.passcode, descriptors: [1: .terminal("/dev/full")])
        #expect(get.code == 1)
        #expect(get.errors.contains("writing to standard output"))
    }

    /// The number of a closed standard descriptor must not go to a file of the vault.
    @Test func aClosedOutputHarmsNothing() throws {
        let sandbox = try Sandbox(prepared: true)
        let get = try sandbox.run(
            "get", "greeting", passcode: Prepared.passcode, descriptors: [0: .closed, 1: .closed])
        #expect(get.code == 1)
        let put = try sandbox.run("put", "none", passcode: Prepared.passcode, input: .closed)
        #expect(put.code == 1)
        #expect(put.errors.contains("reading from standard input: Bad file descriptor"), "\(put.errors)")
        let verify = try sandbox.run("verify", "--json", passcode: Prepared.passcode)
        #expect(verify.code == 0)
        #expect(try verify.json()["isIntact"] as? Bool == true)
    }
}
