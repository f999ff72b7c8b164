internal import SystemCalls
internal import VaultFormat

/// One conversation with fprintd: a connection of its own, so that its end frees the sensor whatever happens.
final class FingerprintSession {
    private let bus: SystemBus
    /// The unique name of the daemon at the start; signals from anybody else are not heard.
    private let daemon: String
    private let device: SystemBus.Target
    let sensorName: String
    private var isClaimed = false
    private var isStarted = false

    private static let service = "net.reactivated.Fprint"
    private static let deviceInterface = service + ".Device"
    private static let patience = FingerprintReader.probePatience

    /// - Throws: ``FingerprintProblem`` for what is not there.
    init(_ address: BusAddress, _ daemonUser: UInt32) throws(FingerprintProblem) {
        guard Systemd.loaded != nil else { throw .noLibrary }
        let patience = FingerprintSession.patience
        do throws(BusFailure) { bus = try SystemBus(address) } catch { throw .noBus }
        let manager = SystemBus.Target(
            service: FingerprintSession.service, path: "/net/reactivated/Fprint/Manager",
            interface: FingerprintSession.service + ".Manager")
        let path: String
        do throws(BusFailure) {
            let devices = try bus.call(manager, "GetDevices", patience: patience).objectPaths()
            guard let first = devices.sorted().first else { throw BusFailure(name: "", number: ENODEV) }
            path = first
        } catch {
            if error.number == ENODEV { throw .noSensor }
            throw FingerprintProblem(error, orGone: .noDaemon)
        }
        device = SystemBus.Target(
            service: FingerprintSession.service, path: path, interface: FingerprintSession.deviceInterface)
        do throws(BusFailure) {
            daemon = try bus.owner(of: FingerprintSession.service, patience: patience)
            guard try bus.user(of: daemon, patience: patience) == daemonUser else {
                throw BusFailure(name: "impostor", number: EPERM)
            }
            let name = try bus.property("name", of: device, patience: patience)
            sensorName = name.enter(UInt8(ascii: "v"), "s") ? name.text() ?? "" : ""
        } catch {
            if error.name == "impostor" { throw .impostor }
            throw FingerprintProblem(error, orGone: .noDaemon)
        }
    }

    /// Names of the caller's enrolled fingers.
    func enrolledFingers() throws(FingerprintProblem) -> [String] {
        do throws(BusFailure) {
            return try bus.call(device, "ListEnrolledFingers", [.text("")], patience: FingerprintSession.patience)
                .texts()
        } catch {
            if error.name == FingerprintSession.service + ".Error.NoEnrolledPrints" { return [] }
            throw FingerprintProblem(error, orGone: .gone)
        }
    }

    /// Takes the sensor for the calling user.
    func claim() throws(FingerprintProblem) {
        do throws(BusFailure) {
            // From the daemon's current connection, not from a later owner of its name.
            try bus.subscribe(
                "type='signal',sender='\(daemon)',path='\(device.path)',interface='\(device.interface)'"
                    + ",member='VerifyStatus'", patience: FingerprintSession.patience)
            try bus.subscribe(
                "type='signal',sender='\(daemon)',path='\(device.path)',interface='\(device.interface)'"
                    + ",member='VerifyFingerSelected'", patience: FingerprintSession.patience)
            try bus.subscribe(
                "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus'"
                    + ",member='NameOwnerChanged',arg0='\(daemon)'", patience: FingerprintSession.patience)
            // Behind it polkit may ask, which takes as long as it takes.
            try bus.call(device, "Claim", [.text("")], patience: 5000)
            isClaimed = true
        } catch { throw FingerprintProblem(error, orGone: .gone) }
    }

    func start() throws(FingerprintProblem) {
        do throws(BusFailure) {
            try bus.call(device, "VerifyStart", [.text("any")], patience: 5000)
            isStarted = true
        } catch { throw FingerprintProblem(error, orGone: .gone) }
    }

    func stop() {
        guard isStarted else { return }
        isStarted = false
        _ = try? bus.call(device, "VerifyStop", patience: 1000)
    }

    func release() {
        stop()
        guard isClaimed else { return }
        isClaimed = false
        _ = try? bus.call(device, "Release", patience: 1000)
    }

    enum Status { case match, noMatch, again(OwnerGuidance), expects(OwnerFinger) }

    /// The next thing that the daemon said of the sample; nil when nothing has come.
    func nextStatus() throws(FingerprintProblem) -> Status? {
        while true {
            let message: BusMessage?
            do throws(BusFailure) { message = try bus.next() } catch { throw .gone }
            guard let message else { return nil }
            if message.member == "NameOwnerChanged", message.sender == "org.freedesktop.DBus" { throw .gone }
            guard isStarted, message.sender == daemon, message.path == device.path,
                message.interface == device.interface
            else { continue }
            if message.member == "VerifyFingerSelected" {
                // "any", if the sensor identifies fingers itself.
                guard let finger = message.text().flatMap(OwnerFinger.init) else { continue }
                return .expects(finger)
            }
            guard message.member == "VerifyStatus", let word = message.text(), let isDone = message.flag() else {
                continue
            }
            return try FingerprintSession.status(word, isDone)
        }
    }

    /// Unknown words are no verdict.
    private static func status(_ word: String, _ isDone: Bool) throws(FingerprintProblem) -> Status {
        switch (word, isDone) {
        case ("verify-match", true): return .match
        case ("verify-no-match", true): return .noMatch
        case ("verify-swipe-too-short", false): return .again(.tooShort)
        case ("verify-finger-not-centered", false): return .again(.notCentred)
        case ("verify-remove-and-retry", false): return .again(.removeAndRetry)
        case ("verify-disconnected", _): throw .gone
        case (_, false): return .again(.retry)
        default: throw .failed
        }
    }

    enum Wait { case something, cancelled, timeOver }

    /// Waits for the daemon, a cancel by the user, or the timeout.
    func wait(until deadline: UInt64, _ cancellation: Cancellation) throws(FingerprintProblem) -> Wait {
        while true {
            let now = MonotonicClock.milliseconds
            guard now < deadline else { return .timeOver }
            var waiting = [
                pollfd(fd: cancellation.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: bus.descriptor, events: bus.events, revents: 0),
            ]
            let status = unsafe poll(&waiting, 2, Int32(clamping: deadline - now))
            if status < 0 && errno == EINTR { continue }
            guard status >= 0 else { throw .failed }
            if waiting[0].revents != 0 { return .cancelled }
            if waiting[1].revents != 0 { return .something }
        }
    }
}

extension FingerprintProblem {
    /// - Parameter gone: What it means here that the bus name has no owner.
    fileprivate init(_ failure: BusFailure, orGone gone: FingerprintProblem) {
        switch failure.name {
        case "net.reactivated.Fprint.Error.AlreadyInUse": self = .inUse
        case "net.reactivated.Fprint.Error.PermissionDenied", "org.freedesktop.DBus.Error.AccessDenied":
            self = .refused
        case "net.reactivated.Fprint.Error.NoEnrolledPrints": self = .noFingers
        case "net.reactivated.Fprint.Error.NoSuchDevice": self = .noSensor
        default:
            if failure.isGone {
                self = gone
            } else {
                self = failure.isSilence ? .silent : .failed
            }
        }
    }
}
