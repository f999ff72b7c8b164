#if canImport(SwiftUI)
internal import AppLockCore
internal import DeviceOwner
public import HoldfastUI
public import SwiftUI
internal import VaultFormat

/// The security settings as sections of a form: lock, timing, the device's owner, self-destruct with its countdown.
/// Each change is proved with the passcode, and the owner's with the prompt that it is about, before; what is refused
/// stands as it was.
public struct SecuritySettings: View {
    private let models: ReadyModels
    @State private var page: ProtectionSheet.Page?
    @State private var secretPage: PasscodeSheet.Page?
    /// Of all sheets of this page: one at a time is there.
    @State private var sheet = SheetPresence()

    /// The settings of an open app.
    public init(_ models: ReadyModels) {
        self.models = models
        Texts.fillReasons(models)
    }

    /// What is shown.
    public var body: some View {
        Form {
            ProtectionSection(models: models, page: $page)
            Section {
                Toggle(isOn: lock) {
                    Text(models.settings.hasPasscode ? "settings.lock" : "settings.lock.owner", bundle: .texts)
                }
                .disabled(models.settings.lockObstacle != nil || models.settings.isBusy)
                if models.settings.offersOwnerAnew {
                    Text(
                        models.settings.enrollmentChanged ? "settings.enrollmentChanged" : "settings.biometricsCame",
                        bundle: .texts)
                    Button(text: "settings.ownerAnew") { models.settings.request(.ownerAnew) }
                }
                if models.settings.obstacle(to: .biometrics) == .denied { DeniedRow() }
                Toggle(isOn: preference(\.blursCover)) { Text("settings.blurCover", bundle: .texts) }
                #if canImport(UIKit)
                Toggle(isOn: preference(\.coversCapture)) { Text("settings.coverCapture", bundle: .texts) }
                #endif
                Picker(selection: timing) {
                    ForEach(timings, id: \.self) { choice in
                        Text(SettingsText.key(choice), bundle: .texts).tag(choice)
                    }
                } label: {
                    Text("settings.timing", bundle: .texts)
                }
                #if !canImport(UIKit)
                Toggle(isOn: preference(\.locksWhenMinimised)) { Text("settings.minimised", bundle: .texts) }
                #endif
            } footer: {
                if let obstacle = models.settings.lockObstacle {
                    Text(OwnerText.key(obstacle), bundle: .texts)
                } else {
                    Text("settings.lock.footer", bundle: .texts)
                }
            }
            if models.settings.hasPasscode {
                Section {
                    ForEach(OwnerStep.allCases, id: \.self) { step in
                        Toggle(isOn: owner(step)) { Text(OwnerText.setting(step), bundle: .texts) }
                            .disabled(!models.settings.canSwitch(step) || models.settings.dialog.step != nil)
                    }
                } footer: {
                    if let obstacle = models.settings.obstacle(to: .biometrics) {
                        Text(OwnerText.key(obstacle), bundle: .texts)
                    }
                }
            }
            if models.settings.hasPasscode { PasscodeSection(models: models, page: $secretPage) }
            SelfDestructSection(models: models)
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
        .confirmationDialog(
            Text("settings.losesPhrase", bundle: .texts), isPresented: asksPhrase, titleVisibility: .visible
        ) {
            Button(text: "settings.continue", role: .destructive) { Task { await models.settings.confirm() } }
            Button(text: "settings.cancel", role: .cancel) { models.settings.cancel() }
        } message: {
            Text("protection.losesPhrase", bundle: .texts)
        }
        .sheet(isPresented: asksPasscode, onDismiss: { sheet.hasGone() }) {
            ProofSheet(models: models) { await models.settings.prove(passcode: $0.take()) }
                .noted(in: sheet).covered(by: models)
        }
        .sheet(item: $secretPage, onDismiss: { sheet.hasGone() }) {
            PasscodeSheet(page: $0, models: models).noted(in: sheet).covered(by: models)
        }
        .notice("settings.unchanged", models.settings.failure.map { Text($0.problem) }) {
            models.settings.failure != nil && !sheet.isThere && models.takesAlerts
        } clear: {
            models.settings.failure = nil
        }
        .modifier(ProtectionSteps(models: models, page: $page, sheet: sheet))
        .modifier(SelfDestructSteps(models: models, sheet: sheet))
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

    private var asksPasscode: Binding<Bool> {
        Binding(
            get: { @MainActor in models.settings.needed == .passcode },
            // Put away by hand; one that goes because its passcode was entered finds the model busy and changes
            // nothing.
            set: { @MainActor isShown in if !isShown { models.settings.cancel() } })
    }

    /// One that was set elsewhere is shown, too.
    private var timings: [LockTiming] {
        let shown = models.settings.shownTiming
        return LockTiming.presets.contains(shown) ? LockTiming.presets : LockTiming.presets + [shown]
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
