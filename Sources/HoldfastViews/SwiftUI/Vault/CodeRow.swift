#if canImport(SwiftUI)
internal import SwiftUI

/// A one-time code while it is shown: a tap copies it, and a ring runs out with it.
struct CodeRow: View {
    let digits: String
    /// Seconds, and how much of its step they are; nil for a code by a counter.
    let left: (seconds: Int, share: Double)?
    let copy: @MainActor () -> Void

    var body: some View {
        HStack(spacing: 12) {
            Button {
                copy()
            } label: {
                Text(verbatim: digits).font(.title2.monospaced())
            }
            .accessibilityHint(Text("copy.hint", bundle: .texts))
            if let left {
                Gauge(value: left.share) {
                    Text("item.seconds \(left.seconds)", bundle: .texts)
                } currentValueLabel: {
                    Text(verbatim: "\(left.seconds)").monospacedDigit()
                }
                .gaugeStyle(.accessoryCircularCapacity)
            }
        }
        .onlyInFront()
    }
}
#endif
