#if canImport(SwiftUI)
package import HoldfastUI
package import SwiftUI
internal import VaultFormat

/// The first run: a passcode, the 24 words on paper with a check, the app lock, and the device's own way to know its
/// owner.
package struct SetupView: View {
    private let model: SetupModel
    private let finished: @MainActor () -> Void
    @State private var typed = ""
    @State private var new = NewPasscode()
    @State private var answers: [Int: String] = [:]
    @State private var isWrong = false

    /// - Parameters:
    ///   - model: The assistant.
    ///   - finished: Called when the vault is there and open.
    package init(_ model: SetupModel, finished: @escaping @MainActor () -> Void) {
        self.model = model
        self.finished = finished
    }

    /// What is shown.
    package var body: some View {
        ScrollView {
            VStack(alignment: .leading, spacing: 20) {
                switch model.step {
                case .welcome: welcome
                case .passcode: passcode
                case .creating, .opening: ProgressView()
                case .phrase: phrase
                case .check: check
                case .protection: protection
                case .resume: resume
                case .fingerprint: biometrics
                case .chip: EmptyView()  // these devices have the Secure Enclave, which keeps shares anyway
                case .finished: EmptyView()
                }
                if let problem = model.problem {
                    Text(problem).foregroundStyle(.red)
                }
            }
            .padding()
        }
        // There is no lock yet: the words, and what is typed, are covered whenever the scene is not in front.
        .onlyInFront()
        .task { await Biometry.current.look() }
        .onChange(of: model.step) { _, step in if step == .finished { finished() } }
        .onScenePhase { phase in if phase == .background { leave() } }
    }

    @ViewBuilder private var welcome: some View {
        title("setup.welcome")
        Text("setup.welcome.advice", bundle: .texts)
        next("settings.continue") { model.begin() }
    }

    @ViewBuilder private var passcode: some View {
        title("setup.passcode")
        Text("setup.passcode.advice", bundle: .texts)
        NewPasscodeFields(passcode: $new)
        next("settings.continue") { choose() }.disabled(!new.isReady)
    }

    @ViewBuilder private var phrase: some View {
        PhraseWords(owner: .vault, seconds: Preferences().clipboardSeconds) {
            model.withPhrase { PhraseWords.words(of: $0) }
        }
        next("setup.written") { model.phraseIsWritten() }
    }

    @ViewBuilder private var check: some View {
        title("setup.check")
        ForEach(model.positions, id: \.self) { position in
            SecureField(text: answer(position), prompt: nil) { Text("setup.word \(position)", bundle: .texts) }
        }
        if isWrong { Text("setup.check.wrong", bundle: .texts).foregroundStyle(.red) }
        next("settings.continue") { finishCheck() }
        Button(text: "setup.showAgain") {
            answers = [:]
            model.showPhraseAgain()
        }
    }

    @ViewBuilder private var protection: some View {
        title("setup.protection")
        Toggle(isOn: enablesLock) { Text("settings.lock", bundle: .texts) }
        next("setup.finish") { Task { await model.finish() } }
    }

    @ViewBuilder private var resume: some View {
        title("setup.resume")
        Text(model.isPhraseChecked ? "setup.resume.advice" : "setup.resume.newWords", bundle: .texts)
        SecureField(text: $typed, prompt: nil) { Text("lock.passcode", bundle: .texts) }
        next("settings.continue") { advance() }.disabled(typed.isEmpty || model.isBusy)
    }

    @ViewBuilder private var biometrics: some View {
        title(OwnerText.setting(.biometrics))
        Text("setup.biometrics.advice", bundle: .texts)
        next("settings.continue") { Task { await model.enrollFingerprint() } }.disabled(model.isBusy)
        Button(text: "setup.leaveOut") { model.leaveOut() }
    }

    private func title(_ key: LocalizedStringKey) -> some View {
        Text(key, bundle: .texts).font(.title2).accessibilityAddTraits(.isHeader)
    }

    private func next(_ key: LocalizedStringKey, _ action: @escaping @MainActor () -> Void) -> some View {
        Button(action: action) { Text(key, bundle: .texts) }.buttonStyle(.borderedProminent)
    }

    private var enablesLock: Binding<Bool> {
        Binding(get: { @MainActor in model.enablesLock }, set: { @MainActor isOn in model.enablesLock = isOn })
    }

    private func answer(_ position: Int) -> Binding<String> {
        Binding(
            get: { @MainActor in answers[position] ?? "" }, set: { @MainActor word in answers[position] = word })
    }

    private func choose() {
        guard let first = SecretCarrier(typed: new.typed), let second = SecretCarrier(typed: new.repeated) else {
            return
        }
        let takesWeak = new.takesWeak
        new.clear()
        Task { await model.choose(passcode: first.take(), repeated: second.take(), takingWeak: takesWeak) }
    }

    private func advance() {
        guard let secret = SecretCarrier(typed: typed) else { return }
        typed = ""
        Task { await model.resume(passcode: secret.take()) }
    }

    private func leave() {
        (typed, answers) = ("", [:])
        new.clear()
        Task { await model.suspend(.didEnterBackground) }
    }

    private func finishCheck() {
        for position in model.positions {
            let word = Array((answers[position] ?? "").utf8)
            model.answer(unsafe word.span.bytes, at: position)
        }
        answers = [:]
        isWrong = !model.finishCheck()
    }
}
#endif
