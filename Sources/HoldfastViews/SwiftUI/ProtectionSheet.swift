#if canImport(SwiftUI)
internal import HoldfastUI
internal import SwiftUI

/// A step of the ladder that has something to type or to read. It stays until the step was made: what was refused is
/// said here, and the words of a phrase stay to be confirmed again.
struct ProtectionSheet: View {
    enum Page: Int, Identifiable {
        case passcode, noPasscode, phrase
        var id: Int { rawValue }
    }

    let page: Page
    let models: ReadyModels
    /// The present one.
    @State private var typed = ""
    @State private var new = NewPasscode()
    @Environment(\.dismiss) private var dismiss

    private var model: ProtectionModel { models.protection }

    var body: some View {
        ScrollView {
            VStack(alignment: .leading, spacing: 20) {
                switch page {
                case .passcode: passcode
                case .noPasscode: noPasscode
                case .phrase: phrase
                }
                if let failure = model.failure {
                    Text(failure.problem).foregroundStyle(.red)
                }
                if model.running != nil { ProgressView() }
                buttons
            }
            .padding()
        }
        // A swipe must not throw away words that are being confirmed.
        .interactiveDismissDisabled(model.running != nil)
        .onDisappear { left() }
        .onChange(of: models.lock.isLocked) { _, isLocked in if isLocked { dismiss() } }
    }

    @ViewBuilder private var passcode: some View {
        title("protection.passcode")
        Text("protection.passcode.advice", bundle: .texts)
        if model.losesPhrase { Text("protection.losesPhrase", bundle: .texts).foregroundStyle(.red) }
        NewPasscodeFields(passcode: $new)
    }

    @ViewBuilder private var noPasscode: some View {
        title("protection.noPasscode")
        Text("protection.noPasscode.advice", bundle: .texts)
        if model.losesPhrase { Text("protection.losesPhrase", bundle: .texts).foregroundStyle(.red) }
        SecureField(text: $typed, prompt: nil) { Text("lock.passcode", bundle: .texts) }
    }

    @ViewBuilder private var phrase: some View {
        PhraseWords(owner: .vault, seconds: models.preferences.values.clipboardSeconds) {
            model.withPhrase { PhraseWords.words(of: $0) }
        }
        if model.hasPasscode {
            Text("identity.proof", bundle: .texts)
            SecureField(text: $typed, prompt: nil) { Text("lock.passcode", bundle: .texts) }
        }
    }

    private func title(_ key: LocalizedStringKey) -> some View {
        Text(key, bundle: .texts).font(.title2).accessibilityAddTraits(.isHeader)
    }

    @ViewBuilder private var buttons: some View {
        Button {
            perform()
        } label: {
            Text(page == .phrase ? "setup.written" : "settings.continue", bundle: .texts)
        }
        .buttonStyle(.borderedProminent)
        .disabled(!isReady || model.running != nil)
        Button(text: "settings.cancel", role: .cancel) { dismiss() }
            .disabled(model.running != nil)
    }

    private var isReady: Bool {
        switch page {
        case .passcode: new.isReady
        case .noPasscode: !typed.isEmpty
        case .phrase: !model.hasPasscode || !typed.isEmpty
        }
    }

    private func perform() {
        guard let old = SecretCarrier(typed: typed), let first = SecretCarrier(typed: new.typed),
            let second = SecretCarrier(typed: new.repeated)
        else { return }
        let (hasPasscode, takesWeak) = (model.hasPasscode, new.takesWeak)
        clear()
        Task {
            let isMade =
                switch page {
                case .passcode:
                    await model.setPasscode(first.take(), repeated: second.take(), takingWeak: takesWeak)
                case .noPasscode: await model.removePasscode(old.take())
                case .phrase where hasPasscode: await model.confirmPhrase(passcode: old.take())
                case .phrase: await model.confirmPhrase()
                }
            if isMade { dismiss() }
        }
    }

    private func left() {
        clear()
        model.failure = nil
        // Words that were not confirmed were never the vault's.
        model.discardPhrase()
    }

    private func clear() {
        typed = ""
        new.clear()
    }
}
#endif
