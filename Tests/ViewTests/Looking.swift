import Foundation
import Holdfast
import HoldfastUI
import SwiftUI
import Testing

@testable import DeviceOwner
@testable import HoldfastViews

/// What an app has behind its lock.
struct Content: View {
    static let secret = "a private note"
    let models: ReadyModels
    @State private var note = Content.secret

    var body: some View {
        VStack {
            TextField(text: $note, prompt: nil) { Text(verbatim: "Note") }
            SecuritySettings(models)
        }
        .appLock(models)
    }
}

let languages = ["en", "de", "es"]

extension Screen {
    /// What is wrong with the words and controls in front: a text without a translation, a key where words should be, a
    /// control that a screen reader cannot name, and what SwiftUI would have complained of.
    var faults: [String] {
        missingKeys.map { "no text for \($0)" } + reports
            + texts.filter { $0.contains(/^[a-z]+\.[a-zA-Z.]+/) }.map { "a key: \($0)" }
            + [Node.Kind.button, .toggle, .field, .secureField, .picker].flatMap { kind in
                nodes(kind).filter(\.label.isEmpty).map { "a \(kind) without a name: \($0.path)" }
            }
            + nodes(.picker).filter { $0.shown == "<no option>" }.map { "\($0.label) shows nothing" }
    }

    /// Whether the system's picture of the scene has a text with these words.
    func pictures(_ words: String) -> Bool { photograph().contains { $0.contains(words) } }
}

/// An open app on a device with a face and a passcode, in front of its user.
@MainActor
struct OpenApp {
    let models: ReadyModels
    let screen: Screen
    let scratch: Scratch

    init(language: String = "en", identity: NearServer? = nil) async throws {
        scratch = try Scratch()
        scratch.has(PlayedSensor(.biometrics), PlayedSensor(.devicePasscode))
        let models = try await scratch.open(identity: identity)
        self.models = models
        screen = Screen(language: language) { Content(models: models) }
        try await screen.until("open") { models.lock.state == .unlocked && models.cover.shown == .nothing }
        try await screen.until("settings") { models.settings.policy != nil }
        screen.finishAnimations()
    }
}

extension Texts {
    /// A text of the views in one language.
    static func test(_ key: String, _ language: String) -> String {
        bundle(in: .module, preferring: [language]).localizedString(forKey: key, value: nil, table: nil)
    }
}

/// Posts a notification from elsewhere: Foundation on Linux waits for observers on the main queue, also on that queue.
@concurrent func tell(_ center: NotificationCenter, _ name: NSNotification.Name) async {
    center.post(name: name, object: nil)
}
