import Foundation
import Synchronization

/// A D-Bus daemon of a test's own, in a folder of its own, with the services that were started on it.
package final class PrivateBus: Sendable {
    package let folder: String
    private let started: Started

    package static let isInstalled = FileManager.default.isExecutableFile(atPath: "/usr/bin/dbus-daemon")

    package init() throws {
        folder = NSTemporaryDirectory() + "holdfast-bus-\(UUID().uuidString.prefix(8))"
        started = Started(in: folder)
        try FileManager.default.createDirectory(
            atPath: folder + "/run", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let configuration = """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
              <type>system</type><listen>unix:path=\(folder)/bus.sock</listen><auth>EXTERNAL</auth>
              <limit name="max_connections_per_user">2000</limit>
              <policy context="default">
                <allow user="*"/><allow own="*"/><allow send_destination="*" eavesdrop="true"/>
                <allow eavesdrop="true"/><allow send_type="method_call"/><allow send_type="signal"/>
                <allow receive_type="method_call"/><allow receive_type="signal"/>
                <allow receive_type="method_return"/><allow receive_type="error"/>
              </policy>
            </busconfig>
            """
        try configuration.write(toFile: folder + "/bus.conf", atomically: true, encoding: .utf8)
        try start(["dbus-daemon", "--config-file=\(folder)/bus.conf", "--nofork", "--nopidfile"])
        try wait("the bus") {
            FileManager.default.fileExists(atPath: "\(folder)/bus.sock")
                && (try? owner(of: "org.freedesktop.DBus")) != nil
        }
    }

    deinit { started.end() }

    /// As D-Bus writes it.
    package var address: String { "unix:path=\(folder)/bus.sock" }

    package var environment: [String: String] {
        ["DBUS_SYSTEM_BUS_ADDRESS": address, "DBUS_SESSION_BUS_ADDRESS": address]
    }

    /// Starts a service that is ended with the bus.
    @discardableResult
    package func start(_ words: [String], environment more: [String: String] = [:]) throws -> Spawned {
        let log = unsafe open(folder + "/log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        defer { close(log) }
        let child = try Spawned(words, environment: environment.merging(more) { $1 }, output: log)
        started.add(child)
        return child
    }

    /// Waits for something that a process brings about; there is nothing of it to wait on.
    package func wait(_ what: String, until isThere: () -> Bool) throws {
        let end = ContinuousClock.now + .seconds(600)
        while !isThere() {
            guard ContinuousClock.now < end else {
                let log = (try? String(contentsOfFile: folder + "/log", encoding: .utf8)) ?? ""
                throw Spawned.Problem("\(what) does not come up: \(log)")
            }
            usleep(5000)
        }
    }

    /// Starts a service of python-dbusmock and waits for its name.
    package func mock(_ template: String, name: String) throws {
        try start(["/usr/bin/python3", "-m", "dbusmock", "--system", "--template", template])
        try waitForOwner(name)
    }

    /// Starts an object without anything on it, which ``emit(_:path:interface:member:_:)`` speaks for.
    package func mock(name: String, path: String, interface: String) throws {
        try start(["/usr/bin/python3", "-m", "dbusmock", "--system", name, path, interface])
        try waitForOwner(name)
    }

    package static let hasMocks =
        isInstalled && FileManager.default.fileExists(atPath: "/usr/lib/python3/dist-packages/dbusmock/__init__.py")

    package func waitForOwner(_ name: String) throws {
        try wait(name) { (try? owner(of: name)) != nil }
    }

    /// The unique name of who has a name; throws where nobody has it.
    package func owner(of name: String) throws -> String {
        let output = try run([
            "dbus-send", "--bus=\(address)", "--print-reply=literal", "--dest=org.freedesktop.DBus",
            "/org/freedesktop/DBus", "org.freedesktop.DBus.GetNameOwner", "string:\(name)",
        ])
        return output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Runs a program of the bus to its end.
    @discardableResult
    package func run(_ words: [String]) throws -> String {
        let path = "\(folder)/output-\(UUID().uuidString.prefix(8))"
        let file = unsafe open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        defer {
            close(file)
            unsafe unlink(path)
        }
        let status = try Spawned(words, environment: environment, output: file).wait()
        let output = try String(contentsOfFile: path, encoding: .utf8)
        guard status == 0 else { throw Spawned.Problem("\(words.joined(separator: " ")): \(status) \(output)") }
        return output
    }

    /// Runs Python with a connection `bus` to this bus.
    @discardableResult
    package func python(_ script: String) throws -> String {
        try run(["/usr/bin/python3", "-c", "import dbus, sys\nbus = dbus.bus.BusConnection('\(address)')\n" + script])
    }

    /// Has a mocked service emit a signal.
    package func emit(
        _ service: String, path: String, interface: String, member: String, signature: String, _ arguments: String
    ) throws {
        try python(
            """
            o = bus.get_object('\(service)', '\(path)')
            dbus.Interface(o, 'org.freedesktop.DBus.Mock').EmitSignal(
                '\(interface)', '\(member)', '\(signature)', [\(arguments)])
            """)
    }
}
