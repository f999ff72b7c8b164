import Foundation
import RealParts
import SecretMemory
import Testing
import VaultFormat

@testable import DeviceOwner

/// Polkit says whether a program may do something, to whoever asks. Its yes lets fprintd use the sensor, and that is
/// all: it is no owner, and it gives no key.
@Suite(
    .serialized,
    .enabled(if: FingerprintSensor.isInstalled, "fprintd or python3-dbusmock is not installed: polkit is not tested"))
struct PolkitTests {
    @Test func aYesThatSomebodyPlaysGivesNoKey() throws { try expectNoKey(.says(true)) }

    @Test(
        .enabled(
            if: FingerprintSensor.Polkit.isInstalled,
            "polkitd is not installed, or this is not root: a yes of the real polkit is not tested"))
    func aYesOfTheRealPolkitGivesNoKey() throws { try expectNoKey(.real) }

    private func expectNoKey(_ polkit: FingerprintSensor.Polkit) throws {
        let sensor = try FingerprintSensor(polkit)
        try sensor.enroll("anna")
        var places = OwnerAuthenticator.Places()
        places.systemBus = BusAddress(sensor.bus.address)
        places.daemonUser = getuid()
        places.passcodeRules = "/nonexistent"
        let authenticator = OwnerAuthenticator(places)
        let keeper = try armedKeeper(authenticator)
        #expect(try sensor.isAllowedByPolkit())

        // Nobody touches the sensor; in the middle of the prompt there is another yes.
        let nobody = PlayedOwner(onGuidance: { _, _, _ in
            let isAllowed = try sensor.isAllowedByPolkit()
            #expect(isAllowed)
        })
        #expect(authenticator.ask(.biometrics, keeper, patience: 1500, nobody) == .timedOut)
        #expect(nobody.guidance == [.touch])
        // Somebody else touches it.
        let stranger = PlayedOwner(onGuidance: { guidance, _, _ in
            if guidance == .touch { try sensor.touch("SCAN berta") }
        })
        #expect(authenticator.ask(.biometrics, keeper, stranger) == .refused)
        #expect(keeper.isArmed && keeper.nonMatches == 3)
        // Without the passcode first, and for the other way to ask, it changes nothing either.
        #expect(authenticator.ask(.biometrics, OwnerKeeper(), nobody) == .expired(.noPasscode))
        guard case .impossible = authenticator.ask(.devicePasscode, keeper, nobody) else {
            Issue.record("the passcode of the account was taken as given")
            return
        }
        #expect(nobody.asked.isEmpty)
    }
}
