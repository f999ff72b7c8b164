#if canImport(SwiftUI)
public import SwiftUI

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
