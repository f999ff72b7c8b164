import Foundation
import Synchronization

/// The real fprintd with libfprint's virtual sensor, on a bus of its own. Polkit is played, or the real one.
package final class FingerprintSensor: Sendable {
    package let bus: PrivateBus
    private let daemon = Mutex<Spawned?>(nil)

    package static let isInstalled =
        PrivateBus.hasMocks && FileManager.default.isExecutableFile(atPath: "/usr/libexec/fprintd")

    /// Who says whether a program may use the sensor.
    package enum Polkit: Sendable, Hashable {
        /// One that always says the same.
        case says(Bool)
        /// The real one, which lets root do everything.
        case real

        package static let program = "/usr/lib/polkit-1/polkitd"
        /// Whether the real one can be run: it begins as root and becomes a user of its own.
        package static let isInstalled = FileManager.default.isExecutableFile(atPath: program) && geteuid() == 0
    }

    /// - Parameter allows: Whether polkit lets this session use the sensor.
    package convenience init(allows: Bool) throws { try self.init(.says(allows)) }

    package init(_ polkit: Polkit = .says(true)) throws {
        bus = try PrivateBus()
        for name in ["state", "fprint"] {
            try FileManager.default.createDirectory(atPath: "\(bus.folder)/\(name)", withIntermediateDirectories: true)
        }
        switch polkit {
        case .real:
            unsafe _ = chmod(bus.folder, 0o711)  // it connects as its own user
            try bus.start([Polkit.program, "--no-debug"])
            try bus.waitForOwner("org.freedesktop.PolicyKit1")
        case .says(let allows):
            try bus.mock("polkitd", name: "org.freedesktop.PolicyKit1")
            try bus.python(
                """
                o = bus.get_object('org.freedesktop.PolicyKit1', '/org/freedesktop/PolicyKit1/Authority')
                dbus.Interface(o, 'org.freedesktop.DBus.Mock').AllowUnknown(\(allows ? "True" : "False"))
                """)
        }
        try startDaemon()
    }

    package func startDaemon() throws {
        let child = try bus.start(
            ["/usr/libexec/fprintd", "-t"],
            environment: [
                "FP_DRIVERS_WHITELIST": "virtual_device", "FP_VIRTUAL_DEVICE": socket,
                "STATE_DIRECTORY": "\(bus.folder)/state", "RUNTIME_DIRECTORY": "\(bus.folder)/fprint",
            ])
        daemon.withLock { $0 = child }
        try bus.waitForOwner("net.reactivated.Fprint")
    }

    /// Whether polkit says yes to a program on the bus that asks for the sensor.
    package func isAllowedByPolkit() throws -> Bool {
        let answer = try bus.python(
            """
            o = bus.get_object('org.freedesktop.PolicyKit1', '/org/freedesktop/PolicyKit1/Authority')
            subject = ('system-bus-name', dbus.Dictionary({'name': bus.get_unique_name()}, signature='sv'))
            answer = dbus.Interface(o, 'org.freedesktop.PolicyKit1.Authority').CheckAuthorization(
                subject, 'net.reactivated.fprint.device.verify', dbus.Dictionary({}, signature='ss'),
                dbus.UInt32(0), '')
            print(bool(answer[0]))
            """)
        return answer.trimmingCharacters(in: .whitespacesAndNewlines) == "True"
    }

    /// Ends the daemon as the system does when memory is short.
    package func killDaemon() { daemon.withLock { $0?.end(SIGKILL) } }

    /// Keeps the daemon from answering until ``resumeDaemon()``.
    package func pauseDaemon() { daemon.withLock { $0?.signal(SIGSTOP) } }
    package func resumeDaemon() { daemon.withLock { $0?.signal(SIGCONT) } }

    private var socket: String { "\(bus.folder)/finger.sock" }

    /// Does something at the sensor, once it is claimed: `SCAN finger`, `RETRY 1`, `ERROR 0`, `UNPLUG` and so on.
    package func touch(_ command: String) throws {
        try bus.wait("the sensor") { send(command) }
    }

    private func send(_ command: String) -> Bool {
        let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: socket.utf8) }
        let isConnected = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        let bytes = Array(command.utf8)
        return unsafe isConnected && write(descriptor, bytes, bytes.count) == bytes.count
    }

    /// Enrolls a finger with fprintd's own program.
    package func enroll(_ id: String, as finger: String = "right-index-finger") throws {
        // One scan for each time that it asks: one more would wait in the device for whoever comes next.
        let before = enrollmentScans()
        var sent = 0
        let program = try bus.start(["fprintd-enroll", "-f", finger])
        try bus.wait("the enrollment") {
            if sent < enrollmentScans() - before, send("SCAN \(id)") { sent += 1 }
            return !program.isRunning
        }
    }

    /// How often fprintd's program has asked for a finger.
    private func enrollmentScans() -> Int {
        let log = (try? String(contentsOfFile: bus.folder + "/log", encoding: .utf8)) ?? ""
        return log.split(separator: "\n").count { $0.hasPrefix("Enrolling ") || $0.hasSuffix("enroll-stage-passed") }
    }

    /// Forgets this user's fingers.
    package func forgetFingers() throws {
        let user = unsafe String(cString: getpwuid(getuid()).pointee.pw_name)
        try bus.run(["fprintd-delete", user])
    }
}
