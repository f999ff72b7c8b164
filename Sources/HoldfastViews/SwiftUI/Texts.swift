#if canImport(SwiftUI)
internal import HoldfastUI
internal import SwiftUI

extension Bundle {
    /// The texts, in the user's language. The system would take a language only that the app itself is translated into.
    static let texts: Bundle = Texts.bundle(in: .module, preferring: Locale.preferredLanguages)
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
    @MainActor static func fillReasons(_ models: AppModels) {
        let reasons: [(OwnerDialog, String)] = [
            (models.lock.owner.dialog, "reason.unlock"), (models.settings.dialog, "reason.settings"),
            (models.protection.dialog, "reason.protection"), (models.selfDestruct.dialog, "reason.selfDestruct"),
            (models.identity.dialog, "reason.identity"),
        ]
        for (dialog, key) in reasons where dialog.reason == nil { dialog.reason = text(key) }
    }
}
#endif
