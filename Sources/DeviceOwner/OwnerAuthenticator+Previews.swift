internal import VaultFormat

extension OwnerAuthenticator {
    /// Says yes to whoever is there, without a prompt: for vaults in memory that a preview shows, and for nothing else.
    /// Only `HoldfastApp.preview(level:)` names it (checked by scripts/check-layout).
    package static let forPreviews = OwnerAuthenticator([PreviewOwner()])
}

private struct PreviewOwner: OwnerBackend {
    let step = OwnerStep.devicePasscode
    let hasEnrollment = false

    func capability() -> OwnerCapability { .available }

    func enrollment() -> OwnerEnrollment? { nil }

    func confirm(
        _ conversation: any OwnerConversation, until deadline: UInt64, onNonMatch: () -> Bool
    ) -> OwnerVerdict { .confirmed }
}
