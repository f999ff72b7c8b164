package import KeyStores
internal import SecretMemory
package import VaultFormat
package import VaultStorage
internal import SystemCalls

/// What a vault takes from outside and tests replace: the costs it accepts and the clock that delays run on.
package struct VaultSettings: Sendable {
    /// Costs accepted when a vault is opened.
    package var limits: DerivationLimits
    /// Costs of new passcode slots; nil calibrates to this machine.
    package var costs: DerivationParameters?
    /// Entries of the security log after which another file of it begins; fewer only in tests, which fill some.
    package var logEntriesPerSegment = LogFormat.entriesPerSegment
    /// The clock of delays.
    package var clock: any BootClock
    /// What a wipe erases beside the vault.
    package var wipeTargets: [any WipeTarget]
    /// Hardware that can count attempts and hold a share of the passcode slot; nil where there is none.
    package var tier: (any AttemptTier)?
    /// Collections that need at least this assurance whatever the header says; of two minima the stricter one holds.
    package var minima: [String: Assurance] = [:]
    /// Where the generation of anchored vaults is held.
    package var anchor: (any GenerationAnchor)?

    /// Key stores that keep shares, by the path of the home; nil where a process keeps none.
    package var shareStores: (@Sendable (_ home: String) -> ShareStores)?
    /// Whether an unlock with the passcode makes a way in for the owner that lasts as long as this process.
    package var armsOwner = false
    /// By what the key stores keep the least level of this program's vault, outside of its home; nil where that is not
    /// kept, because the program may have any number of vaults.
    package var profile: FloorProfile?
    /// Whether this process only opens: a vault is not made, its level does not change, and what an interrupted change
    /// left is the app's own to clear away.
    package var opensOnly = false
    /// Starts work that nobody waits for; without a thread it is left out.
    package var inBackground: @Sendable (@escaping @Sendable () -> Void) -> Void = { _ = DetachedThread.start($0) }

    package init(
        limits: DerivationLimits = .standard, costs: DerivationParameters? = nil,
        clock: any BootClock = SystemBootClock(), wipeTargets: [any WipeTarget] = []
    ) {
        self.limits = limits
        self.costs = costs
        self.clock = clock
        self.wipeTargets = wipeTargets
    }

    /// Costs for a new passcode slot.
    package func newCosts() throws(VaultError) -> DerivationParameters {
        if let costs { return costs }
        return try Calibration.costs()
    }

    /// What every app and executable uses.
    package static let standard: VaultSettings = {
        var settings = VaultSettings()
        #if !canImport(Security)
        settings.tier = TPMLocation.standard.map(TPMAttemptTier.init)
        settings.anchor = TPMLocation.standard.map(TPMGenerationAnchor.init)
        #endif
        settings.shareStores = { ShareStores.system().reading(filesIn: $0 + "/shares") }
        return settings
    }()

    /// What an app's own process uses, which is there long enough for its owner to come back to.
    package static let app: VaultSettings = {
        var settings = standard
        settings.armsOwner = true
        return settings
    }()

    /// One pass over 64 KiB, for tests, test executables and HoldfastTesting: nothing else below `Sources` may name it
    /// (checked by scripts/check-layout), and a vault made with it is refused by ``standard``.
    package static func costsForTests(clock: any BootClock = SystemBootClock()) -> VaultSettings {
        VaultSettings(
            limits: .forTests, costs: DerivationLimits.forTests.floor, clock: clock)
    }
}
