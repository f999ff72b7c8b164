import Foundation
import RealParts
import SecretMemory
import Testing
import VaultFormat

@testable import DeviceOwner

/// The real fprintd with libfprint's virtual sensor.
@Suite(
    .serialized,
    .enabled(
        if: FingerprintSensor.isInstalled, "fprintd or python3-dbusmock is not installed: fingerprints are not tested"))
struct FingerprintTests {
    private func authenticator(_ sensor: FingerprintSensor, daemonUser: UInt32 = getuid()) -> OwnerAuthenticator {
        var places = OwnerAuthenticator.Places()
        places.systemBus = BusAddress(sensor.bus.address)
        places.daemonUser = daemonUser
        return OwnerAuthenticator(places)
    }

    /// Does one thing at the sensor for each thing that is shown.
    private func owner(_ sensor: FingerprintSensor, _ commands: String...) -> PlayedOwner {
        PlayedOwner(onGuidance: { _, count, _ in
            if commands.indices.contains(count) { try sensor.touch(commands[count]) }
        })
    }

    @Test func aMatchReleasesTheShareAndEverythingElseDoesNot() throws {
        let sensor = try FingerprintSensor()
        let authenticator = authenticator(sensor)
        #expect(authenticator.capability(of: .biometrics) == FingerprintProblem.noFingers.capability)
        #expect(authenticator.enrollment(of: .biometrics) == nil)
        try sensor.enroll("anna")
        #expect(authenticator.capability(of: .biometrics) == .available)
        let keeper = try armedKeeper(authenticator)

        let match = owner(sensor, "SCAN anna")
        #expect(authenticator.ask(.biometrics, keeper, match) == .released(share))
        #expect(match.guidance == [.touch])
        #expect(match.fingers == [.rightIndex], "which finger is asked for is shown")

        let retries = owner(sensor, "RETRY 0", "RETRY 1", "RETRY 2", "RETRY 3", "SCAN anna")
        #expect(authenticator.ask(.biometrics, keeper, retries) == .released(share))
        #expect(retries.guidance == [.touch, .retry, .tooShort, .notCentred, .removeAndRetry])

        let second = owner(sensor, "SCAN berta", "", "SCAN anna")
        #expect(authenticator.ask(.biometrics, keeper, second) == .released(share))
        #expect(second.guidance == [.touch, .noMatch, .touch])
        #expect(keeper.nonMatches == 1)

        let never = owner(sensor, "SCAN berta", "", "SCAN carla", "", "SCAN berta")
        #expect(authenticator.ask(.biometrics, keeper, never) == .refused)
        #expect(keeper.nonMatches == 4)
        let fifth = owner(sensor, "SCAN berta", "", "SCAN anna")
        #expect(authenticator.ask(.biometrics, keeper, fifth) == .expired(.nonMatches), "the fifth ends it")
        #expect(!keeper.isArmed)
        #expect(authenticator.ask(.biometrics, keeper, match) == .expired(.nonMatches))
    }

