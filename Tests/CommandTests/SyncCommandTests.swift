import Foundation
import TestSupport
import Testing

@testable import HoldfastCommand

/// `sync` as it is typed, on two devices with a folder between them.
@Suite struct SyncCommandTests {
    /// Two vaults that were made each for itself.
    private struct Devices {
        let laptop: Sandbox
        let phone: Sandbox
        let folder: String

        init() throws {
            laptop = try Sandbox(prepared: true)
            phone = try Sandbox(prepared: true)
            folder = laptop.path + "/carried"
        }

        /// Brings the phone into the laptop's group, with nobody at a terminal.
        func join() throws {
            let begun = try laptop.run("sync", "add", folder, "--name", "laptop", passcode: Prepared.passcode)
            try #require(begun.code == 0, "\(begun.errors)")
            try invite()
        }

        /// An invitation of the laptop's that the phone answers.
        func invite() throws {
            var ends: [Int32] = [-1, -1]
            try #require(unsafe pipe(&ends) == 0)
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            let twice = "\(Prepared.passcode)\n\(Prepared.passcode)\n"
            let errors = laptop.path + "/invite-errors"
            let inviting = try Child(
                raw: ["sync", "invite", "--yes", "--passcode-fd", "3", "--code-out-fd", "5"].map { Array($0.utf8) },
                descriptors: [3: .file(laptop.file(twice.utf8)), 5: .ours(ends[1]), 2: .output(errors)],
                environment: ["HOLDFAST_HOME": laptop.home, "HOME": laptop.path, "TMPDIR": laptop.path])
            close(ends[1])
            defer { close(ends[0]) }
            let joined = try phone.run(
                "sync", "add", folder, "--name", "phone", "--passcode-fd", "3", "--code-fd", "5",
                descriptors: [3: .file(phone.file(twice.utf8)), 5: .ours(ends[0])])
            #expect(joined.code == 0, "\(joined.errors)")
            let said = try String(decoding: laptop.bytes("invite-errors"), as: UTF8.self)
            #expect(inviting.wait() == 0, "\(said)")
        }

        func now(_ sandbox: Sandbox) throws -> [String: Any] {
            let result = try sandbox.run("sync", "now", "--json", passcode: Prepared.passcode)
            try #require(result.code == 0, "\(result.errors) \(result.text)")
            return try result.json()
        }
    }

    @Test func `an entry of one device is on the other, with the same words of both`() throws {
        let devices = try Devices()
        try devices.join()
        let added = try devices.laptop.run(
            "add", "logins/mail", "-u", "ada", "--generate", passcode: Prepared.passcode)
        #expect(added.code == 0, "\(added.errors)")
        _ = try devices.now(devices.laptop)
        let there = try devices.now(devices.phone)
        let shown = try devices.phone.run("show", "logins/mail", passcode: Prepared.passcode)
        #expect(shown.code == 0 && shown.text.contains("ada"), "\(shown.errors) \(there)")
        _ = try devices.now(devices.laptop)
        let here = try devices.now(devices.laptop)
        #expect(here["state"] as? String == there["state"] as? String)
        let names = (here["devices"] as? [[String: Any]])?.compactMap { $0["name"] as? String }
        #expect(names == ["laptop", "phone"])
    }

    @Test func `on terminals the seven words are typed and the six compared`() throws {
        let devices = try Devices()
        let (left, right) = (try PseudoTerminal(), try PseudoTerminal())
        let begun = try devices.laptop.run(
            "sync", "add", devices.folder, "--name", "laptop", passcode: Prepared.passcode)
        try #require(begun.code == 0, "\(begun.errors)")
        let inviting = try devices.laptop.start("sync", "invite", on: left)
        try left.wait(for: "Passcode: ")
        left.type(Prepared.passcode + "\n")
        let page = try left.wait(for: "On the other device")
        let words = try #require(page.firstMatch(of: /\ {4}((?:[a-z]+\ ){6}[a-z]+)/)).1
        let joining = try devices.phone.start("sync", "add", devices.folder, "--name", "phone", on: right)
        try right.wait(for: "Passcode: ")
        right.type(Prepared.passcode + "\n")
        try right.wait(for: "(not shown): ")
        right.type("zebra " + words + "\n")
        // Eight are none.
        try right.wait(for: "(not shown): ")
        right.type(words + "\n")
        try right.wait(for: "shows the same: ")
        let six = try right.wait(for: "\n")
        let compared = try left.wait(for: "Are they the same on both devices?")
        #expect(compared.contains("phone wants to join"))
        #expect(compared.contains(six.trimmingCharacters(in: .whitespacesAndNewlines)))
        left.type("y\n")
        try left.wait(for: "confirm: ")
        left.type(Prepared.passcode + "\n")
        try right.wait(for: "confirm: ")
        right.type(Prepared.passcode + "\n")
        try right.wait(for: "state")
        #expect(joining.wait() == 0)
        #expect(inviting.wait() == 0)
    }

