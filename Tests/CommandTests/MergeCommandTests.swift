import Foundation
import Testing

@testable import HoldfastCommand

/// `merge` as it is typed: a backup of the other machine into the vault of this one.
@Suite struct MergeCommandTests {
    private func add(_ name: String, _ user: String, _ home: String, _ sandbox: Sandbox) throws {
        let added = try sandbox.run(
            "add", name, "-u", user, "--generate", "--home", home, passcode: Prepared.passcode)
        #expect(added.code == 0, "\(added.errors)")
    }

    /// The line, with the other vault's passcode on a descriptor.
    private func merge(
        _ other: String, _ words: String..., passcode: String? = Prepared.passcode, theirs: String = Prepared.passcode,
        in sandbox: Sandbox
    ) throws -> Sandbox.Result {
        let file = Source.file(try sandbox.file((theirs + "\n").utf8))
        return try sandbox.run(
            raw: (["merge", other, "--other-passcode-fd", "5"] + words).map { Array($0.utf8) }, passcode: passcode,
            descriptors: [5: file])
    }

    @Test func `two machines that restored one backup have what both have`() throws {
        let sandbox = try Sandbox(prepared: true)
        let other = sandbox.path + "/other"
        try #require(sandbox.run("backup", other).code == 0)
        try add("logins/new", "eve", other, sandbox)
        try add("logins/own", "ada", sandbox.home, sandbox)
        let dry = try merge(other, "--dry-run", in: sandbox)
        #expect(dry.code == 0 && dry.text == "add\tlogins/new\n", "\(dry.text) \(dry.errors)")
        #expect(try sandbox.run("show", "logins/new", passcode: Prepared.passcode).code == 6)
        let json = try merge(other, "--json", in: sandbox).json()
        #expect(json["added"] as? [String] == ["logins/new"] && json["isDryRun"] as? Bool == false)
        for (name, user) in [("logins/new", "eve"), ("logins/own", "ada")] {
            let shown = try sandbox.run("show", name, passcode: Prepared.passcode)
            #expect(shown.code == 0 && shown.text.contains(user), "\(shown.errors)")
        }
        let again = try merge(other, in: sandbox)
        #expect(again.code == 0 && again.errors.contains("Added 0 entries, changed 0 entries"), "\(again.errors)")
    }

    @Test func `another entry of the same name is told with the name that it gets`() throws {
        let sandbox = try Sandbox(prepared: true)
        let other = sandbox.path + "/other"
        try #require(sandbox.run("backup", other).code == 0)
        try add("mail", "eve", other, sandbox)
        try add("mail", "ada", sandbox.home, sandbox)
        let merged = try merge(other, in: sandbox)
        #expect(merged.code == 0 && merged.errors.contains("mail comes in as mail ("), "\(merged.errors)")
    }

    @Test func `a wrong passcode of the other vault, this vault itself and what is no vault change nothing`() throws {
        let sandbox = try Sandbox(prepared: true)
        let other = sandbox.path + "/other"
        try #require(sandbox.run("backup", other).code == 0)
        let wrong = try merge(other, theirs: "wrong", in: sandbox)
        #expect(wrong.code == 3 && wrong.text.isEmpty, "\(wrong.code) \(wrong.errors)")
        let itself = try merge(sandbox.home, in: sandbox)
        #expect(itself.code == 2 && itself.errors.contains("is this vault itself"), "\(itself.errors)")
        let nothing = try merge(sandbox.path + "/none", in: sandbox)
        #expect(nothing.code == 6 && nothing.errors.contains("there is no vault at"), "\(nothing.errors)")
        let both = try merge(other, "--other-phrase-fd", "5", in: sandbox)
        #expect(both.code == 2 && both.errors.contains("use only one of"), "\(both.errors)")
    }
}
