#if canImport(SwiftUI)
internal import AppLockCore
internal import DeviceOwner
public import HoldfastUI
internal import SecretMemory
public import SwiftUI
internal import VaultFormat

/// The security settings as sections of a form: lock, timing, the device's owner, self-destruct with its countdown. Each
/// change is proved with the passcode, and the owner's with the prompt that it is about, before; what is refused stands as
/// it was.
public struct SecuritySettings: View {
    private let models: AppModels
    @State private var typed = ""
    @State private var sheet = SheetPresence()
    /// Whether the confirmation stands there, and whether it was answered by one of its buttons.
    @State private var confirms = false
    @State private var isAnswered = false

    /// The settings of an open app.
    public init(_ models: AppModels) { self.models = models }

    /// What is shown.
    public var body: some View {
        Form {
            ProtectionSection(models: models)
            Section {
                Toggle(isOn: lock) {
                    Text(models.settings.hasPasscode ? "settings.lock" : "settings.lock.owner", bundle: .module)
                }
                .disabled(models.settings.lockObstacle != nil || models.settings.isBusy)
                if models.settings.enrollmentChanged {
                    Text("settings.enrollmentChanged", bundle: .module)
                    Button {
                        models.settings.request(.ownerAnew)
                    } label: {
                        Text("settings.ownerAnew", bundle: .module)
                    }
                }
                Toggle(isOn: preference(\.blursCover)) { Text("settings.blurCover", bundle: .module) }
                #if canImport(UIKit)
                Toggle(isOn: preference(\.coversCapture)) { Text("settings.coverCapture", bundle: .module) }
                #endif
                Picker(selection: timing) {
                    ForEach(timings, id: \.self) { choice in
                        Text(SettingsText.key(choice), bundle: .module).tag(choice)
                    }
                } label: {
                    Text("settings.timing", bundle: .module)
                }
                #if !canImport(UIKit)
                Toggle(isOn: preference(\.locksWhenMinimised)) { Text("settings.minimised", bundle: .module) }
                #endif
            } footer: {
                if let obstacle = models.settings.lockObstacle {
                    Text(OwnerText.key(obstacle), bundle: .module)
                } else {
                    Text("settings.lock.footer", bundle: .module)
                }
            }
            if models.settings.hasPasscode {
                Section {
                    ForEach(OwnerStep.allCases, id: \.self) { step in
                        Toggle(isOn: owner(step)) { Text(OwnerText.setting(step), bundle: .module) }
                            .disabled(!models.settings.canSwitch(step) || models.settings.dialog.step != nil)
                    }
                } footer: {
                    if let obstacle = models.settings.obstacle(to: .biometrics) {
                        Text(OwnerText.key(obstacle), bundle: .module)
                    }
                }
            }
            Section {
                Toggle(isOn: selfDestruct) { Text("settings.selfDestruct", bundle: .module) }
                    .disabled(!models.selfDestruct.isPossible)
                if case .counting(_, let left, _) = models.selfDestruct.step {
                    HStack {
                        Text("settings.countdown \(left)", bundle: .module).monospacedDigit()
                        Spacer()
                        Button {
                            Task { await models.selfDestruct.cancel() }
                        } label: {
                            Text("settings.cancel", bundle: .module)
                        }
                    }
                }
            } footer: {
                Text(selfDestructFooter, bundle: .module)
            }
        }
        .task {
            await Biometry.current.look()
            await models.settings.load()
            await models.settings.look()
        }
        .onChange(of: models.settings.needed) { _, needed in
            // The device shows its own prompt.
            if case .owner = needed { Task { await models.settings.proveOwner() } }
            if needed == .confirmation, !models.settings.losesPhrase { Task { await models.settings.confirm() } }
        }
        .onChange(of: asksOwner) { _, asks in
            guard asks else { return }
            Task {
                switch models.selfDestruct.step {
                case .authenticating: await models.selfDestruct.authenticate()
                case .authenticatingAgain: await models.selfDestruct.finish()
                case .idle, .confirming, .counting: return
                }
            }
        }
        .confirmationDialog(
            Text("settings.losesPhrase", bundle: .module), isPresented: asksPhrase, titleVisibility: .visible
        ) {
            Button(role: .destructive) {
                Task { await models.settings.confirm() }
            } label: {
                Text("settings.continue", bundle: .module)
            }
            Button(role: .cancel) {
                models.settings.cancel()
            } label: {
                Text("settings.cancel", bundle: .module)
            }
        } message: {
            Text("protection.losesPhrase", bundle: .module)
        }
        .task { await models.selfDestruct.load() }
        .sheet(isPresented: asksPasscode, onDismiss: { sheet.hasGone() }) { proof.noted(in: sheet).covered(by: models) }
        .onChange(of: isConfirming, initial: true) { _, isConfirming in (confirms, isAnswered) = (isConfirming, false) }
        .onChange(of: confirms) { _, isShown in
            // Put away without an answer.
            if !isShown, !isAnswered, isConfirming { Task { await models.selfDestruct.cancel() } }
        }
        .confirmationDialog(
            Text("settings.selfDestruct.confirm", bundle: .module), isPresented: $confirms, titleVisibility: .visible
        ) {
            Button(role: .destructive) {
                isAnswered = true
                Task { await models.selfDestruct.confirm() }
            } label: {
                Text("settings.selfDestruct.yes", bundle: .module)
            }
            Button(role: .cancel) {
                isAnswered = true
                Task { await models.selfDestruct.cancel() }
            } label: {
                Text("settings.cancel", bundle: .module)
            }
        } message: {
            Text(selfDestructFooter, bundle: .module)
        }
        .alert(Text(notice?.title ?? "settings.unchanged", bundle: .module), isPresented: showsNotice) {
            Button {
                showsNotice.wrappedValue = false
            } label: {
                Text("settings.ok", bundle: .module)
            }
        } message: {
            if let message = notice?.message { Text(message, bundle: .module) }
        }
    }

