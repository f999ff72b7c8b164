#if canImport(SwiftUI)
internal import Cryptography
internal import SecretMemory
internal import SwiftUI

/// Fills in a new password of the standard rules.
struct GenerateButton: View {
    let take: @MainActor (String) -> Void

    var body: some View {
        Button {
            guard let password = try? PasswordGenerator.password() else { return }
            take(password.withBytes { ItemView.text($0) })
        } label: {
            Text("item.generate", bundle: .texts)
        }
        .buttonStyle(.bordered)
    }
}
#endif
