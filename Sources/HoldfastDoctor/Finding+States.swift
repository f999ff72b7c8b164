internal import DeviceOwner
internal import KeyStores
internal import VaultFormat

extension Finding {
    /// What a key store's error says of it.
    init(_ part: Part, _ error: KeyStoreError, _ evidence: Evidence) {
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
            case .missing: .missing
            }
        self.init(part, state, evidence, gives: state == .missing ? nil : .presence)
    }
}
