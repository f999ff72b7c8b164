package import Holdfast
internal import KeyStores

/// What an app offers that begins at once, on a device without a key store that answers: nothing begins in another way
/// unless its user says so.
package struct Beginnings: Sendable {
    let assistant: @MainActor @Sendable (String) -> SetupModel
    let inFile: @Sendable (String) async -> VaultError?

    /// - Parameters:
    ///   - assistant: The assistant, which gives the new vault a passcode.
    ///   - inFile: Makes a vault whose share lies in a file beside it; says why not.
    package init(
        assistant: @escaping @MainActor @Sendable (String) -> SetupModel,
        inFile: @escaping @Sendable (String) async -> VaultError?
    ) {
        (self.assistant, self.inFile) = (assistant, inFile)
    }

    /// With the app's own settings.
    package static let standard = Beginnings(
        assistant: { SetupModel(at: $0) },
        inFile: { path in
            var settings = VaultSettings.app
            settings.shareStores = { ShareStores.files(in: $0 + "/shares") }
            return await Beginnings.make(path, settings)
        })

    @concurrent
    private static func make(_ path: String, _ settings: VaultSettings) async -> VaultError? {
        do throws(VaultError) { try Vault.createAtDevice(at: path, settings: settings) } catch { return error }
        return nil
    }
}

extension AppModel {
    /// An app whose folder the command line uses too. It remembers nothing of the vault outside the folder, as the
    /// command does not: what that moves, destroys or makes anew is not another vault than the device remembers.
    package convenience init(besideCommandAt path: String, interface: String) {
        self.init(at: path, interface: interface, beginnings: .standard, .besideCommand)
    }
}

extension AppModel.Way {
    fileprivate static let besideCommand = AppModel.Way.atOnce { path throws(VaultError) in
        try await HoldfastApp.start(path, .app)
    } over: { path throws(VaultError) in
        try await startOver(path)
    }

    @concurrent
    private static func startOver(_ path: String) async throws(VaultError) {
        _ = try Vault.startOver(at: path, settings: .app)
    }
}
