internal import DeviceOwner
internal import KeyStores
internal import VaultFormat

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
