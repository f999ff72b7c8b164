#if canImport(SwiftUI)
internal import Cryptography
internal import HoldfastUI
internal import SecretMemory
internal import SwiftUI
internal import VaultCore
internal import VaultFormat

/// Where the vault stands, what each next step gives and costs, and the sheets for them.
struct ProtectionSection: View {
    let models: AppModels
    @State private var page: Page?
    @State private var typed = ""
    @State private var repeated = ""
    @State private var sheet = SheetPresence()

    /// A step that has something to type or to read.
    enum Page: Int, Identifiable {
        case passcode, noPasscode, phrase
        var id: Int { rawValue }
    }

    private var model: ProtectionModel { models.protection }

    var body: some View {
        Section {
            if let level = model.level {
                Text(ProtectionText.title(level), bundle: .module).accessibilityAddTraits(.isHeader)
                Text(ProtectionText.advice(level), bundle: .module).foregroundStyle(.secondary)
            }
            if model.isLostWithDevice {
                Text("protection.lost", bundle: .module).foregroundStyle(.red)
            }
            if model.hasPasscode {
                row("protection.noPasscode") { open(.noPasscode) }
            } else {
                row("protection.passcode") { open(.passcode) }
            }
            row(model.isLostWithDevice ? "protection.phrase" : "protection.phrase.new") {
                Task {
                    await model.issuePhrase()
                    if model.showsPhrase { open(.phrase) }
                }
            }
            if let moving = model.moving {
                Text("protection.moving \(moving.percent)", bundle: .module).monospacedDigit()
            }
            if let problem = model.movingProblem { Text(ProblemText.key(problem), bundle: .module) }
        } header: {
            Text("protection.title", bundle: .module)
        } footer: {
            if model.losesPhrase { Text("protection.losesPhrase", bundle: .module) }
        }
        .sheet(item: $page, onDismiss: left) { page in
            VStack(alignment: .leading, spacing: 20) {
                switch page {
                case .passcode: passcode
                case .noPasscode: noPasscode
                case .phrase: phrase
                }
            }
            .padding()
            .noted(in: sheet)
            .covered(by: models)
        }
        .alert(Text("settings.unchanged", bundle: .module), isPresented: showsFailure) {
            Button {
                model.failure = nil
            } label: {
                Text("settings.ok", bundle: .module)
            }
        } message: {
            if let failure = model.failure { Text(ProblemText.key(failure.problem), bundle: .module) }
        }
    }

    @ViewBuilder private var passcode: some View {
        title("protection.passcode")
        Text("protection.passcode.advice", bundle: .module)
        if model.losesPhrase { Text("protection.losesPhrase", bundle: .module).foregroundStyle(.red) }
        SecureField(text: $typed, prompt: nil) { Text("lock.passcode", bundle: .module) }
            .onChange(of: typed) { _, now in estimate(now) }
        SecureField(text: $repeated, prompt: nil) { Text("setup.repeat", bundle: .module) }
        if let strength = model.strength, !typed.isEmpty {
            Text(ProtectionText.key(strength.level), bundle: .module).foregroundStyle(.secondary)
        }
        buttons("settings.continue", isReady: !typed.isEmpty && !repeated.isEmpty) {
            guard let new = secret(typed), let again = secret(repeated) else { return }
            page = nil
            Task { await model.setPasscode(new.take(), repeated: again.take()) }
        }
    }

    @ViewBuilder private var noPasscode: some View {
        title("protection.noPasscode")
        Text("protection.noPasscode.advice", bundle: .module)
        if model.losesPhrase { Text("protection.losesPhrase", bundle: .module).foregroundStyle(.red) }
        SecureField(text: $typed, prompt: nil) { Text("lock.passcode", bundle: .module) }
        buttons("settings.continue", isReady: !typed.isEmpty) {
            guard let old = secret(typed) else { return }
            page = nil
            Task { await model.removePasscode(old.take()) }
        }
    }

    @ViewBuilder private var phrase: some View {
        PhraseWords(owner: .vault, seconds: models.preferences.values.clipboardSeconds) {
            model.withPhrase { PhraseWords.words(of: $0) }
        }
        if model.hasPasscode {
            SecureField(text: $typed, prompt: nil) { Text("lock.passcode", bundle: .module) }
        }
        buttons("setup.written", isReady: !model.hasPasscode || !typed.isEmpty) {
            guard let old = secret(typed) else { return }
            let hasPasscode = model.hasPasscode
            Task {
                if hasPasscode {
                    await model.confirmPhrase(passcode: old.take())
                } else {
                    await model.confirmPhrase()
                }
                page = nil
            }
        }
    }

    private func title(_ key: LocalizedStringKey) -> some View {
        Text(key, bundle: .module).font(.title2).accessibilityAddTraits(.isHeader)
    }

    private func row(_ key: LocalizedStringKey, _ action: @escaping @MainActor () -> Void) -> some View {
        Button(action: action) { Text(key, bundle: .module) }.disabled(model.running != nil || model.moving != nil)
    }

    @ViewBuilder private func buttons(
        _ key: LocalizedStringKey, isReady: Bool, _ action: @escaping @MainActor () -> Void
    ) -> some View {
        Button(action: action) { Text(key, bundle: .module) }
            .buttonStyle(.borderedProminent)
            .disabled(!isReady || model.running != nil)
        Button(role: .cancel) {
            page = nil
        } label: {
            Text("settings.cancel", bundle: .module)
        }
    }

    private func open(_ next: Page) {
        (typed, repeated) = ("", "")
        page = next
    }

    private func left() {
        (typed, repeated) = ("", "")
        // Words that were not confirmed were never the vault's.
        if model.running == nil { model.discardPhrase() }
        sheet.hasGone()
    }

    private func secret(_ text: String) -> SecretCarrier? {
        guard let bytes = try? SecretBytes(utf8: text) else { return nil }
        return SecretCarrier(bytes)
    }

    private func estimate(_ text: String) {
        let bytes = Array(text.utf8)
        model.estimate(unsafe bytes.span.bytes)
    }

    private var showsFailure: Binding<Bool> {
        Binding(
            get: { @MainActor in model.failure != nil && !sheet.isThere },
            set: { @MainActor isShown in if !isShown { model.failure = nil } })
    }
}

/// Keys of the ladder's words.
enum ProtectionText {
    static func title(_ level: VaultLevel) -> LocalizedStringKey {
        switch level {
        case .device: "protection.device"
        case .owner: "protection.owner"
        case .secret: "protection.secret"
        }
    }

    static func advice(_ level: VaultLevel) -> LocalizedStringKey {
        switch level {
        case .device: "protection.device.advice"
        case .owner: "protection.owner.advice"
        case .secret: "protection.secret.advice"
        }
    }

    static func key(_ level: PasscodeStrength.Level) -> LocalizedStringKey {
        switch level {
        case .none, .veryWeak: "protection.strength.veryWeak"
        case .weak: "protection.strength.weak"
        case .fair: "protection.strength.fair"
        case .strong: "protection.strength.strong"
        }
    }
}
#endif