    private var selfDestructFooter: LocalizedStringKey {
        let limit = models.selfDestruct.attemptLimit
        if !models.selfDestruct.isPossible { return "settings.selfDestruct.nothing" }
        return models.selfDestruct.confirmsOwner
            ? "settings.selfDestruct.prompts \(limit)" : "settings.selfDestruct.footer \(limit)"
    }

    /// The device's owner is asked for self-destruct, in place of a passcode.
    private var asksOwner: Bool {
        guard models.selfDestruct.confirmsOwner else { return false }
        switch models.selfDestruct.step {
        case .authenticating, .authenticatingAgain: return true
        case .idle, .confirming, .counting: return false
        }
    }

    /// What the change takes away is said before.
    private var asksPhrase: Binding<Bool> {
        Binding(
            get: { @MainActor in
                models.settings.needed == .confirmation && models.settings.losesPhrase && !models.settings.isBusy
            },
            // Its buttons answer; put away without one, nothing changes.
            set: { @MainActor isShown in if !isShown, !models.settings.isBusy { models.settings.cancel() } })
    }

    /// How the last change ended, where the user has to know.
    private var notice: (title: LocalizedStringKey, message: LocalizedStringKey?)? {
        if let failure = models.settings.failure { return ("settings.unchanged", ProblemText.key(failure.problem)) }
        return switch models.selfDestruct.outcome {
        case nil, .cancelled: nil
        case .done(.enable): ("settings.selfDestruct.on", nil)
        case .done(.disable): ("settings.selfDestruct.off", nil)
        case .givenUp: ("settings.unchanged", "settings.selfDestruct.givenUp")
        case .refused(let problem): ("settings.unchanged", ProblemText.key(problem))
        }
    }

