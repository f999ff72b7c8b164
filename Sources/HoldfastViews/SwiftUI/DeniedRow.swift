#if canImport(SwiftUI)
internal import SwiftUI

#if canImport(UIKit)
internal import UIKit
#endif

/// Says that this app may not use the device's sensor, and leads to where its user allows that.
struct DeniedRow: View {
    var body: some View {
        Text("problem.owner.denied", bundle: .texts).foregroundStyle(.secondary)
        #if canImport(UIKit)
        Button {
            if let url = URL(string: UIApplication.openSettingsURLString) { UIApplication.shared.open(url) }
        } label: {
            Text("settings.openSystem", bundle: .texts)
        }
        #endif
    }
}
#endif
