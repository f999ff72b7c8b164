#if canImport(SwiftUI)
internal import AppLockCore
internal import HoldfastUI
internal import SwiftUI

/// Self-destruct: the switch, the limit, the countdown, and what a wipe's receipt will be verified with.
struct SelfDestructSection: View {
    let models: ReadyModels

    private var model: SelfDestructModel { models.selfDestruct }

    var body: some View {
        Section {
            Toggle(isOn: isOn) { Text("settings.selfDestruct", bundle: .texts) }.disabled(!model.isPossible)
            if model.isPossible {
                Picker(selection: limit) {
                    ForEach(Array(SecuritySettingsModel.attemptLimits), id: \.self) {
                        Text(verbatim: String($0)).tag($0)
                    }
                } label: {
                    Text("settings.attemptLimit", bundle: .texts)
                }
                .disabled(models.settings.isBusy || model.pending != nil)
            }
            switch model.step {
            case .counting(_, let left, _):
                HStack {
                    Text("settings.countdown \(left)", bundle: .texts).monospacedDigit()
                    Spacer()
                    cancel
                }
            case .authenticatingAgain where model.confirmsOwner:
                // The prompt came by itself when the countdown was over; after one that did not confirm, at this
                // button.
                HStack {
                    Button(text: "settings.selfDestruct.again") { Task { await model.finish() } }
                        .disabled(model.isBusy)
                    Spacer()
                    cancel
                }
            case .idle, .authenticating, .confirming, .authenticatingAgain: EmptyView()
            }
            if let key = model.receiptKey { CopyRow(title: "settings.receiptKey", text: key) }
        } footer: {
            VStack(alignment: .leading, spacing: 8) {
                Text(SelfDestructSection.advice(model), bundle: .texts)
                if model.receiptKey != nil { Text("settings.receiptKey.advice", bundle: .texts) }
            }
        }
    }

    static func advice(_ model: SelfDestructModel) -> LocalizedStringKey {
        if !model.isPossible { return "settings.selfDestruct.nothing" }
        return model.confirmsOwner
            ? "settings.selfDestruct.prompts \(model.attemptLimit)"
            : "settings.selfDestruct.footer \(model.attemptLimit)"
    }

    private var cancel: some View {
        Button(text: "settings.cancel") { Task { await model.cancel() } }
    }

    private var isOn: Binding<Bool> {
        Binding(
            get: { @MainActor in model.showsOn },
            set: { @MainActor isOn in model.request(isOn ? .enable : .disable) })
    }

    private var limit: Binding<Int> {
        Binding(
            get: { @MainActor in models.settings.shownAttemptLimit },
            set: { @MainActor limit in models.settings.request(.attemptLimit(limit)) })
    }
}

/// What a change of self-destruct asks on its way: a proof, a confirmation, a proof again, and how it ended.
struct SelfDestructSteps: ViewModifier {
    let models: ReadyModels
    let sheet: SheetPresence
    /// Whether the confirmation stands there, and whether it was answered by one of its buttons.
    @State private var confirms = false
    @State private var isAnswered = false

    private var model: SelfDestructModel { models.selfDestruct }

    func body(content: Content) -> some View {
        content
            .task { await model.load() }
            .onChange(of: asksOwner) { _, asks in
                guard asks else { return }
                Task {
                    switch model.step {
                    case .authenticating: await model.authenticate()
                    case .authenticatingAgain: await model.finish()
                    case .idle, .confirming, .counting: return
                    }
                }
            }
            .sheet(isPresented: asksPasscode, onDismiss: { sheet.hasGone() }) {
                ProofSheet(models: models, problem: refusal) { passcode in
                    if case .authenticatingAgain = model.step {
                        await model.finish(passcode: passcode.take())
                    } else {
                        await model.authenticate(passcode: passcode.take())
                    }
                }
                .noted(in: sheet).covered(by: models)
            }
            .onChange(of: isConfirming, initial: true) { _, isConfirming in
                (confirms, isAnswered) = (isConfirming, false)
            }
            .onChange(of: confirms) { _, isShown in
                // Put away without an answer.
                if !isShown, !isAnswered, isConfirming { Task { await model.cancel() } }
            }
            .confirmationDialog(
                Text("settings.selfDestruct.confirm", bundle: .texts), isPresented: $confirms,
                titleVisibility: .visible
            ) {
                Button(text: "settings.selfDestruct.yes", role: .destructive) {
                    isAnswered = true
                    Task { await model.confirm() }
                }
                Button(text: "settings.cancel", role: .cancel) {
                    isAnswered = true
                    Task { await model.cancel() }
                }
            } message: {
                Text(SelfDestructSection.advice(model), bundle: .texts)
            }
            .notice(notice?.title ?? "settings.unchanged", notice?.message.map { Text($0, bundle: .texts) }) {
                notice != nil && !asksPasscode.wrappedValue && !sheet.isThere && models.takesAlerts
            } clear: {
                model.outcome = nil
            }
    }

    /// The device's owner is asked, in place of a passcode.
    private var asksOwner: Bool {
        guard model.confirmsOwner else { return false }
        return asksForProof
    }

    private var asksForProof: Bool {
        switch model.step {
        case .authenticating, .authenticatingAgain: true
        case .idle, .confirming, .counting: false
        }
    }

    private var asksPasscode: Binding<Bool> {
        Binding(
            get: { @MainActor in asksForProof && !model.confirmsOwner },
            set: { @MainActor isShown in
                // Put away by hand; one that goes because its passcode was entered finds the model busy and changes
                // nothing.
                guard !isShown, !model.isBusy, asksForProof else { return }
                Task { await model.cancel() }
            })
    }

    /// Said in the sheet, since the change is still pending.
    private var refusal: VaultProblem? { if case .refused(let problem) = model.outcome { problem } else { nil } }

    /// What is asked after the passcode waits until its sheet is gone.
    private var isConfirming: Bool { if case .confirming = model.step { !sheet.isThere } else { false } }

    /// How the last change ended, where the user has to know.
    private var notice: (title: LocalizedStringKey, message: LocalizedStringKey?)? {
        switch model.outcome {
        case nil, .cancelled: nil
        case .done(.enable): ("settings.selfDestruct.on", nil)
        case .done(.disable): ("settings.selfDestruct.off", nil)
        case .givenUp: ("settings.unchanged", "settings.selfDestruct.givenUp")
        case .refused(let problem): ("settings.unchanged", ProblemText.key(problem))
        }
    }
}
#endif
