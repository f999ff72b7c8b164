#if canImport(SwiftUI)
import HoldfastUI
import HoldfastViews
import SwiftUI

@main
struct NotesApp: App {
    @State private var face = FaceModel(at: NSHomeDirectory() + "/Library/Application Support/holdfast", face: "ios")

    var body: some Scene {
        WindowGroup { FaceView(face) { models in NotesView(models: models) } }
    }
}

struct NotesView: View {
    let models: AppModels

    var body: some View {
        TabView {
            Text("Your notes").tabItem { Label("Notes", systemImage: "note") }
            NavigationStack { SecuritySettings(models) }.tabItem { Label("Security", systemImage: "gearshape") }
        }
    }
}
#endif
