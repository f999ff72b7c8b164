#if canImport(SwiftUI)
internal import Cryptography
internal import HoldfastUI
internal import SwiftUI

/// The vault's own secrets, where it has a passcode: another passcode, and a PIN under a chip.
struct PasscodeSection: View {
    let models: ReadyModels
    @Binding var page: PasscodeSheet.Page?

    private var model: SecuritySettingsModel { models.settings }

    var body: some View {
        Section {
            row("settings.changePasscode") { page = .passcode }
            if model.canSetPIN { row(model.hasPIN ? "settings.pin.change" : "settings.pin.set") { page = .pin } }
            if model.hasPIN { row("settings.pin.remove") { model.request(.pinRemoval) } }
        } footer: {
            if model.hasPIN || model.canSetPIN { Text("settings.pin.advice", bundle: .texts) }
        }
    }

    private func row(_ key: LocalizedStringKey, _ action: @escaping @MainActor () -> Void) -> some View {
        Button(action: action) { Text(key, bundle: .texts) }.disabled(model.isBusy)
    }
}

/// Another passcode or PIN. It stays until that holds: what was refused is said here.
struct PasscodeSheet: View {
    enum Page: Int, Identifiable {
        case passcode, pin
        var id: Int { rawValue }
    }

    let page: Page
    let models: ReadyModels
    @State private var old = ""
    @State private var new = NewPasscode()
    @State private var problem: VaultProblem?
    @State private var isBusy = false
    @Environment(\.dismiss) private var dismiss

    var body: some View {
        ScrollView {
            VStack(alignment: .leading, spacing: 20) {
                Text(page == .passcode ? "settings.changePasscode" : "settings.pin.set", bundle: .texts)
                    .font(.title2).accessibilityAddTraits(.isHeader)
                SecureField(text: $old, prompt: nil) { Text("settings.passcode.current", bundle: .texts) }
                switch page {
                case .passcode: NewPasscodeFields(passcode: $new, title: "settings.passcode.new")
                case .pin:
                    SecureField(text: $new.typed, prompt: nil) { Text("lock.pin", bundle: .texts) }
                    SecureField(text: $new.repeated, prompt: nil) { Text("settings.pin.repeat", bundle: .texts) }
                }
                if let problem { Text(problem).foregroundStyle(.red) }
                if isBusy { ProgressView() }
                Button(text: "settings.continue") { change() }
                    .buttonStyle(.borderedProminent)
                    .disabled(!isReady || isBusy)
                Button(text: "settings.cancel", role: .cancel) { dismiss() }
                    .disabled(isBusy)
            }
            .padding()
        }
        .interactiveDismissDisabled(isBusy)
        .onDisappear { clear() }
        .onChange(of: models.lock.isLocked) { _, isLocked in if isLocked { dismiss() } }
    }

    private var isReady: Bool {
        guard !old.isEmpty else { return false }
        return page == .passcode ? new.isReady : !new.typed.isEmpty && !new.repeated.isEmpty
    }

    private func change() {
        guard new.typed == new.repeated else { return problem = page == .passcode ? .passcodesDiffer : .pinsDiffer }
        guard let first = SecretCarrier(typed: old), let second = SecretCarrier(typed: new.typed) else { return }
        let takesWeak = new.takesWeak
        clear()
        isBusy = true
        Task {
            let refused =
                switch page {
                case .passcode:
                    await models.settings.changePasscode(
                        from: first.take(), to: second.take(), takingWeak: takesWeak)
                case .pin: await models.settings.setPIN(second.take(), passcode: first.take())
                }
            isBusy = false
            problem = refused
            if refused == nil { dismiss() }
        }
    }

    private func clear() {
        old = ""
        new.clear()
        problem = nil
    }
}

/// A new passcode that is being typed: twice, with how strong it is. What is guessed at once is taken at its user's
/// word only.
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
