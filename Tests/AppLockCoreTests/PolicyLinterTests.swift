import Testing
import DeviceOwner
import VaultCore
import VaultFormat

@testable import AppLockCore
import VaultHeader

@Suite struct PolicyLinterTests {
    private static let everything: [FallbackStep: StepCapability] = [
        .biometrics: .available(.presence), .devicePasscode: .available(.presence), .appPasscode: .available(.keyBound),
        .recoveryPhrase: .available(.keyBound), .openCompartment: .available(.none),
    ]
    private var linter = PolicyLinter(capabilities: everything)

    private func codes(_ change: (inout VaultPolicy) throws -> Void) rethrows -> Set<PolicyIssue.Code> {
        var policy = VaultPolicy.standard
        try change(&policy)
        return Set(linter.issues(policy).map(\.code))
    }

    private static func chain(_ rules: FallbackPolicy.Rule...) throws -> FallbackPolicy { try FallbackPolicy(rules) }
    private static let passcode = FallbackPolicy.Rule(.appPasscode, assurance: .keyBound)
    private static let phrase = FallbackPolicy.Rule(.recoveryPhrase, assurance: .keyBound, when: [.systemLockout])
    private static let open = FallbackPolicy.Rule(.openCompartment, assurance: .none, when: [.failed])

    @Test func theStandardRulesAndThePresetsHaveNoErrors() {
        #expect(codes { _ in }.isEmpty)
        for (name, preset) in FallbackPolicy.presets {
            let found = codes {
                $0.fallback = preset
                $0.usesBiometrics = name != "strict"
            }
            #expect(found == (name == "neverBlocks" ? [.cancelUsesOpenCompartment] : []), "\(name): \(found)")
        }
    }

    @Test func chains() throws {
        #expect(
            try codes { $0.fallback = try Self.chain(Self.passcode, Self.open, Self.phrase) }
                == [.openCompartmentNotLast])
        #expect(
            try codes {
                $0.fallback = try Self.chain(.init(.devicePasscode, assurance: .presence, withinHours: 1))
            } == [.noSecretStep, .expiredLeadsNowhere, .recoveryPhraseMissing])
        #expect(
            try codes { $0.fallback = try Self.chain(.init(.recoveryPhrase, assurance: .keyBound)) }
                == [.passcodeMissing])
        #expect(try codes { $0.fallback = try Self.chain(Self.passcode) } == [.recoveryPhraseMissing])
        #expect(
            try codes {
                $0.fallback = try Self.chain(
                    .init(.devicePasscode, assurance: .presence),
                    .init(.appPasscode, assurance: .keyBound, when: [.expired]), Self.phrase)
            } == [.noMaximumAge])
        #expect(
            try codes {
                $0.fallback = try Self.chain(
                    Self.passcode, .init(.devicePasscode, assurance: .presence, when: [.requested], withinHours: 1),
                    .init(.recoveryPhrase, assurance: .keyBound, when: [.expired]))
            } == [.weakerStep])
        #expect(
            try codes {
                $0.fallback = try Self.chain(
                    Self.passcode, .init(.recoveryPhrase, assurance: .keyBound, when: [.expired]))
            } == [.unreachableStep])
        #expect(codes { $0.usesBiometrics = true } == [.biometricsNotInPolicy])
        #expect(codes { $0.fallback = .convenient } == [.biometricsSwitchedOff])
    }

    @Test mutating func vaultsWithoutAWayBack() {
        linter.hasRecoveryPhrase = false
        #expect(codes { _ in } == [.recoveryPhraseMissing])
        #expect(
            codes {
                $0.selfDestruct = true
                $0.attemptLimit = 3
            } == [.selfDestructWithoutRecovery, .recoveryPhraseMissing])
        linter.hasPasscode = false
        #expect(codes { _ in } == [.noSecretStep, .recoveryPhraseMissing])
        linter.hasRecoveryPhrase = true
        #expect(codes { _ in } == [.passcodeMissing])
    }

    /// Without a passcode the device's owner is the way in, and their passcode the last step.
    @Test mutating func `rules of the levels below a secret have no false errors`() throws {
        linter.hasPasscode = false
        linter.keepsOwnerSlotOnDisk = true
        for steps in [[.biometrics], [.devicePasscode], Set(OwnerStep.allCases)] as [Set<OwnerStep>] {
            for hasPhrase in [true, false] {
                linter.hasRecoveryPhrase = hasPhrase
                let policy = VaultPolicy.standard.at(.owner, owner: steps)
                let found = linter.issues(policy)
                let errors = found.filter(\.isError)
                #expect(errors.isEmpty, "\(steps): \(found)")
                #expect(found.map(\.code) == (hasPhrase ? [] : [.recoveryPhraseMissing]), "\(steps): \(found)")
            }
        }
        // And none that is right is lost.
        linter.hasRecoveryPhrase = true
        let strict = codes { _ in }
        let aged = codes {
            $0.fallback = .convenient
            $0.usesBiometrics = true
        }
        #expect(strict.contains(.noSecretStep))
        #expect(aged.contains(.noSecretStep), "a step with hours never opens without a passcode")
        linter.asksNobody = true
        linter.keepsOwnerSlotOnDisk = false
        #expect(linter.issues(VaultPolicy.standard.at(.device, owner: [])).isEmpty)
        linter.hasRecoveryPhrase = false
        #expect(linter.issues(VaultPolicy.standard.at(.device, owner: [])).map(\.code) == [.recoveryPhraseMissing])
    }

    @Test mutating func minima() throws {
        #expect(codes { $0.collectionMinima = ["a": .keyBound, "b": .none] }.isEmpty)
        #expect(codes { $0.collectionMinima = ["a": .hardwareBound] } == [.minimumOutOfReach])
        #expect(
            codes {
                $0.fallback = .convenient
                $0.usesBiometrics = true
                $0.collectionMinima = ["a": .keyBound]
            } == [.stepBelowMinimum])
        linter.keepsOwnerSlotOnDisk = true
        #expect(codes { _ in }.isEmpty)
        #expect(codes { $0.collectionMinima = ["a": .keyBound] } == [.ownerSlotOnDisk])
        #expect(
            try codes {
                $0.usesBiometrics = true
                $0.fallback = try Self.chain(
                    .init(.biometrics, assurance: .hardwareBound, withinHours: 1),
                    .init(.appPasscode, assurance: .keyBound, when: [.expired]), Self.phrase)
            } == [.ownerSlotOnDisk, .weakerStep])
    }

    @Test func lockAndAttempts() {
        #expect(codes { $0.lockTiming = .never }.isEmpty)
        #expect(
            codes {
                $0.lockTiming = .never
                $0.isLockEnabled = true
                $0.collectionMinima = ["a": .keyBound]
            } == [.lockNever, .minimumNeverLocks])
        #expect(codes { $0.delays = [0, 0] } == [.noDelays])
        #expect(
            codes {
                $0.selfDestruct = true
                $0.attemptLimit = 3
            } == [.selfDestructLowLimit])
    }

    @Test func errorsComeFirstAndAllHaveWords() {
        var policy = VaultPolicy.standard
        policy.lockTiming = .never
        policy.isLockEnabled = true
        policy.delays = [0]
        policy.selfDestruct = true
        policy.attemptLimit = 3
        var linter = linter
        linter.hasRecoveryPhrase = false
        let issues = linter.issues(policy)
        #expect(issues.map(\.isError) == [true, false, false, false])
        #expect(issues.allSatisfy { $0.words.utf8.count > 20 })
        #expect(PolicyIssue.Code.allCases.count { PolicyIssue(code: $0, words: "").isError } == 5)
    }
}
