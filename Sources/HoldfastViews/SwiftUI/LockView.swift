#if canImport(SwiftUI)
public import HoldfastUI
public import SwiftUI
internal import VaultFormat
internal import AppLockCore
internal import DeviceOwner
internal import VaultCore

/// The lock screen: the device owner's confirmation if the policy allows it, a PIN, a passcode or the recovery phrase,
/// the result of the last attempt, attempts left, and the delay.
///
/// The device's own prompt appears automatically once when the app comes back, and at a button. A `SecureField` hands
/// its text over as a `String`, which nothing can wipe: it is copied into locked memory at once and the field is
/// emptied.
public struct LockView: View {
    private let model: LockModel
    @State private var typed = ""
    /// With the phrase, for who forgot the passcode.
    @State private var new = NewPasscode()
    @State private var folder: HardwareDecision?
    @State private var differs = false
    @FocusState private var isFocused: Bool
    @Environment(\.lockScreenStyle) private var style
    private let takesKeyboard: @MainActor () -> Bool

    /// The screen of this lock.
    public init(_ model: LockModel) { self.init(model) { true } }

    /// - Parameter takesKeyboard: Whether its field may have the keyboard when it appears.
    init(_ model: LockModel, takesKeyboard: @escaping @MainActor () -> Bool) {
        self.model = model
        self.takesKeyboard = takesKeyboard
    }

    /// What is shown.
    public var body: some View {
        if model.state == .destroyed { DestroyedView() } else { prompt }
    }

    private var prompt: some View {
        VStack(spacing: 20) {
            style.icon.font(.largeTitle).accessibilityHidden(true)
            (style.title ?? Text("lock.title", bundle: .texts)).font(.title2).accessibilityAddTraits(.isHeader)
            if let reason = LockText.key(model.reason, model.prompt, takesSecret: model.takesSecret) {
                Text(reason, bundle: .texts).foregroundStyle(.secondary)
            }
            if let stop = model.stop { StopView(stop) }
            if model.takesSecret {
                SecureField(text: $typed, prompt: nil) { Text(LockText.field(model.prompt), bundle: .texts) }
                    .focused($isFocused)
                    .onSubmit { answer() }
                    .disabled(isWaiting)
            }
            if replacesPasscode { recovery }
            if differs { Text("problem.passcodesDiffer", bundle: .texts).foregroundStyle(.red) }
            if let failure = LockText.key(model.guidance) { Text(failure, bundle: .texts).foregroundStyle(.red) }
            if let left = model.remainingAttempts {
                Text(LockText.attempts(left, model.consequence), bundle: .texts)
            }
            if let seconds = model.delay, model.isDelayed {
                Text("lock.delay \(seconds)", bundle: .texts).monospacedDigit()
            }
            if model.takesSecret {
                Button(text: "lock.unlock") { answer() }
                    .buttonStyle(.borderedProminent)
                    .disabled(isWaiting || !isComplete)
            } else if model.stop == nil {
                // Nothing to type: the owner is asked again, or nobody is.
                Button(text: "lock.unlock") { Task { await model.owner.unlock() } }
                    .buttonStyle(.borderedProminent)
                    .disabled(model.owner.isUnlocking)
            }
            ForEach(model.owner.offers, id: \.self) { step in ownerButton(step) }
            if let problem = model.owner.problem {
                Text(problem).foregroundStyle(.secondary)
            }
            if model.owner.isDenied { DeniedRow() }
            ForEach(model.otherPrompts, id: \.self) { prompt in
                Button {
                    clear()
                    model.choose(prompt)
                } label: {
                    Text(LockText.use(prompt), bundle: .texts)
                }
            }
            if model.state == .checking { ProgressView() }
            if model.owner.allowsOpenCompartment, let lesser = style.lesser { lesser(model.app) }
            style.footer
        }
        .padding()
        .frame(maxWidth: .infinity, maxHeight: .infinity)
        .background(style.background)
        .tint(style.tint)
        .accessibilityAddTraits(.isModal)
        .onAppear { isFocused = takesKeyboard() }
        .task { await Biometry.current.look() }
        // One field for all of them: what was typed for one is not handed over as another.
        .onChange(of: model.prompt) { _, _ in clear() }
        // Half a passcode does not wait in memory for its user to come back.
        .onScenePhase { phase in if phase == .background { clear() } }
        .onChange(of: model.absences) { _, _ in clear() }
        .onDisappear { clear() }
    }

    /// The words open the vault also for a new passcode; who types none keeps the old one.
    @ViewBuilder private var recovery: some View {
        Text("lock.newPasscode", bundle: .texts).font(.callout)
        NewPasscodeFields(passcode: $new, title: "settings.passcode.new").disabled(isWaiting)
        if model.leavesHardware, !new.typed.isEmpty {
            Text("lock.folder", bundle: .texts).font(.callout)
            Picker(selection: $folder) {
                Text("lock.folder.none", bundle: .texts).tag(HardwareDecision?.none)
                Text("lock.folder.claim", bundle: .texts).tag(HardwareDecision?.some(.claim))
                Text("lock.folder.leave", bundle: .texts).tag(HardwareDecision?.some(.leave))
            } label: {
                Text("lock.folder.title", bundle: .texts)
            }
        }
    }

    private func ownerButton(_ step: OwnerStep) -> some View {
        Button {
            clear()
            Task { await model.owner.ask(step) }
        } label: {
            Label {
                Text(OwnerText.unlock(step), bundle: .texts)
            } icon: {
                Image(systemName: OwnerText.symbol(step))
            }
        }
        .buttonStyle(.bordered)
        .disabled(model.owner.dialog.step != nil || model.state == .checking)
    }

    private var isWaiting: Bool { model.state == .checking || model.isDelayed }

    private var replacesPasscode: Bool { model.takesSecret && model.hasPasscode && model.prompt == .recoveryPhrase }

    private var isComplete: Bool {
        guard !typed.isEmpty, replacesPasscode, !new.typed.isEmpty || !new.repeated.isEmpty else {
            return !typed.isEmpty
        }
        return new.isReady && (!model.leavesHardware || folder != nil)
    }

    private func answer() {
        guard isComplete, !isWaiting, let secret = SecretCarrier(typed: typed) else { return }
        differs = replacesPasscode && new.typed != new.repeated
        guard !differs else { return }
        let (prompt, takesWeak, folder) = (model.prompt, new.takesWeak, folder)
        let chosen = replacesPasscode && !new.typed.isEmpty ? SecretCarrier(typed: new.typed) : nil
        clear()
        Task {
            if let chosen {
                await model.recover(
                    phrase: secret.take(), newPasscode: chosen.take(), hardware: folder, takingWeak: takesWeak)
            } else {
                await model.unlock(prompt, secret.take())
            }
        }
    }

    private func clear() {
        (typed, differs, folder) = ("", false, nil)
        new.clear()
    }
}

/// The end: nothing can be entered any more.
struct DestroyedView: View {
    /// Begins another vault, where the app is at its root and wants that (``AppModel/Ending/startOver``).
    var appModel: AppModel?
    @Environment(\.lockScreenStyle) private var style

    var body: some View {
        VStack(spacing: 20) {
            Text("app.destroyed", bundle: .texts).multilineTextAlignment(.center)
            if let appModel, appModel.offersNewVault {
                Button(text: "app.destroyed.again") { Task { await appModel.startOver() } }
            }
        }
        .padding()
        .frame(maxWidth: .infinity, maxHeight: .infinity)
        .background(style.background)
        .accessibilityAddTraits(.isModal)
    }
}
#endif
