import SecretMemory
import Testing
import VaultFormat

@testable import DeviceOwner

/// What ends a kept share, and what ends the fingers alone.
@Suite struct OwnerKeeperTests {
    private func armed(asOnlyWay isOnlyWay: Bool) throws -> OwnerKeeper {
        let keeper = OwnerKeeper()
        keeper.arm(try SecretBytes(zeroed: 32), asOnlyWay: isOnlyWay)
        return keeper
    }

    @Test func `beside a passcode five non-matches end every way of the owner`() throws {
        let keeper = try armed(asOnlyWay: false)
        for number in 1...5 { #expect(keeper.countNonMatch() == (number < 5)) }
        #expect(!keeper.isArmed)
        for step in OwnerStep.allCases { #expect(keeper.expiry(of: step) == .nonMatches) }
    }

    @Test func `as the only way five non-matches end the fingers, and the device passcode leads on`() throws {
        let keeper = try armed(asOnlyWay: true)
        for number in 1...5 { #expect(keeper.countNonMatch() == (number < 5)) }
        #expect(keeper.isArmed && keeper.expiry(of: .biometrics) == .nonMatches)
        #expect(!keeper.gives(.biometrics))
        #expect(keeper.expiry(of: .devicePasscode) == nil)
        #expect(keeper.gives(.devicePasscode))
        #expect(keeper.expiry(of: .biometrics) == nil && keeper.nonMatches == 0, "the owner was there")
    }

    @Test func `as the only way another enrollment ends the fingers until they are set up anew`() throws {
        let keeper = try armed(asOnlyWay: true)
        keeper.note(OwnerEnrollment(["right-index-finger"]))
        #expect(!keeper.isUnchanged(OwnerEnrollment(["left-thumb"])))
        #expect(!keeper.gives(.biometrics))
        #expect(keeper.gives(.devicePasscode))
        #expect(keeper.expiry(of: .biometrics) == .enrollmentChanged)
    }
}

extension OwnerKeeper {
    fileprivate func gives(_ step: OwnerStep) -> Bool {
        switch release(step) {
        case .some: true
        case .none: false
        }
    }
}
