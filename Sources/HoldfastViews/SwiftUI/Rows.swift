#if canImport(SwiftUI)
internal import SwiftUI

#if canImport(UIKit)
internal import UIKit
#endif

/// A name that a tap copies: identities and devices, which are no secrets.
struct CopyRow: View {
    let title: LocalizedStringKey
    let text: String
    @State private var isCopied = false

    /// Names may be pasted later, but stay on this device.
    private static let seconds: UInt32 = 600

    var body: some View {
        Button {
            Clipboard.copy(text, seconds: CopyRow.seconds)
            isCopied = true
        } label: {
            VStack(alignment: .leading, spacing: 4) {
                Text(title, bundle: .texts).font(.caption).foregroundStyle(.secondary)
                Text(verbatim: text).font(.footnote.monospaced()).multilineTextAlignment(.leading)
                if isCopied { Text("copy.done", bundle: .texts).font(.caption) }
            }
        }
        .accessibilityElement(children: .combine)
        .accessibilityHint(Text("copy.hint", bundle: .texts))
        .task(id: isCopied) {
            guard isCopied else { return }
            try? await Task.sleep(for: .seconds(2))
            isCopied = false
        }
    }
}

/// Says that this app may not use the device's sensor, and leads to where its user allows that.
struct DeniedRow: View {
    var body: some View {
        Text("problem.owner.denied", bundle: .texts).foregroundStyle(.secondary)
        #if canImport(UIKit)
        Button(text: "settings.openSystem") {
            if let url = URL(string: UIApplication.openSettingsURLString) { UIApplication.shared.open(url) }
        }
        #endif
    }
}
#endif
