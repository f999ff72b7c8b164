import Foundation
import Testing

@testable import HoldfastCommand

/// `backup` and `restore` as they are used every day.
@Suite struct BackupCommandTests {
    @Test func `the same line brings a backup up to date, day by day`() throws {
        let sandbox = try Sandbox(prepared: true)
        let copy = sandbox.path + "/copy"
        #expect(try sandbox.run("backup", copy).code == 0)
        let value = Source.file(try sandbox.file("new\n".utf8))
        try #require(sandbox.run("put", "day two", passcode: Prepared.passcode, input: value).code == 0)
        #expect(try sandbox.run("backup", copy).code == 0)
        #expect(try sandbox.run("backup", copy, "--update").code == 0, "scripts have the option")
        let read = try sandbox.run("get", "day two", "--home", copy, passcode: Prepared.passcode)
        #expect(read.text == "new\n", "\(read.errors)")
        #expect(try !sandbox.run("backup", "--help").text.contains("--update"))
    }

    @Test func `generations are kept by number, and the newest is named where none is restored by itself`() throws {
        let sandbox = try Sandbox(prepared: true)
        let folder = sandbox.path + "/copies"
        for _ in 0..<3 {
            let made = try sandbox.run("backup", folder, "--keep", "2")
            #expect(made.code == 0, "\(made.errors)")
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        #expect(names.count == 2 && names.allSatisfy { $0.hasSuffix("Z") && $0.count == 20 }, "\(names)")
        let newest = folder + "/" + (names.last ?? "")
        let home = sandbox.path + "/restored"
        let which = try sandbox.run("restore", folder, "--home", home)
        #expect(which.code == 6 && which.errors.contains(newest), "\(which.errors)")
        #expect(try sandbox.run("restore", newest, "--home", home).code == 0)
        #expect(try sandbox.run("backup", newest, "--keep", "2").code == 1, "a backup is no folder of backups")
        #expect(try sandbox.run("backup", folder, "--keep", "2", "--json").json()["removed"] as? Int == 1)
    }

    @Test func `a backup of a time after tomorrow is named, and a link to nothing is too`() throws {
        let sandbox = try Sandbox(prepared: true)
        let folder = sandbox.path + "/copies"
        try #require(sandbox.run("backup", folder, "--keep", "1").code == 0)
        let made = try #require(try FileManager.default.contentsOfDirectory(atPath: folder).first)
        try FileManager.default.moveItem(atPath: "\(folder)/\(made)", toPath: folder + "/9999-12-31T23-59-59Z")
        let next = try sandbox.run("backup", folder, "--keep", "1")
        #expect(next.code == 0 && next.errors.contains("\(folder)/9999-12-31T23-59-59Z has a date after tomorrow"))
        let json = try sandbox.run("backup", folder, "--keep", "1", "--json").json()
        #expect(json["ahead"] as? [String] == ["9999-12-31T23-59-59Z"] && json["removed"] as? Int == 1)

        let link = sandbox.path + "/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "gone")
        let said = "\(link) is a link to gone, which is not there; nothing was changed"
        let copy = sandbox.path + "/copy"
        try #require(sandbox.run("backup", copy).code == 0)
        for (words, code) in [
            (["backup", link], 1), (["backup", link, "--keep", "1"], 1), (["restore", copy, "--home", link], 1),
            (["restore", link], 6), (["status", "--home", link], 6),
            (["init", "--device", "--file", "--home", link], 6),
        ] as [([String], Int32)] {
            let refused = try sandbox.run(raw: words.map { Array($0.utf8) })
            #expect(refused.code == code && refused.errors.contains(said), "\(words): \(refused.errors)")
            #expect(!refused.errors.contains("holdfast init"), "\(refused.errors)")
        }
    }

    @Test func `restore tells what the wrong passcodes of that day leave`() throws {
        let sandbox = try Sandbox(prepared: true)
        let (copy, fresh) = (sandbox.path + "/copy", sandbox.path + "/fresh")
        try #require(sandbox.run("backup", fresh).code == 0)
        for guess in ["one", "two", "three"] { _ = try sandbox.run("passcode", "check", passcode: guess) }
        try #require(sandbox.run("backup", copy).code == 0)
        let restored = try sandbox.run("restore", copy, "--home", sandbox.path + "/a")
        #expect(restored.text.contains("attempts are as they were at the backup: 2 of 5 left"), "\(restored.text)")
        let clean = try sandbox.run("restore", fresh, "--home", sandbox.path + "/b")
        #expect(clean.code == 0 && !clean.text.contains("attempts"), "\(clean.text)")
        let json = try sandbox.run("restore", copy, "--home", sandbox.path + "/c", "--json").json()
        #expect(json["remainingAttempts"] as? Int == 2)
    }
}
