#if canImport(SwiftUI)
internal import SwiftUI

/// Stops listening when it goes.
final class Observers {
    var tokens: [(center: NotificationCenter, token: any NSObjectProtocol)] = []

    deinit { for (center, token) in tokens { center.removeObserver(token) } }
}
#endif