    @Test func `who says that the words differ adds nobody`() throws {
        let devices = try Devices()
        let (left, right) = (try PseudoTerminal(), try PseudoTerminal())
        let begun = try devices.laptop.run(
            "sync", "add", devices.folder, "--name", "laptop", passcode: Prepared.passcode)
        try #require(begun.code == 0, "\(begun.errors)")
        let inviting = try devices.laptop.start("sync", "invite", on: left)
        try left.wait(for: "Passcode: ")
        left.type(Prepared.passcode + "\n")
        let page = try left.wait(for: "On the other device")
        let words = try #require(page.firstMatch(of: /\ {4}((?:[a-z]+\ ){6}[a-z]+)/)).1
        let joining = try devices.phone.start("sync", "add", devices.folder, "--name", "phone", on: right)
        try right.wait(for: "Passcode: ")
        right.type(Prepared.passcode + "\n")
        try right.wait(for: "(not shown): ")
        right.type(words + "\n")
        try left.wait(for: "Are they the same on both devices?")
        left.type("n\n")
        #expect(inviting.wait() == ExitCode.failure.rawValue)
        try right.wait(for: "Confirm them on the other device")
        right.type("\u{3}")
        #expect(joining.wait() == ExitCode.interrupted.rawValue)
        let status = try devices.laptop.run("sync", "status", "--json", passcode: Prepared.passcode).json()
        #expect((status["devices"] as? [Any])?.count == 1)
        let alone = try devices.phone.run("sync", "status", passcode: Prepared.passcode)
        #expect(alone.code == 6 && alone.errors.contains("not synced"), "\(alone.errors)")
        let left2 = try FileManager.default.contentsOfDirectory(atPath: devices.folder + "/join")
        #expect(!left2.contains { $0.contains("-invitation-") })
    }

    @Test func `a device that is removed gets nothing any more, and one that leaves keeps its entries`() throws {
        let devices = try Devices()
        try devices.join()
        let removed = try devices.laptop.run("sync", "remove", "phone", "--yes", passcode: Prepared.passcode)
        #expect(removed.code == 0, "\(removed.errors)")
        let added = try devices.laptop.run("add", "later", "-u", "ada", "--generate", passcode: Prepared.passcode)
        #expect(added.code == 0)
        _ = try devices.now(devices.laptop)
        let told = try devices.phone.run("sync", "now", passcode: Prepared.passcode)
        #expect(told.code == 1 && told.text.contains("was removed from the group"), "\(told.text) \(told.errors)")
        let inviting = try devices.phone.run(
            "sync", "invite", "--yes", "--code-out-fd", "1", passcode: Prepared.passcode)
        #expect(inviting.code == 3 && inviting.errors.contains("not in the group any more"), "\(inviting.errors)")
        #expect(try devices.phone.run("show", "later", passcode: Prepared.passcode).code == 6)
        let left = try devices.phone.run("sync", "leave", "--yes", passcode: Prepared.passcode)
        #expect(left.code == 0, "\(left.errors)")
        #expect(try devices.phone.run("get", "greeting", passcode: Prepared.passcode).text == Prepared.greeting)
        #expect(try devices.phone.run("sync", "status", passcode: Prepared.passcode).code == 6)
        // With new words it comes back.
        try devices.invite()
        #expect(try devices.phone.run("show", "later", passcode: Prepared.passcode).code == 0)
    }

    @Test func `folders that cannot be used are refused, and nothing is begun`() throws {
        let devices = try Devices()
        let full = try devices.laptop.file("x".utf8, "somebody")
        let folder = (full as NSString).deletingLastPathComponent
        for (path, text) in [
            (devices.laptop.home, "is a vault's folder"), (devices.laptop.home + "/inner", "is a vault's folder"),
            (folder, "not empty"), (devices.laptop.path + "/none/deeper", "there is no folder"),
        ] {
            let refused = try devices.laptop.run("sync", "add", path, passcode: Prepared.passcode)
            #expect(refused.code == 1 && refused.errors.contains(text), "\(path): \(refused.errors)")
        }
        let status = try devices.laptop.run("sync", "status", "--json", passcode: Prepared.passcode)
        #expect(status.code == 6)
        #expect(try status.jsonError()["code"] as? String == "notSynced")
        for words in [
            ["now"], ["invite", "--yes", "--code-out-fd", "1"], ["remove", "x", "--yes"], ["leave", "--yes"],
        ] {
            let nothing = try devices.laptop.run(
                raw: (["sync"] + words).map { Array($0.utf8) }, passcode: Prepared.passcode)
            #expect(nothing.code == 6 && nothing.errors.contains("not synced"), "\(words): \(nothing.errors)")
        }
    }
}
