import Foundation
import RealParts
import Testing

let subject: String = {
    let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent("KeyStoreSubject").path
}()

/// What a process of the session says that asks its keyring: a process keeps the bus that it connected to first.
func askKeyring(_ words: String..., environment: [String: String]) throws -> String {
    let (status, said) = try runSubject(words, environment: environment)
    #expect(status == 0)
    return said.trimmingCharacters(in: .newlines)
}

/// Exit status, or -1 for one that a signal ended, and what it said.
func runSubject(_ words: [String], environment: [String: String]) throws -> (Int32, String) {
    let path = NSTemporaryDirectory() + "holdfast-keyring-\(UUID().uuidString.prefix(8))"
    let file = unsafe open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    defer {
        close(file)
        unsafe unlink(path)
    }
    let status = try Spawned([subject] + words, environment: environment, output: file).wait()
    return (status, try String(contentsOfFile: path, encoding: .utf8))
}

/// The real gnome-keyring, asked by a process that belongs to its session.
@Suite(
    .enabled(if: SessionKeyring.isInstalled, "gnome-keyring or dbus-daemon is not installed: keyrings are not tested"))
struct SecretServiceTests {
    @Test func aShareRestsInTheKeyringUntilItIsLockedOrRemoved() throws {
        let keyring = try SessionKeyring()
        let environment = keyring.environment
        #expect(try askKeyring("probe", environment: environment) == "done")
        #expect(try askKeyring("get", "a", environment: environment).hasPrefix("notFound"))
        #expect(try askKeyring("put", "a", "7", environment: environment) == "done")
        #expect(try askKeyring("put", "b", "8", environment: environment) == "done")
        #expect(try askKeyring("get", "a", environment: environment) == "7 32")
        #expect(try askKeyring("put", "a", "9", environment: environment) == "done")
        #expect(
            try askKeyring("get", "a", environment: environment) == "9 32", "a second one takes the place of the first")
        #expect(try askKeyring("delete", "a", environment: environment) == "done")
        #expect(try askKeyring("delete", "a", environment: environment) == "done")
        #expect(try askKeyring("get", "a", environment: environment).hasPrefix("notFound"))
        try keyring.lock()
        for words in ["probe", "get", "put", "delete"] {
            #expect(try askKeyring(words, "b", "1", environment: environment).hasPrefix("lockedOut"), "\(words)")
        }
    }

    @Test func whatIsAbsentIsToldApart() throws {
        let bus = try PrivateBus()
        #expect(
            try askKeyring("probe", environment: bus.environment)
                == "unavailable: no keyring runs in this session (gnome-keyring)")
        let nowhere = ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent/bus"]
        #expect(
            try askKeyring("probe", environment: nowhere)
                == "unavailable: there is no session bus that a keyring could be on")
    }

    @Test(.enabled(if: PrivateBus.hasMocks, "python3-dbusmock is not installed: a silent keyring is not tested"))
    func aKeyringThatDoesNotAnswerIsBusy() throws {
        let bus = try PrivateBus()
        try bus.start([
            "/usr/bin/python3", "-c",
            """
            import dbus, signal
            bus = dbus.bus.BusConnection('\(bus.address)')
            bus.request_name('org.freedesktop.secrets')
            signal.pause()
            """,
        ])
        try bus.waitForOwner("org.freedesktop.secrets")
        #expect(try askKeyring("probe", environment: bus.environment) == "busy: the keyring does not answer")
    }
}
