import Foundation
import Items
import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultFormat

/// What an entry that asks each time holds, and what lies below it, over every face but those that have a test of their
/// own: git and SSH (`LeaseCommandTests`, `SSHAgentTests`), the session bus (`SecretServicePromptTests`).
@Suite struct GuardedFaceTests {
    private static let value = "s3cret-of-the-entry"
    private let sandbox: AgentSandbox
    /// The name of a program's secret that its entry could not hold.
    private let large: String

    init() throws {
        sandbox = try AgentSandbox()
        large = try sandbox.sandbox.withItems { items in
            func put(_ value: String, _ name: String, _ collection: String) throws {
                try Array(value.utf8).lend { try items.vault.put(bytes: $0, for: name, in: collection) }
            }
            func add(_ path: EntryPath, _ change: (inout Item) throws -> Void = { _ in }) throws {
                var item = try Item(.login)
                try item.add(.text, "username", secret("ada"))
                try item.add(.secret, "password", secret(Self.value))
                try item.addTag("ask-each-time")
                try change(&item)
                try items.add(item, as: path)
            }
            for (collection, name) in [
                ("work", "db"), ("default", "solo"), ("docker", "https://h.example"), ("cargo", "https://h.example/i"),
            ] { try add(EntryPath(collection: collection, name: name)) }
            for (collection, name) in [
                ("work", "db/scan.pdf"), ("work", "db/more/scan.pdf"), ("default", "solo/note.txt"), ("solo", "other"),
                ("default", "work/db/third"),
            ] { try put(Self.value, name, collection) }
            let file = try Array(String(repeating: Self.value, count: 100_000).utf8).lend {
                try items.vault.prepareFile($0)
            }
            try items.vault.write { session in try session.put(file, for: "db/large.bin", in: "work") }
            try put("free", "dbx/free", "work")
            var place = ""
            try add(EntryPath(collection: "default", name: "Bus")) { item in
                try item.addTag("secret-service")
                let large = try LargeSecret(of: item.id, size: Self.value.utf8.count)
                try item.add(.text, LargeSecret.label, secret(large.text))
                try put(Self.value, large.name, LargeSecret.folder)
                place = large.name
            }
            return place
        }
        #expect(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0)
    }

    private func run(_ words: [String], input: String? = nil, isOwn: Bool = false) throws -> Sandbox.Result {
        try sandbox.run(
            raw: (words + (isOwn ? ["--no-agent"] : [])).map { Array($0.utf8) },
            passcode: isOwn ? Prepared.passcode : nil, input: input.map { .file(try sandbox.file($0.utf8)) } ?? .null)
    }

    private var faces: [(words: [String], input: String?)] {
        get throws {
            let references = ["work/db/password", "work/db%2Fscan.pdf", "default/solo%2Fnote.txt"].map {
                "holdfast://" + $0
            }
            let template = try sandbox.file("{{ \(references[1]) }}\n".utf8)
            let largeTemplate = try sandbox.file("{{ holdfast://work/db%2Flarge.bin }}\n".utf8)
            let variables = try sandbox.file("KEY=\(references[1])\n".utf8)
            let program = ["--", "/bin/sh", "-c", "echo $KEY"]
            var all: [(words: [String], input: String?)] = references.map { (["get", $0], nil) }
            for name in [
                "work/db/scan.pdf", "work/db/more/scan.pdf", "work/db/large.bin", "solo/note.txt", "solo/other",
                "work/db/third", "secret-service/" + large,
            ] { all.append((["get", name], nil)) }
            for name in ["work/db", "work/db/scan.pdf", "solo/note.txt"] {
                all.append((["show", name, "--reveal"], nil))
            }
            all += [
                (["show", "work/db", "-f", "password"], nil),
                (["run", "--env", "KEY=" + references[0]] + program, nil),
                (["run", "--env", "KEY=" + references[1]] + program, nil),
                (["run", "--env-file", variables] + program, nil), (["inject", "--in", template], nil),
                (["inject", "--in", largeTemplate, "--out", sandbox.path + "/out"], nil),
                (["docker-credential", "get"], "https://h.example"), (["kubernetes-credential", "work/db"], nil),
                (["kubernetes-credential", "work/db/scan.pdf"], nil),
                (
                    ["cargo-credential", "--cargo-plugin"],
                    #"{"v":1,"registry":{"index-url":"https://h.example/i"},"kind":"get","operation":"read"}"# + "\n"
                ),
            ]
            return all
        }
    }

    @Test func `nothing of an entry that asks is given where nobody can be asked`() throws {
        for (words, input) in try faces {
            let result = try run(words, input: input)
            #expect(result.code != 0 || words[0] == "cargo-credential", "\(words)")
            #expect(!result.text.contains(Self.value) && !result.errors.contains(Self.value), "\(words)")
        }
        #expect(!FileManager.default.fileExists(atPath: sandbox.path + "/out"))
        // Another name is a use as well: it would lie below nothing.
        for words in [
            ["mv", "work/db/scan.pdf", "free/scan.pdf"], ["cp", "work/db/scan.pdf", "free/scan.pdf"],
            ["mv", "work/db/large.bin", "free/large.bin"], ["mv", "--yes", "work/db/more/", "free/"],
            ["mv", "secret-service/" + large, "free/large"], ["cp", "secret-service/" + large, "free/large"],
        ] {
            #expect(try run(words).code != 0, "\(words)")
        }
        #expect(try run(["rm", "work/db/scan.pdf"]).code == 0)
        #expect(try run(["trash", "restore", "work/db/scan.pdf", "--as", "free/scan.pdf"]).code != 0)
        #expect(try run(["list", "free"]).text.isEmpty)
        // What only looks as if it was below is nobody's but its own.
        #expect(try run(["get", "work/dbx/free"]).text == "free")
    }

    @Test func `without the agent each of them is given`() throws {
        for (words, input) in try faces where words[0] != "run" {
            let result = try run(words, input: input, isOwn: true)
            let isGiven = result.text.contains(Self.value) || words.contains("--out")
            #expect(result.code == 0 && isGiven, "\(words): \(result.errors)")
        }
        #expect(FileManager.default.fileExists(atPath: sandbox.path + "/out"))
    }
}
