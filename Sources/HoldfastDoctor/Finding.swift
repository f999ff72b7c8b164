internal import DeviceOwner
internal import KeyStores
package import VaultFormat

/// What the doctor says of one part of the machine.
package struct Finding: Sendable, Hashable {
    /// What is looked at; the raw value is a stable word.
    package enum Part: String, Sendable, Hashable, CaseIterable {
        /// The memory that secrets lie in.
        case memory = "memory"
        /// The security chip.
        case tpm = "tpm"
        /// The keyring of the session.
        case keyring = "keyring"
        /// The folder of the vault, where shares may lie as files.
        case files = "files"
        /// The fingerprint sensor.
        case fingerprint = "fingerprint"
        /// The passcode of the device's account.
        case devicePasscode = "devicePasscode"
        /// What tells of the session's lock, sleep and the lid.
        case session = "session"
        /// The vault itself.
        case vault = "vault"
    }

    /// How a part is.
    package enum State: String, Sendable, Hashable {
        /// It works; after a deep look it was made to work just now.
        case good = "good"
        /// It is there and could be used, once the owner has done something.
        case unready = "unready"
        /// Not there. Nothing is wrong, there is only less.
        case missing = "missing"
        /// It is there and does not do what it should.
        case broken = "broken"
        /// It gave no answer in time.
        case slow = "slow"
    }

    /// What was looked at.
    package let part: Part
    /// How it is.
    package let state: State
    /// What it proves or protects where it is used; nil for parts that prove nothing.
    package let assurance: Assurance?
    /// What was found. A user interface puts it into its own words.
    package let evidence: Evidence

    init(_ part: Part, _ state: State, _ evidence: Evidence, gives assurance: Assurance? = nil) {
        self.part = part
        self.state = state
        self.assurance = assurance
        self.evidence = evidence
    }
}

extension Finding {
    /// Whether something can be done about what was found. What to do is told by the user interface that shows it.
    package var canBeImproved: Bool {
        switch evidence {
        case .silent: part != .memory
        case .memory(_, let isHidden): !isHidden
        case .fingerprint(let capability), .devicePasscode(let capability): capability != .available
        case .chipAbsent, .chipForbidden, .chipFailed, .chipOwned, .chipCountingFailed, .keyringLocked, .keyringFailed,
            .noVault, .folderFailed, .folderSynced, .sessionDeaf, .vaultUnreadable, .vaultNeedsChip, .vaultRules,
            .vaultUnderPasscode,
            .vaultWithoutSecret:
            true
        case .chipAnswers, .chipCounts, .chipSealsOnly, .keyringOpen, .folderWorks, .sessionHeard, .vaultUnderChip:
            false
        }
    }
}

extension Finding {
    /// What a key store's error says of it. One that did not answer in time has given no evidence.
    init(_ part: Part, _ error: KeyStoreError, _ evidence: Evidence) {
        let evidence = error.code == .busy ? .silent : evidence
        let state: State =
            switch error.code {
            case .unavailable: .missing
            case .lockedOut, .ownedByAnother: .unready
            case .busy: .slow
            default: .broken
            }
        self.init(part, state, evidence)
    }

    /// What a way to ask the owner can do.
    init(_ part: Part, _ capability: OwnerCapability, _ evidence: Evidence) {
        let state: State =
            switch capability {
            case .available: .good
            case .notEnrolled, .lockedOut: .unready
            case .busy: .slow
            case .denied, .missing: .missing
            case .broken: .broken
            }
        self.init(part, state, evidence, gives: state == .missing || state == .broken ? nil : .presence)
    }
}
