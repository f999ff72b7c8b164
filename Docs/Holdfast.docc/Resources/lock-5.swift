#if canImport(SwiftUI)
import Holdfast
import HoldfastUI
import HoldfastViews
import SwiftUI

@main
struct NotesApp: App {
    @State private var appModel = AppModel(
        at: NSHomeDirectory() + "/Library/Application Support/holdfast", interface: "ios", NotesApp.options)

    var body: some Scene {
        WindowGroup { AppView(appModel) { models in NotesView(models: models).lockScreen(NotesApp.style) } }
    }

    private static var options: AppModel.Options {
        var options = AppModel.Options()
        options.reason = "Open your notes"
        options.wipeTargets = [SettingsWipeTarget("org.example.notes.settings", suite: "org.example.notes")]
        return options
    }

    private static var style: LockScreenStyle {
        var style = LockScreenStyle()
        style.title = Text("Notes is locked")
        style.icon = Image(systemName: "note")
        return style
    }
}

struct NotesView: View {
    let models: ReadyModels
    @State private var isOpen = false

    var body: some View {
        TabView {
            Button("Your note") { isOpen = true }.tabItem { Label("Notes", systemImage: "note") }
            NavigationStack { SecuritySettings(models) }.tabItem { Label("Security", systemImage: "gearshape") }
        }
        .sheet(isPresented: $isOpen) { NoteView(models: models).covered(by: models) }
    }
}

/// The note is in the vault, and on the screen only after the user asked for it.
struct NoteView: View {
    let models: ReadyModels
    @State private var text = ""

    var body: some View {
        Form {
            TextField(text: $text, axis: .vertical) { Text("Note") }.onlyInFront()
            Button("Save") { save() }
            Button("Show") { show() }
        }
    }

    private func save() {
        try? models.lock.app.vault.put(SecretBytes(utf8: text), for: "note", replacing: true)
        text = ""
    }

    private func show() {
        try? models.lock.app.vault.withValue(for: "note") { bytes in
            text = unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
        }
    }
}
#endif
