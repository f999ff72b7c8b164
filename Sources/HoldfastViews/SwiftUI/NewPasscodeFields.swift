#if canImport(SwiftUI)
internal import Cryptography
internal import SwiftUI

/// A new passcode that is being typed: twice, with how strong it is. What is guessed at once is taken at its user's word only.
struct NewPasscode {
    var typed = ""
    var repeated = ""
    var takesWeak = false

    /// Computed from the text that the field has anyway; nothing is kept of it.
    var level: PasscodeStrength.Level {
        let bytes = Array(typed.utf8)
        return PasscodeStrength(of: unsafe bytes.span.bytes).level
    }

    var isReady: Bool { !typed.isEmpty && !repeated.isEmpty && (level > .veryWeak || takesWeak) }

    mutating func clear() { self = NewPasscode() }
}

/// The fields of a ``NewPasscode``.
struct NewPasscodeFields: View {
    @Binding var passcode: NewPasscode
    /// Names the first field, where there are others.
    var title: LocalizedStringKey = "lock.passcode"

    var body: some View {
        SecureField(text: $passcode.typed, prompt: nil) { Text(title, bundle: .texts) }
        SecureField(text: $passcode.repeated, prompt: nil) { Text("setup.repeat", bundle: .texts) }
        if !passcode.typed.isEmpty {
            Text(ProtectionText.key(passcode.level), bundle: .texts).foregroundStyle(.secondary)
            if passcode.level <= .veryWeak {
                Toggle(isOn: $passcode.takesWeak) { Text("setup.takeWeak", bundle: .texts) }
            }
        }
    }
}
#endif
