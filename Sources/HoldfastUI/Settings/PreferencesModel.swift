package import Holdfast
internal import Observation

/// The choices about one user interface, read when the vault opens and written when they change.
@MainActor @Observable
package final class PreferencesModel {
    /// What holds now.
    package private(set) var values = Preferences()
    /// What kept the last change from being stored.
    package var problem: VaultProblem?

    @ObservationIgnored private let vault: Vault
    @ObservationIgnored private let interface: String
    /// Called when what holds was read or has changed.
    @ObservationIgnored var onChange: @MainActor (Preferences) async -> Void = { _ in }

    /// The collection that user interfaces keep their own records in; ``VaultModel`` does not show it.
    nonisolated static let collection = EntryPath.settingsCollection

    /// - Parameters:
    ///   - vault: Where the preferences are kept.
    ///   - interface: Names the user interface: `desktop`, `ios`.
    package init(_ vault: Vault, interface: String) {
        self.vault = vault
        self.interface = interface
    }

    /// Reads them; the vault must be open.
    package func load() async {
        if let stored = await PreferencesModel.read(vault, interface) { values = stored }
        await onChange(values)
    }

    /// Changes them at once and stores them. What cannot be stored is taken back.
    package func change(_ edit: (inout Preferences) -> Void) async {
        let before = values
        edit(&values)
        guard values != before else { return }
        let wanted = values
        problem = await PreferencesModel.write(wanted, vault, interface)
        if problem != nil, values == wanted { values = before }
        await onChange(values)
    }

    @concurrent
    private nonisolated static func read(_ vault: Vault, _ interface: String) async -> Preferences? {
        try? vault.withValue(for: interface, in: collection) { bytes in
            guard bytes.byteCount <= Preferences.longestText, bytes.isReadableText else { return Preferences() }
            return Preferences(parsing: unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) })
        }
    }

    @concurrent
    private nonisolated static func write(
        _ preferences: Preferences, _ vault: Vault, _ interface: String
    ) async -> VaultProblem? {
        let bytes = Array(preferences.text.utf8)
        do throws(VaultError) {
            try vault.put(bytes: unsafe bytes.span.bytes, for: interface, in: collection, replacing: true)
            return nil
        } catch { return VaultProblem(error) }
    }
}
