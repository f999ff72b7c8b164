#if canImport(SwiftUI)
import HoldfastUI
import HoldfastViews
import SwiftUI

@main
struct NotesApp: App {
    @State private var appModel = AppModel(at: NSHomeDirectory() + "/Library/Application Support/holdfast", interface: "ios")

    var body: some Scene {
        WindowGroup { AppView(appModel) { models in NotesView(models: models) } }
    }
}

struct NotesView: View {
    let models: ReadyModels

    var body: some View { Text("Your notes") }
}
#endif
