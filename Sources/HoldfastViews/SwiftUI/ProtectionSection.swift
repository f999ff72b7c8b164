#if canImport(SwiftUI)
internal import Cryptography
internal import HoldfastUI
internal import SwiftUI
internal import VaultCore
internal import VaultFormat

/// Where the vault stands, and what each next step gives and costs. A sheet makes the step.
struct ProtectionSection: View {
    let models: ReadyModels
    @Binding var page: ProtectionSheet.Page?

    private var model: ProtectionModel { models.protection }

    var body: some View {
        Section {
            if let level = model.level {
                Text(ProtectionText.title(level), bundle: .texts).accessibilityAddTraits(.isHeader)
                Text(ProtectionText.advice(level), bundle: .texts).foregroundStyle(.secondary)
            }
            if model.isLostWithDevice {
                Text("protection.lost", bundle: .texts).foregroundStyle(.red)
            }
            if model.hasPasscode {
                row("protection.noPasscode") { page = .noPasscode }
            } else {
                row("protection.passcode") { page = .passcode }
            }
            row(model.isLostWithDevice ? "protection.phrase" : "protection.phrase.new") {
                Task {
                    await model.issuePhrase()
                    if model.showsPhrase { page = .phrase }
                }
            }
            if let moving = model.moving {
                Text("protection.moving \(moving.percent)", bundle: .texts).monospacedDigit()
            }
            if let problem = model.movingProblem { Text(problem) }
        } header: {
            Text("protection.title", bundle: .texts)
        } footer: {
            if model.losesPhrase { Text("protection.losesPhrase", bundle: .texts) }
        }
    }

    private func row(_ key: LocalizedStringKey, _ action: @escaping @MainActor () -> Void) -> some View {
        Button(action: action) { Text(key, bundle: .texts) }.disabled(model.running != nil || model.moving != nil)
    }
}

/// The sheets of the steps, and how one without a sheet ended.
struct ProtectionSteps: ViewModifier {
    let models: ReadyModels
    @Binding var page: ProtectionSheet.Page?
    let sheet: SheetPresence

    private var model: ProtectionModel { models.protection }

    func body(content: Content) -> some View {
        content
            .sheet(item: $page, onDismiss: { sheet.hasGone() }) {
                ProtectionSheet(page: $0, models: models).noted(in: sheet).covered(by: models)
            }
            .notice("settings.unchanged", model.failure.map { Text($0.problem) }) {
                model.failure != nil && page == nil && !sheet.isThere && models.takesAlerts
            } clear: {
                model.failure = nil
            }
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
