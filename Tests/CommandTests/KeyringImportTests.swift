import Foundation
import HoldfastCommand
import Items
import RealParts
import TestSupport
import Testing

/// `import --format gnome-keyring`, from the real gnome-keyring and from what is in its place.
@Suite(
    .enabled(if: SessionKeyring.isInstalled, "gnome-keyring or dbus-daemon is not installed: no import from keyrings"))
struct KeyringImportTests {
    private let keyring: SessionKeyring
    private let sandbox: Sandbox

    init() throws {
        keyring = try SessionKeyring()
        sandbox = try Sandbox(prepared: true)
    }

    private func take(_ options: String..., bus: [String: String]? = nil) throws -> Sandbox.Result {
        try sandbox.run(
            raw: (["import", "--from-keyring"] + options).map { Array($0.utf8) }, passcode: Prepared.passcode,
            environment: bus ?? keyring.bus.environment)
    }

    private func store() throws {
        try keyring.bus.python(
            """
            import os, sys; sys.path.append('/usr/lib/python3/dist-packages')
            import secretstorage as s
            os.environ['DBUS_SESSION_BUS_ADDRESS'] = '\(keyring.bus.address)'
            bus = s.dbus_init()
            c = s.get_default_collection(bus)
            c.create_item('Mail', {'user': 'ada', 'x=%': 'a\\nb=c'}, b's3cret')
            c.create_item('Mail', {'user': 'bob'}, b'\\xff\\x00\\n', content_type='application/octet-stream')
            c.create_item('a share', {'xdg:schema': 'org.holdfast.Share'}, b'share')
            c.create_item('long', {'n': 'x' * 5000}, b'v')
            c.create_item('big', {'n': '1'}, b'v' * 800000)
            c.create_item('', {'none': ''}, b'')
            s.Collection(bus, '/org/freedesktop/secrets/collection/session').create_item('gone', {'s': '1'}, b'v')
            """)
    }

    @Test func `a dry run shows the items, and an import brings them once`() throws {
        try store()
        let dry = try take("--dry-run")
        #expect(dry.code == 8 && !dry.text.contains("s3cret"), "\(dry.errors)")
        #expect(dry.text.split(separator: "\n").count { $0.hasPrefix("add\t") } == 3, "\(dry.text)")
        #expect(try !sandbox.run("list", passcode: Prepared.passcode).text.contains("Mail"))
        let done = try take("--json")
        #expect(done.code == 8, "\(done.errors)")
        // In the order in which the keyring names them, which is any.
        let added = try done.json()["added"] as? [String]
        #expect(added?.sorted() == ["Mail", "Mail (2)", "unnamed"], "\(done.text)")
        let told = try #require(try done.json()["notUnderstood"] as? [[String: String]])
        let notes = told.map { "\($0["result"] ?? ""): \($0["name"] ?? ""): \($0["what"] ?? "")" }
        for (place, why) in [
            ("Login/a share", "share of a vault's key"), ("Login/long", "attributes"), ("Login/big", "too large"),
            ("session", "until the logout"),
        ] { #expect(notes.count { $0.contains(place) && $0.contains(why) } == 1, "\(notes)") }
        #expect(notes.count == 4)
        let again = try take("--json").json()
        #expect((again["added"] as? [Any])?.isEmpty ?? false)
        #expect((again["duplicates"] as? [Any])?.count == 3)
    }

    @Test func `programs find afterwards what they had stored`() throws {
        try store()
        let service = try SecretServiceTests()
        let done = try service.sandbox.sandbox.run(
            "import", "--format=gnome-keyring", passcode: Prepared.passcode, environment: keyring.bus.environment)
        #expect(done.code == 8, "\(done.errors)")
        let found = try service.run(
            """
            secret-tool lookup user ada; echo
            secret-tool lookup 'x=%' $'a\\nb=c'; echo
            secret-tool lookup user bob | od -An -tx1
            """)
        #expect(found.text == "s3cret\ns3cret\n ff 00 0a\n", "\(found.text) \(found.errors)")
        let own = try service.sandbox.sandbox.run(
            "import", "--format=gnome-keyring", passcode: Prepared.passcode, environment: service.bus.environment)
        #expect(own.code == 1 && own.errors.contains("is Holdfast itself"), "\(own.code) \(own.errors)")
    }

    @Test func `a keyring that stays locked is named and left out`() throws {
        try store()
        try keyring.lock()
        let result = try take("--json")
        #expect(result.code == 8, "\(result.errors)")
        #expect(try (result.json()["added"] as? [Any])?.isEmpty ?? false)
        let told = try result.json()["notUnderstood"] as? [[String: String]]
        #expect(told?.contains { $0["name"] == "Login" && $0["what"] == "a keyring that is locked" } ?? false)
    }

    @Test func `what is no keyring is said`() throws {
        try keyring.stop()
        func refused(_ code: Int32, _ words: String, _ result: Sandbox.Result) {
            #expect(result.code == code && result.errors.contains(words), "\(result.code) \(result.errors)")
        }
        try refused(6, "no keyring runs", take())
        try keyring.startAnother()
        try refused(1, "NotSupported", take())
        let many = try SessionKeyring()
        try many.stop()
        try many.startAnother(named: 65)
        try refused(1, "more than 64 collections", take(bus: many.bus.environment))
        try refused(1, "session bus", take(bus: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere"]))
        try refused(2, "leave FILE out", take("file"))
        try refused(2, "only one of", take("--format=csv"))
        try refused(2, "FILE is missing", sandbox.run("import", passcode: Prepared.passcode))
    }

    @Test(arguments: ["collections", "session", "collection", "item", "secret", "endless", "prompt"])
    func `a keyring that does not come to an end is left`(_ place: String) throws {
        try keyring.stop()
        try keyring.startStuck(place)
        let error = #expect(throws: CommandError.self) {
            _ = try KeyringStore.read(at: keyring.bus.address, longest: 2000)
        }
        #expect(error?.message.contains("answers too slowly") ?? false, "\(String(describing: error))")
    }
}
