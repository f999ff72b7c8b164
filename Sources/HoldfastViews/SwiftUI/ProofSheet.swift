#if canImport(SwiftUI)
internal import HoldfastUI
internal import SwiftUI

/// Asks for the vault's passcode, which a change of the settings is proved with.
struct ProofSheet: View {
    let models: ReadyModels
    /// Why the last answer did not do, where another one is taken.
    var problem: VaultProblem?
    let prove: @MainActor (SecretCarrier) async -> Void
    @State private var typed = ""
    @Environment(\.dismiss) private var dismiss

    var body: some View {
        VStack(spacing: 20) {
            Text("settings.proof", bundle: .texts).font(.headline)
            SecureField(text: $typed, prompt: nil) { Text("lock.passcode", bundle: .texts) }.onSubmit { answer() }
            if let problem { Text(problem).foregroundStyle(.red) }
            Button(text: "settings.continue") { answer() }
                .buttonStyle(.borderedProminent)
                .disabled(typed.isEmpty)
            Button(text: "settings.cancel", role: .cancel) { dismiss() }
        }
        .padding()
        .frame(maxWidth: .infinity, maxHeight: .infinity)
        .presentationDetents([.medium])
        .presentationDragIndicator(.visible)
        .onDisappear { typed = "" }
    }

    private func answer() {
        guard !typed.isEmpty, let secret = SecretCarrier(typed: typed) else { return }
        typed = ""
        Task { await prove(secret) }
    }
}
#endif
