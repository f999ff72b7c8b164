import AppLockCore
import DeviceOwner
import Testing
import VaultCore
import VaultFormat
import VaultStorage

/// What taking a way of the owner writes into the rules, and what taking it out leaves.
@Suite struct OwnerPolicyTests {
    private func rules(_ change: (inout VaultPolicy) throws(VaultError) -> Void) throws -> VaultPolicy {
        var policy = VaultPolicy.standard
        try change(&policy)
        return policy
    }

    @Test(arguments: OwnerStep.allCases)
    func oneWayIsTakenAloneAndNothingIsLeftOfIt(_ step: OwnerStep) throws {
        var policy = try rules { policy throws(VaultError) in try policy.accept(step, keeps: false) }
        #expect(OwnerStep.allCases.filter { policy.asks(for: $0) } == [step])
        #expect(policy.fallback.rules.map(\.step) == [step.fallback, .appPasscode, .recoveryPhrase])
        #expect(policy.fallback[step.fallback]?.withinHours == 72)
        try policy.refuse(step)
        #expect(policy == .standard)
    }

    @Test func bothWaysAreTheConvenientPolicyInEitherOrder() throws {
        for steps in [OwnerStep.allCases, OwnerStep.allCases.reversed()] {
            let policy = try rules { policy throws(VaultError) in
                for step in steps { try policy.accept(step, keeps: false) }
            }
            #expect(policy.fallback == .convenient && policy.usesBiometrics)
        }
    }

    @Test func whatIsKeptStaysKeptWhenTheOtherComesAndGoes() throws {
        var policy = try rules { policy throws(VaultError) in
            try policy.accept(.devicePasscode, keeps: true)
            try policy.accept(.biometrics, keeps: false)
        }
        #expect(policy.fallback[.devicePasscode]?.withinHours == nil)
        #expect(policy.fallback[.biometrics]?.withinHours == 72)
        try policy.refuse(.biometrics)
        #expect(policy.fallback[.devicePasscode]?.withinHours == nil && policy.fallback[.biometrics] == nil)
        try policy.refuse(.devicePasscode)
        #expect(policy == .standard)
    }

    @Test func rulesOfTheOwnersOwnMakingKeepTheirOrder() throws {
        var policy = try rules { $0.fallback = .neverBlocks }
        try policy.accept(.biometrics, keeps: false)
        #expect(policy.usesBiometrics && policy.fallback == .neverBlocks)
        try policy.refuse(.biometrics)
        #expect(!policy.usesBiometrics && policy.fallback == .neverBlocks, "the switch is enough")
        try policy.refuse(.devicePasscode)
        #expect(policy.fallback[.devicePasscode] == nil && policy.fallback[.openCompartment] != nil)
        let before = policy
        let error = #expect(throws: VaultError.self) { try policy.accept(.devicePasscode, keeps: false) }
        #expect(error?.code == .stepNotInPolicy && policy == before)
    }
}
