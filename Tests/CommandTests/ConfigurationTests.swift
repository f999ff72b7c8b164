import CommandLineArguments
import Foundation
import TestSupport
import Testing

@testable import HoldfastAgent
@testable import HoldfastCommand

/// The user's configuration file: what it changes, what it does not, and what is wrong in it.
@Suite struct ConfigurationTests {
    private func sandbox(_ text: String? = nil) throws -> Sandbox {
        let sandbox = try Sandbox(prepared: true)
        if let text {
            try FileManager.default.createDirectory(
                atPath: sandbox.path + "/.config/holdfast", withIntermediateDirectories: true)
            try text.write(toFile: sandbox.path + "/.config/holdfast/config", atomically: true, encoding: .utf8)
        }
        return sandbox
    }

    @Test func `what is set holds where the line says nothing else`() throws {
        let sandbox = try sandbox("# mine\n length=33 \n\nkinds = digits\nseparator = \" \"\n")
        let password = try sandbox.run("generate").text
        #expect(password.count == 33 && password.allSatisfy(\.isNumber), "\(password)")
        #expect(try sandbox.run("generate", "--length=12").text.count == 12)
        // A setting is no option on the line: it does not go against another one.
        let phrase = try sandbox.run("generate", "--words=4")
        #expect(phrase.code == 0 && phrase.text.split(separator: " ").count == 4, "\(phrase.errors)")
    }