    private var proof: some View {
        VStack(spacing: 20) {
            Text("settings.proof", bundle: .module).font(.headline)
            SecureField(text: $typed, prompt: nil) { Text("lock.passcode", bundle: .module) }.onSubmit { prove() }
            Button {
                prove()
            } label: {
                Text("settings.continue", bundle: .module)
            }
            .buttonStyle(.borderedProminent)
            .disabled(typed.isEmpty)
            Button(role: .cancel) {
                asksPasscode.wrappedValue = false
            } label: {
                Text("settings.cancel", bundle: .module)
            }
        }
        .padding()
        .frame(maxWidth: .infinity, maxHeight: .infinity)
        .presentationDetents([.medium])
        .presentationDragIndicator(.visible)
    }

    private func prove() {
        guard let secret = try? SecretBytes(utf8: typed) else { return }
        typed = ""
        let carried = SecretCarrier(secret)
        Task {
            switch models.selfDestruct.step {
            case .authenticating: await models.selfDestruct.authenticate(passcode: carried.take())
            case .authenticatingAgain: await models.selfDestruct.finish(passcode: carried.take())
            case .idle, .confirming, .counting: await models.settings.prove(passcode: carried.take())
            }
        }
    }

    private var lock: Binding<Bool> {
        Binding(
            get: { @MainActor in models.settings.showsLockOn },
            set: { @MainActor isOn in models.settings.request(.lock(isOn)) })
    }

    private var timing: Binding<LockTiming> {
        Binding(
            get: { @MainActor in models.settings.shownTiming },
            set: { @MainActor timing in models.settings.request(.timing(timing)) })
    }

    private func owner(_ step: OwnerStep) -> Binding<Bool> {
        Binding(
            get: { @MainActor in models.settings.showsOn(step) },
            set: { @MainActor isOn in models.settings.request(.owner(step, isOn)) })
    }

    private var selfDestruct: Binding<Bool> {
        Binding(
            get: { @MainActor in models.selfDestruct.showsOn },
            set: { @MainActor isOn in models.selfDestruct.request(isOn ? .enable : .disable) })
    }

    private var asksPasscode: Binding<Bool> {
        Binding(
            get: { @MainActor in
                switch models.selfDestruct.step {
                case .authenticating, .authenticatingAgain: !models.selfDestruct.confirmsOwner
                case .idle, .confirming, .counting: models.settings.needed == .passcode
                }
            },
            set: { @MainActor isShown in
                guard !isShown else { return }
                typed = ""
                // Put away by hand; one that goes because its passcode was given finds the models busy and changes nothing.
                models.settings.cancel()
                guard !models.selfDestruct.isBusy else { return }
                switch models.selfDestruct.step {
                case .authenticating, .authenticatingAgain: Task { await models.selfDestruct.cancel() }
                case .idle, .confirming, .counting: return
                }
            })
    }

    /// What is asked after the passcode waits until its sheet is gone.
    private var isConfirming: Bool {
        if case .confirming = models.selfDestruct.step { !sheet.isThere } else { false }
    }

    /// One that was set elsewhere is shown, too.
    private var timings: [LockTiming] {
        let shown = models.settings.shownTiming
        return LockTiming.presets.contains(shown) ? LockTiming.presets : LockTiming.presets + [shown]
    }

    private var showsNotice: Binding<Bool> {
        Binding(
            get: { @MainActor in notice != nil && !sheet.isThere },
            set: { @MainActor isShown in
                guard !isShown else { return }
                models.settings.failure = nil
                models.selfDestruct.outcome = nil
            })
    }

    private func preference(_ choice: any WritableKeyPath<Preferences, Bool> & Sendable) -> Binding<Bool> {
        Binding(
            get: { @MainActor in models.preferences.values[keyPath: choice] },
            set: { @MainActor isOn in Task { await models.preferences.change { $0[keyPath: choice] = isOn } } })
    }
}

/// Keys of the settings' words.
enum SettingsText {
    static func key(_ timing: LockTiming) -> LocalizedStringKey {
        switch timing {
        case .immediately: return "timing.immediately"
        case .onRelaunch: return "timing.relaunch"
        case .never: return "timing.never"
        default:
            let seconds = Int(timing.duration?.components.seconds ?? 0)
            return seconds >= 60 ? "timing.minutes \(seconds / 60)" : "timing.seconds \(seconds)"
        }
    }
}
#endif
