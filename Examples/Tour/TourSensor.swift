internal import DeviceOwner
internal import Holdfast
internal import Synchronization
internal import SystemCalls

/// A fingerprint sensor of the tour's own: the real fprintd over libfprint's virtual device, and the real polkit, on a
/// bus of their own. Everything ends with this object. The machine's own sensor and its fingers are not touched.
final class TourSensor {
    let authenticator: OwnerAuthenticator
    private let folder: String
    /// Where the bus is. Polkit connects to it as a separate user, which has no access to the tour's folder.
    private let place: String
    private var processes: [TourProcess] = []

    private static let daemon = "/usr/libexec/fprintd"
    private static let polkit = "/usr/lib/polkit-1/polkitd"
    private static let polkitName = "org.freedesktop.PolicyKit1"

    private var address: String { "unix:path=\(place)/bus" }
    /// Where the virtual device listens while it is claimed.
    private var device: String { folder + "/finger" }

    /// What keeps a sensor from being brought up; nil where nothing is known to.
    static var obstacle: String? {
        let needed = ["/usr/bin/dbus-daemon", "/usr/bin/dbus-send", "/usr/bin/fprintd-enroll", daemon, polkit]
        if let missing = needed.first(where: { unsafe access($0, X_OK) != 0 }) { return "\(missing) is not installed" }
        // Fprintd asks polkit before anything else, which becomes a user of its own.
        return geteuid() == 0 ? nil : "polkit, which fprintd asks, has to be started as root"
    }

    /// - Throws: ``TourFailure`` for one that does not come up.
    init(_ tour: Tour, name: String = "sensor") throws {
        folder = "\(tour.scratch)/\(name)"
        try tour.expect(unsafe mkdir(folder, 0o700) == 0, "no folder \(folder): \(SystemError.last)")
        var template = Array("\(tour.scratch)-bus-XXXXXX".utf8CString)
        try tour.expect(unsafe mkdtemp(&template) != nil, "no folder for a bus: \(SystemError.last)")
        place = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        unsafe _ = chmod(place, 0o711)
        var places = OwnerAuthenticator.Places()
        places.systemBus = BusAddress("unix:path=\(place)/bus")
        places.daemonUser = geteuid()
        authenticator = OwnerAuthenticator(places)
        try tour.write(Array(TourSensor.configuration(place).utf8), to: folder + "/bus.conf")
        try tour.expect(try start() && isThere { capability(is: .notEnrolled) }, "no virtual sensor comes up")
    }

    deinit {
        for process in processes.reversed() { process.end() }
        unsafe unlink(place + "/bus")
        unsafe rmdir(place)
    }

    private func start() throws -> Bool {
        try run("/usr/bin/dbus-daemon", ["--config-file=\(folder)/bus.conf", "--nofork", "--nopidfile"])
        guard isThere({ unsafe access("\(place)/bus", F_OK) == 0 }) else { return false }
        try run(TourSensor.polkit, ["--no-debug"])
        guard isThere({ hasOwner("org.freedesktop.PolicyKit1") }) else { return false }
        try run(
            TourSensor.daemon, ["-t"],
            [
                "FP_DRIVERS_WHITELIST=virtual_device", "FP_VIRTUAL_DEVICE=\(device)", "STATE_DIRECTORY=\(folder)",
                "RUNTIME_DIRECTORY=\(folder)",
            ])
        return true
    }

    private static func configuration(_ place: String) -> String {
        """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig>
          <type>system</type><listen>unix:path=\(place)/bus</listen><auth>EXTERNAL</auth>
          <policy context="default">
            <allow user="*"/><allow own="*"/><allow send_destination="*"/><allow receive_type="method_call"/>
            <allow receive_type="method_return"/><allow receive_type="error"/><allow receive_type="signal"/>
            <allow send_type="method_call"/><allow send_type="signal"/>
          </policy>
        </busconfig>

        """
    }