    @Test(arguments: ["config", "holdfast"])
    func `a link to what is not there is no missing file`(_ name: String) throws {
        let sandbox = try sandbox("length=33\n")
        let link = sandbox.path + "/.config/holdfast" + (name == "config" ? "/config" : "")
        try FileManager.default.removeItem(atPath: link)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/nonexistent/place")
        for words in [["generate"], ["config"], ["config", "set", "length=20"]] {
            let refused = try sandbox.run(raw: words.map { Array($0.utf8) })
            #expect(
                refused.code == 1 && refused.errors.contains("\(link) is a link to /nonexistent/place, which is not"))
        }
        #expect(try sandbox.run("lock").code == 0)
    }

    /// A name would silently mean another place.
    @Test func `the setting for a collection is gone, and says so where names are taken`() throws {
        let sandbox = try sandbox("collection = files\n")
        for words in [["get", "big"], ["put", "new"], ["rm", "big"], ["show", "big"], ["mv", "big", "x"]] {
            let refused = try sandbox.run(raw: words.map { Array($0.utf8) }, passcode: Prepared.passcode)
            #expect(refused.code == 2 && refused.errors.contains("as in files/NAME"), "\(words) \(refused.errors)")
        }
        #expect(try sandbox.run("generate").code == 0)
        #expect(try sandbox.run("config", "set", "collection=x").code == 2)
        #expect(try sandbox.run("config", "set", "collection=").code == 0)
        #expect(try sandbox.run("get", "files/big", passcode: Prepared.passcode).output == Prepared.big)
    }

    @Test func `a setting is written into its line, and taken out again`() throws {
        let sandbox = try sandbox()
        let file = sandbox.path + "/.config/holdfast/config"
        #expect(try sandbox.run("config", "set", "clear-after=15s", "length=24").code == 0)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "clear-after = 15s\nlength = 24\n")
        let text = "# why\nlength = 24   \n\n# end\n"
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        #expect(try sandbox.run("config", "set", "length=30", "days=7").code == 0)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "# why\nlength = 30\n\n# end\ndays = 7\n")
        #expect(try sandbox.run("generate").text.count == 30)
        #expect(try sandbox.run("config", "set", "length=").code == 0)
        #expect(try sandbox.run("generate").text.count == 20)
        #expect(try sandbox.run("config", "set", "separator= - ").code == 0)
        #expect(try sandbox.run("generate", "--words=3").text.split(separator: " - ").count == 3)
        let shown = try sandbox.run("config", "show", "--json").json()
        #expect(shown["path"] as? String == file)
        let settings = try #require(shown["settings"] as? [[String: Any]])
        #expect(settings.compactMap { $0["name"] as? String } == Defaults.all.map(\.option.name))
        let days = try #require(settings.first { $0["name"] as? String == "days" })
        #expect(days["value"] as? String == "7" && days["isDefault"] as? Bool == false)
        let length = try #require(settings.first { $0["name"] as? String == "length" })
        #expect(length["value"] as? String == "20" && length["isDefault"] as? Bool == true)
        #expect(try sandbox.run("config", "show").text.contains(/\nidle +15min +default\n/))
    }

    @Test func `a file that is linked from elsewhere stays there`() throws {
        let sandbox = try sandbox("length = 21\n")
        let file = sandbox.path + "/.config/holdfast/config"
        let real = sandbox.path + "/dotfile"
        try FileManager.default.moveItem(atPath: file, toPath: real)
        try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: real)
        #expect(try sandbox.run("config", "set", "length=22").code == 0)
        #expect(try String(contentsOfFile: real, encoding: .utf8) == "length = 22\n")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: file) == real)
    }

    @Test(
        "what is wrong is said with its place",
        arguments: [
            ("length 20", "line 1: a setting is written NAME = VALUE"), ("length = 3", "line 1: length must be"),
            ("\nlenght = 20", "line 2: there is no setting lenght; did you mean length?"),
            ("length = 20\nlength = 21", "line 2: length is repeated"), ("kinds = upper,all", "must be a list of"),
            ("separator = 123456789", "at most 8 bytes"), ("home = /tmp", "there is no setting home"),
            ("passcode-fd = 3", "there is no setting passcode-fd"),
            ("pinentry = /tmp/mine", "there is no setting pinentry"),
        ])
    func isRefused(_ text: String, _ words: String) throws {
        let sandbox = try sandbox(text)
        let result = try sandbox.run("generate")
        #expect(result.code == 2 && result.errors.contains(words), "\(result.errors)")
        #expect(result.errors.contains(sandbox.path + "/.config/holdfast/config"))
        // What does not read it works.
        #expect(try sandbox.run("lock").code == 0)
        #expect(try sandbox.run("status").code == 0)
    }

    @Test func `a file that is none is refused, and a setting that is wrong changes nothing`() throws {
        let sandbox = try sandbox("")
        let file = sandbox.path + "/.config/holdfast/config"
        for words in [
            ["length=3"], ["length"], ["length=20", "length=21"], ["size=1"], ["kinds=x"], ["days=7\nidle=1"],
        ] {
            let result = try sandbox.run(raw: (["config", "set"] + words).map { Array($0.utf8) })
            #expect(result.code == 2, "\(words) \(result.errors)")
        }
        #expect(try String(contentsOfFile: file, encoding: .utf8).isEmpty)
        try Data([0xFF, 10]).write(to: URL(fileURLWithPath: file))
        #expect(try sandbox.run("generate").code == 2)
        try Data(repeating: UInt8(ascii: "#"), count: 70_000).write(to: URL(fileURLWithPath: file))
        #expect(try sandbox.run("generate").code == 1)
        try FileManager.default.removeItem(atPath: file)
        try #require(unsafe mkfifo(file, 0o600) == 0)
        #expect(try sandbox.run("generate").code == 1, "a pipe is not waited for")
        try FileManager.default.removeItem(atPath: file)
        #expect(try sandbox.run("generate").code == 0)
    }

    /// What is shown as a default is what holds without a file.
    @Test func `defaults are those of the options`() {
        for setting in Defaults.all {
            #expect(setting.option.kind?.complaint(setting.standard) ?? setting.complaint(setting.standard) == nil)
            let isNamed = setting.option.help.contains(setting.standard)
            #expect(isNamed || ["kinds", "separator"].contains(setting.option.name), "\(setting.option.help)")
        }
        #expect(AgentSettings.standardIdle == 900 && AgentSettings.standardTimeout == 43_200)
    }
}
