#if canImport(SwiftUI)
internal import HoldfastUI
internal import Observation
public import SwiftUI

extension Bundle {
    /// The texts, in the user's language. The system would take a language only that the app itself is translated into.
    static let texts: Bundle = Texts.bundle(in: .module, preferring: Locale.preferredLanguages)
}

extension Button<Text> {
    /// A button with a text in the user's language.
    init(text: LocalizedStringKey, role: ButtonRole? = nil, action: @escaping @MainActor () -> Void) {
        self.init(role: role, action: action) { Text(text, bundle: .texts) }
    }
}

/// Which translation is shown, and texts outside of views.
enum Texts {
    static func bundle(in resources: Bundle, preferring languages: [String]) -> Bundle {
        let language = language(of: resources.localizations, preferring: languages)
        return resources.path(forResource: language, ofType: "lproj").flatMap { Bundle(path: $0) } ?? resources
    }

    /// The first one that is there, a dialect by its language; English where none is.
    static func language(of available: [String], preferring languages: [String]) -> String {
        for wanted in languages {
            var parts = wanted.split(separator: "-")
            while !parts.isEmpty {
                let name = parts.joined(separator: "-")
                if let found = available.first(where: { $0.caseInsensitiveCompare(name) == .orderedSame }) {
                    return found
                }
                parts.removeLast()
            }
        }
        return "en"
    }

    static func text(_ key: String) -> String { Bundle.texts.localizedString(forKey: key, value: nil, table: nil) }

    /// Says in the user's language why the device's owner is asked, where the app says nothing of its own.
    @MainActor static func fillReasons(_ models: ReadyModels) {
        let reasons: [(OwnerDialog, String)] = [
            (models.lock.owner.dialog, "reason.unlock"), (models.settings.dialog, "reason.settings"),
            (models.protection.dialog, "reason.protection"), (models.selfDestruct.dialog, "reason.selfDestruct"),
            (models.identity.dialog, "reason.identity"),
        ]
        for (dialog, key) in reasons where dialog.reason == nil { dialog.reason = text(key) }
    }
}

/// Whether a sheet is there or still on its way out. What comes after it waits: an alert or a dialog that is asked for
/// meanwhile is never shown.
@MainActor @Observable
final class SheetPresence {
    private(set) var isThere = false

    fileprivate func comes() { isThere = true }

    /// From the sheet's `onDismiss`, which is called when it is gone.
    func hasGone() { isThere = false }
}

extension ReadyModels {
    /// Whether an alert can be answered. What presents it is disabled while the app is locked, and so would its buttons
    /// be: above the lock screen, it would keep its user from unlocking. It waits until the app is open.
    var takesAlerts: Bool { !lock.isLocked }
}

extension View {
    /// The content of a sheet whose presence is known.
    func noted(in presence: SheetPresence) -> some View { onAppear { presence.comes() } }

    /// An alert that only tells something.
    func notice(
        _ title: LocalizedStringKey, _ text: Text?, isShown: @escaping @MainActor () -> Bool,
        clear: @escaping @MainActor () -> Void
    ) -> some View {
        let isPresented = Binding(
            get: { @MainActor in isShown() }, set: { @MainActor isShown in if !isShown { clear() } })
        return alert(Text(title, bundle: .texts), isPresented: isPresented) {
            Button(text: "settings.ok", action: clear)
        } message: {
            if let text { text }
        }
    }
}

// What the pages are called in the user's language, for the tabs and menus of an app.

extension VaultView {
    /// *Items*, in English, German or Spanish.
    public static var title: Text { Text("item.title", bundle: .texts) }
}

extension IdentityView {
    /// *Identity*, in English, German or Spanish.
    public static var title: Text { Text("identity.title", bundle: .texts) }
}

extension SecuritySettings {
    /// *Security*, in English, German or Spanish.
    public static var title: Text { Text("settings.title", bundle: .texts) }
}
#endif