    /// Starts a program that sees this bus as the machine's.
    @discardableResult
    private func run(_ program: String, _ words: [String], _ variables: [String] = []) throws -> TourProcess {
        let process = try TourProcess(
            "/usr/bin/env", ["DBUS_SYSTEM_BUS_ADDRESS=\(address)"] + variables + [program] + words)
        processes.append(process)
        return process
    }

    /// Whether a name on the bus has an owner.
    private func hasOwner(_ name: String) -> Bool {
        let words = [
            "--bus=\(address)", "--print-reply", "--dest=org.freedesktop.DBus", "/org/freedesktop/DBus",
            "org.freedesktop.DBus.GetNameOwner", "string:" + name,
        ]
        guard let process = try? TourProcess("/usr/bin/dbus-send", words) else { return false }
        return process.line() != nil
    }

    private func isThere(_ look: () -> Bool) -> Bool { TourSensor.isThere(look) }

    private static func isThere(_ look: () -> Bool) -> Bool {
        let deadline = MonotonicClock.nanoseconds + TourProcess.patience
        while !look() {
            guard MonotonicClock.nanoseconds < deadline else { return false }
            usleep(5000)
        }
        return true
    }

    private enum Wanted { case notEnrolled, available }

    private func capability(is wanted: Wanted) -> Bool {
        switch authenticator.capability(of: .biometrics) {
        case .available: wanted == .available
        case .notEnrolled: wanted == .notEnrolled
        default: false
        }
    }

    /// Enrolls a finger with fprintd's own program.
    /// - Returns: Whether that came to its end.
    func enroll(_ finger: String) throws -> Bool {
        let program = try run("/usr/bin/fprintd-enroll", ["-f", "right-index-finger"])
        // One scan for each time that it asks: one more would wait in the device for the next prompt.
        while let line = program.line() {
            guard line.hasPrefix("Enrolling ") || line.hasSuffix("enroll-stage-passed") else { continue }
            guard isThere({ TourSensor.lay(finger, on: device) }) else { return false }
        }
        return isThere { capability(is: .available) }
    }

    /// A simulated person who tries these fingers one after the other.
    func somebody(with fingers: String...) -> TourFingers {
        somebody(fingers)
    }

    /// As an app shows the sensor's words, with such a person in front of it.
    func prompts(with fingers: String...) -> OwnerPrompts {
        let somebody = somebody(fingers)
        return OwnerPrompts(show: { somebody.show($0) })
    }

    private func somebody(_ fingers: [String]) -> TourFingers {
        TourFingers(fingers) { [device] finger in _ = TourSensor.isThere { TourSensor.lay(finger, on: device) } }
    }

    /// Lays a finger on the sensor; false where it does not wait for one.
    private static func lay(_ finger: String, on device: String) -> Bool {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard device.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else { return false }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: device.utf8) }
        let isConnected = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        let command = Array("SCAN \(finger)".utf8)
        return unsafe isConnected && write(descriptor, command, command.count) == command.count
    }
}

/// A simulated person in front of the tour's sensor, who tries these fingers one after the other.
final class TourFingers: OwnerConversation {
    let cancellation = Cancellation()
    private let touch: @Sendable (String) -> Void
    private let left: Mutex<[String]>
    private let said = Mutex<[OwnerGuidance]>([])

    init(_ fingers: [String], _ touch: @escaping @Sendable (String) -> Void) {
        left = Mutex(fingers)
        self.touch = touch
    }

    /// What was shown.
    var guidance: [OwnerGuidance] { said.withLock { $0 } }

    func show(_ guidance: OwnerGuidance) {
        said.withLock { $0.append(guidance) }
        guard guidance == .touch else { return }
        if let finger = left.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { touch(finger) }
    }

    func expect(_ finger: OwnerFinger) {}
    func ask(_ prompt: OwnerPrompt) -> SecretBytes? { nil }
}
