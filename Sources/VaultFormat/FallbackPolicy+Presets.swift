extension FallbackPolicy {
    /// No step: of a vault at the level ``VaultLevel/device``, which asks nobody. Nobody sets it by itself: it comes and goes
    /// with the level.
    package static let nobody = FallbackPolicy(known: [])

    /// The device's owner, confirmed by the system: a finger or a face, then the device's passcode. The phrase where neither
    /// can be asked for.
    package static let owner = FallbackPolicy(known: [
        Rule(.biometrics, assurance: .none),
        Rule(.devicePasscode, assurance: .none, when: noMatch),
        Rule(.recoveryPhrase, assurance: .keyBound, when: noPasscode),
    ])

    /// Only what the owner knows: the passcode, and the phrase where no passcode is taken.
    package static let strict = FallbackPolicy(known: [
        Rule(.appPasscode, assurance: .keyBound),
        Rule(.recoveryPhrase, assurance: .keyBound, when: noPasscode),
    ])

    /// Biometrics first, then the device's passcode, within three days of the last passcode; then as ``strict``.
    package static let convenient = FallbackPolicy(known: [
        Rule(.biometrics, assurance: .presence, withinHours: 72),
        Rule(.devicePasscode, assurance: .presence, when: noMatch, withinHours: 72),
        Rule(.appPasscode, assurance: .keyBound, when: noMatch),
        Rule(.recoveryPhrase, assurance: .keyBound, when: noPasscode),
    ])

    /// As ``convenient``, and whatever goes wrong the app gets the open compartment. The protected one stays locked.
    package static let neverBlocks = FallbackPolicy(
        known: convenient.rules + [
            Rule(.openCompartment, assurance: .none, when: Set(FallbackCondition.allCases).subtracting([.requested]))
        ])

    private static let noMatch: Set<FallbackCondition> = [
        .unavailable, .notEnrolled, .systemLockout, .hardwareBusy, .failed, .expired, .requested,
    ]
    private static let noPasscode: Set<FallbackCondition> = [.unavailable, .notEnrolled, .systemLockout, .requested]

    /// The policies that have a name.
    package static let presets: [(name: String, policy: FallbackPolicy)] = [
        ("strict", .strict), ("convenient", .convenient), ("neverBlocks", .neverBlocks),
    ]

    /// The name of the preset that equals this policy; nil for one of its own.
    package var presetName: String? { FallbackPolicy.presets.first { $0.policy == self }?.name }
}