    @Test func timeCancelAndOtherClients() throws {
        let sensor = try FingerprintSensor()
        let authenticator = authenticator(sensor)
        try sensor.enroll("anna")
        let keeper = try armedKeeper(authenticator)
        #expect(authenticator.ask(.biometrics, keeper, patience: 300, owner(sensor)) == .timedOut)
        let cancelling = PlayedOwner(onGuidance: { _, _, owner in owner.cancellation.cancel() })
        #expect(authenticator.ask(.biometrics, keeper, cancelling) == .cancelled)
        // The sensor is free after both.
        #expect(authenticator.ask(.biometrics, keeper, owner(sensor, "SCAN anna")) == .released(share))

        let other = try FingerprintSession(BusAddress(sensor.bus.address), getuid())
        try other.claim()
        #expect(
            authenticator.ask(.biometrics, keeper, owner(sensor)) == .impossible(FingerprintProblem.inUse.capability))
        other.release()
        #expect(authenticator.ask(.biometrics, keeper, owner(sensor, "SCAN anna")) == .released(share))
        #expect(keeper.nonMatches == 0)
    }

    @Test func aBrokenSensorGivesNoVerdict() throws {
        let sensor = try FingerprintSensor()
        let authenticator = authenticator(sensor)
        try sensor.enroll("anna")
        let keeper = try armedKeeper(authenticator)
        #expect(
            authenticator.ask(.biometrics, keeper, owner(sensor, "ERROR 0"))
                == .impossible(FingerprintProblem.failed.capability))
        #expect(
            authenticator.ask(.biometrics, keeper, owner(sensor, "ERROR 5"))
                == .impossible(FingerprintProblem.gone.capability))
        let killing = PlayedOwner(onGuidance: { _, _, _ in sensor.killDaemon() })
        #expect(
            authenticator.ask(.biometrics, keeper, killing) == .impossible(FingerprintProblem.gone.capability))
        #expect(authenticator.capability(of: .biometrics) == FingerprintProblem.noDaemon.capability)
        try sensor.startDaemon()
        #expect(authenticator.ask(.biometrics, keeper, owner(sensor, "SCAN anna")) == .released(share))
        guard case .impossible = authenticator.ask(.biometrics, keeper, owner(sensor, "UNPLUG")) else {
            Issue.record("an unplugged sensor gave a verdict")
            return
        }
        #expect(keeper.nonMatches == 0, "what was not judged does not count")
        #expect(keeper.isArmed)
    }

    @Test func anotherFingerNeedsThePasscodeOnce() throws {
        let sensor = try FingerprintSensor()
        let authenticator = authenticator(sensor)
        try sensor.enroll("anna")
        let keeper = try armedKeeper(authenticator)
        try sensor.enroll("mallory", as: "left-thumb")
        let mallory = owner(sensor, "SCAN mallory")
        #expect(authenticator.ask(.biometrics, keeper, mallory) == .expired(.enrollmentChanged))
        #expect(mallory.guidance.isEmpty, "nobody was asked")
        #expect(!keeper.isArmed)
        let after = try armedKeeper(authenticator)
        // A sensor that cannot tell fingers apart is asked for one of them; which one is not ours to choose.
        let either = owner(sensor, "SCAN anna", "", "SCAN mallory")
        #expect(authenticator.ask(.biometrics, after, either) == .released(share))
        // What was enrolled at the time of the passcode could not be told: no finger counts.
        #expect(
            authenticator.ask(.biometrics, try armedKeeper(), owner(sensor, "SCAN anna"))
                == .expired(.enrollmentChanged)
        )
    }

    @Test func aSignalOfSomebodyElseIsNotHeard() throws {
        let sensor = try FingerprintSensor()
        let authenticator = authenticator(sensor)
        try sensor.enroll("anna")
        let keeper = try armedKeeper(authenticator)
        let forged = PlayedOwner(onGuidance: { guidance, _, owner in
            guard guidance == .touch else { return }
            // To everybody, and to each connection by its own name.
            try sensor.bus.python(
                """
                import dbus.lowlevel
                d = bus.get_object('net.reactivated.Fprint', '/net/reactivated/Fprint/Manager')
                path = dbus.Interface(d, 'net.reactivated.Fprint.Manager').GetDevices()[0]
                names = [n for n in bus.list_names() if n.startswith(':')]
                for name in [None] + names:
                    m = dbus.lowlevel.SignalMessage(path, 'net.reactivated.Fprint.Device', 'VerifyStatus')
                    m.append('verify-match', True, signature='sb')
                    if name: m.set_destination(name)
                    bus.send_message(m)
                bus.flush()
                """)
        })
        #expect(authenticator.ask(.biometrics, keeper, patience: 1500, forged) == .timedOut)
        #expect(forged.guidance == [.touch])
    }

    @Test func whatIsMissingIsNamed() throws {
        var places = OwnerAuthenticator.Places()
        places.systemBus = BusAddress("unix:path=/nonexistent/bus")
        #expect(OwnerAuthenticator(places).capability(of: .biometrics) == FingerprintProblem.noBus.capability)
        let bus = try PrivateBus()
        places.systemBus = BusAddress(bus.address)
        #expect(OwnerAuthenticator(places).capability(of: .biometrics) == FingerprintProblem.noDaemon.capability)
        let refusing = try FingerprintSensor(allows: false)
        #expect(
            authenticator(refusing).ask(.biometrics, try armedKeeper(), PlayedOwner())
                == .impossible(FingerprintProblem.refused.capability))
        // A daemon that does not run as it should is none, whatever it says.
        #expect(
            authenticator(refusing, daemonUser: getuid() + 1).capability(of: .biometrics)
                == FingerprintProblem.impostor.capability)
    }

    @Test func aNameInTheEnvironmentLeadsNowhere() throws {
        // The standard places are the machine's own, whatever DBUS_SYSTEM_BUS_ADDRESS says.
        let places = OwnerAuthenticator.Places()
        #expect(places.systemBus == BusAddress("unix:path=/run/dbus/system_bus_socket"))
        #expect(places.daemonUser == 0)
    }
}
