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
    @Test func aProcesssShareTakesThePlaceOfTheOneBefore() throws {
        let keyring = try SessionKeyring()
        let environment = keyring.environment
        let item = try askKeyring("shares", "hold", "7", environment: environment)
        #expect(try askKeyring("shares", "read", item, environment: environment) == "7 32")
        #expect(try askKeyring("shares", "hold", "9", environment: environment) == item)
        #expect(try askKeyring("shares", "read", item, environment: environment) == "9 32")
        #expect(try askKeyring("shares", "revoke", item, environment: environment) == "gone")
    }

    @Test func whatIsAbsentIsToldApart() throws {
        let bus = try PrivateBus()
        #expect(
            try askKeyring("shares", "probe", environment: bus.environment)
                == "unavailable(KeyStores.ShareObstacle.absent(VaultFormat.KeyStoreKind.secretService, "
                + "\"no keyring runs in this session (gnome-keyring)\"))")
        let nowhere = ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent/bus"]
        #expect(
            try askKeyring("shares", "probe", environment: nowhere)
                == "unavailable(KeyStores.ShareObstacle.absent(VaultFormat.KeyStoreKind.secretService, "
                + "\"there is no session bus that a keyring could be on\"))")
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
        #expect(
            try askKeyring("shares", "probe", environment: bus.environment)
                == "unavailable(KeyStores.ShareObstacle.busy(\"the keyring does not answer\"))")
    }
}
