import Foundation
import Items
import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultFormat

/// Entries whose main value is none: a program's secret is a value of its own and the entry's tag was taken away, or
/// there is only what `echo` leaves. No face takes that for a secret.
@Suite struct LargeSecretFaceTests {
    private let sandbox: AgentSandbox
    /// Where the large secrets are.
    private let places: [String]

    init() throws {
        sandbox = try AgentSandbox()
        places = try sandbox.sandbox.withItems { items in
            var places: [String] = []
            for (collection, name) in [
                ("work", "large"), ("docker", "https://large.example"), ("cargo", "https://large.example/i"),
                ("credentials", "web.service/large"),
            ] {
                var item = try Item(.login)
                try item.add(.text, "username", secret("ada"))
                try item.add(.secret, "password", secret(""))
                let value = [UInt8](repeating: UInt8(ascii: "x"), count: 800_000)
                let large = try LargeSecret(of: item.id, size: value.count)
                try item.lead(to: large)
                try value.lend { try items.vault.put(bytes: $0, for: large.name, in: LargeSecret.folder) }
                try items.add(item, as: name, in: collection)
                places.append("\(LargeSecret.folder)/\(large.name)")
                var blank = try Item(.login)
                try blank.add(.text, "username", secret("ada"))
                try blank.add(.secret, "password", secret("\r\n"))
                try items.add(blank, as: name.replacing("large", with: "blank"), in: collection)
            }
            return places
        }
        #expect(try sandbox.run("unlock", passcode: Prepared.passcode).code == 0)
    }

    private func run(_ words: [String], input: String? = nil) throws -> Sandbox.Result {
        try sandbox.run(
            raw: words.map { Array($0.utf8) }, input: input.map { .file(try sandbox.file($0.utf8)) } ?? .null)
    }

    private func askCargo(_ host: String) throws -> Sandbox.Result {
        try run(
            ["cargo-credential", "--cargo-plugin"],
            input: #"{"v":1,"registry":{"index-url":"https://\#(host)/i"},"kind":"get","operation":"read"}"# + "\n")
    }

    @Test func `a secret that is elsewhere is refused with its place`() throws {
        let template = try sandbox.file("{{ holdfast://work/large }}".utf8)
        for words in [
            ["get", "holdfast://work/large"], ["get", "holdfast://work/large/PASSWORD"],
            ["get", "holdfast://work/large/password#1"], ["show", "work/large", "-f", "password"],
            ["show", "work/large", "-f", "passw"], ["inject", "--in", template],
            ["run", "--env", "A=holdfast://work/large", "--", "/bin/echo", "started"],
            ["kubernetes-credential", "work/large"],
        ] {
            let result = try run(words)
            #expect(result.code != 0 && result.text.isEmpty && result.errors.contains(places[0]), "\(words)")
        }
        #expect(try run(["get", "holdfast://work/large/username"]).text == "ada")
        let docker = try run(["docker-credential", "get"], input: "https://large.example")
        #expect(docker.code != 0 && !docker.text.contains("Username") && docker.text.contains(places[1]))
        let cargo = try askCargo("large.example").text
        #expect(cargo.contains(places[2]) && !cargo.contains("token\""), "\(cargo)")
        // It is no entry's, and there is no tag on it.
        #expect(try run(["get", places[0]]).text.count == 800_000)
        #expect(try run(["kubernetes-credential", places[0]]).text.isEmpty)
    }

    @Test func `an empty token is none`() throws {
        #expect(try run(["kubernetes-credential", "work/blank"]).text.isEmpty)
        let docker = try run(["docker-credential", "get"], input: "https://blank.example")
        #expect(docker.code != 0 && !docker.text.contains("Username"))
        let cargo = try askCargo("blank.example").text
        #expect(cargo.contains("is empty") && !cargo.contains("token\""), "\(cargo)")
    }

    @Test func `an export leaves no empty password behind`() throws {
        let file = sandbox.path + "/export.json"
        let exported = try sandbox.run(
            "export", file, "--plain", "--yes", "--collection", "work", passcode: Prepared.passcode)
        #expect(exported.code == 0, "\(exported.errors)")
        let imported = try sandbox.run("import", file, "--collection", "again", passcode: Prepared.passcode)
        #expect(imported.code == 0, "\(imported.errors)")
        let read = try run(["get", "holdfast://again/work%2Flarge"])
        let isRefused = read.code != 0 && read.text.isEmpty && read.errors.contains(LargeSecret.label)
        #expect(isRefused, "\(imported.errors) \(read.errors)")
    }

    @Test func `a password that was entered since is the secret`() throws {
        let changed = try sandbox.run(
            "edit", "work/large", "--field", "password", "--secret-fd=5", descriptors: [5: sandbox.lines("new")])
        #expect(changed.code == 0, "\(changed.errors)")
        #expect(try run(["get", "holdfast://work/large"]).text == "new")
        #expect(try run(["get", places[0]]).code != 0)
        #expect(try !run(["show", "work/large"]).text.contains(LargeSecret.label))
        #expect(try run(["get", places[1]]).code == 0)
    }
}
