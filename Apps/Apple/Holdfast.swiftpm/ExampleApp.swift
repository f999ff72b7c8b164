#if canImport(SwiftUI)
import HoldfastUI
import HoldfastViews
import SwiftUI

/// The example app: the vault's items behind the lock, and the security settings.
@main
struct ExampleApp: App {
    @State private var face = FaceModel(at: ExampleApp.folder, face: "ios")

    var body: some Scene {
        WindowGroup {
            switch face.phase {
            case .ready(let models):
                NavigationStack {
                    List {
                        Section {
                            ForEach(models.vault.items) { item in Text(verbatim: item.name) }
                        }
                    }
                    SecuritySettings(models)
                }
                .appLock(models)
            case .setup(let setup): Text(verbatim: "Make a vault at \(setup.path) first")
            case .destroyed(let receipt): Text(verbatim: "Destroyed: \(receipt)")
            case .failed(let problem): Text(verbatim: "\(problem)")
            }
        }
    }

    /// Left out of backups: the vault's keys are bound to this device.
    private static let folder = NSHomeDirectory() + "/Library/Application Support/holdfast"
}
#endif
