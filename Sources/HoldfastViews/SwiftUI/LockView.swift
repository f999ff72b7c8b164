#if canImport(SwiftUI)
public import HoldfastUI
public import SwiftUI
internal import VaultFormat
internal import AppLockCore
internal import DeviceOwner
internal import SecretMemory

/// The lock screen: the device owner's confirmation if the policy allows it, a PIN, a passcode or the recovery phrase,
/// the result of the last attempt, attempts left, and the delay.
///
/// The device's own prompt appears automatically once when the app comes back, and at a button. A `SecureField` hands
/// its text over as a `String`, which nothing can wipe: it is copied into locked memory at once and the field is
/// emptied.
public struct LockView: View {
    private let model: LockModel
    @State private var typed = ""
    @FocusState private var isFocused: Bool
    @Environment(\.lockScreenStyle) private var style

    /// The screen of this lock.
    public init(_ model: LockModel) { self.model = model }

    /// What is shown.
    public var body: some View {
        if model.state == .destroyed { DestroyedView() } else { prompt }
    }

    private var prompt: some View {
        VStack(spacing: 20) {
            style.icon.font(.largeTitle).accessibilityHidden(true)
            (style.title ?? Text("lock.title", bundle: .module)).font(.title2).accessibilityAddTraits(.isHeader)
            if let reason = LockText.key(model.reason, model.prompt, takesSecret: model.takesSecret) {
                Text(reason, bundle: .module).foregroundStyle(.secondary)
            }
            if let stop = model.stop { StopView(stop) }
            if model.takesSecret {
                SecureField(text: $typed, prompt: nil) { Text(LockText.field(model.prompt), bundle: .module) }
                    .focused($isFocused)
                    .onSubmit { answer() }
                    .disabled(isWaiting)
            }
            if let failure = LockText.key(model.guidance) { Text(failure, bundle: .module).foregroundStyle(.red) }
            if let left = model.remainingAttempts {
                Text(LockText.attempts(left, model.consequence), bundle: .module)
            }
            if let seconds = model.delay, model.isDelayed {
                Text("lock.delay \(seconds)", bundle: .module).monospacedDigit()
            }
            if model.takesSecret {
                Button {
                    answer()
                } label: {
                    Text("lock.unlock", bundle: .module)
                }
                .buttonStyle(.borderedProminent)
                .disabled(isWaiting || typed.isEmpty)
            } else if model.stop == nil {
                // Nothing to type: the owner is asked again, or nobody is.
                Button {
                    Task { await model.owner.unlock() }
                } label: {
                    Text("lock.unlock", bundle: .module)
                }
                .buttonStyle(.borderedProminent)
                .disabled(model.owner.isUnlocking)
            }
            ForEach(model.owner.offers, id: \.self) { step in ownerButton(step) }
            if let problem = model.owner.problem {
                Text(ProblemText.key(problem), bundle: .module).foregroundStyle(.secondary)
            }
            ForEach(model.otherPrompts, id: \.self) { prompt in
                Button {
                    typed = ""
                    model.choose(prompt)
                } label: {
                    Text(LockText.use(prompt), bundle: .module)
                }
            }
            if model.state == .checking { ProgressView() }
            style.footer
        }
        .padding()
        .frame(maxWidth: .infinity, maxHeight: .infinity)
        .background(style.background)
        .tint(style.tint)
        .accessibilityAddTraits(.isModal)
        .onAppear { isFocused = true }
        .task { await Biometry.current.look() }
        // One field for all of them: what was typed for one is not handed over as another.
        .onChange(of: model.prompt) { _, _ in typed = "" }
    }

    private func ownerButton(_ step: OwnerStep) -> some View {
        Button {
            typed = ""
            Task { await model.owner.ask(step) }
        } label: {
            Label {
                Text(OwnerText.unlock(step), bundle: .module)
            } icon: {
                Image(systemName: OwnerText.symbol(step))
            }
        }
        .buttonStyle(.bordered)
        .disabled(model.owner.dialog.step != nil || model.state == .checking)
    }

    private var isWaiting: Bool { model.state == .checking || model.isDelayed }

    private func answer() {
        guard !typed.isEmpty, !isWaiting, let secret = try? SecretBytes(utf8: typed) else { return }
        typed = ""
        let (carried, prompt) = (SecretCarrier(secret), model.prompt)
        Task { await model.unlock(prompt, carried.take()) }
    }
}

/// The end: nothing can be entered any more.
struct DestroyedView: View {
    /// Begins another vault, where the app is at its root and wants that.
    var face: FaceModel?
    @Environment(\.lockScreenStyle) private var style

    var body: some View {
        VStack(spacing: 20) {
            Text("app.destroyed", bundle: .module).multilineTextAlignment(.center)
            if let face, face.canStartOver {
                Button {
                    Task { await face.startOver() }
                } label: {
                    Text("app.destroyed.again", bundle: .module)
                }
            }
        }
        .padding()
        .frame(maxWidth: .infinity, maxHeight: .infinity)
        .background(style.background)
        .accessibilityAddTraits(.isModal)
    }
}
#endif
