#if canImport(SwiftUI)
internal import DeviceOwner
internal import Observation

/// What this device recognises its owner by, for words and pictures. The system is asked once, and not on the main thread:
/// a view's body is evaluated often, and each question makes a context.
@MainActor @Observable
final class Biometry {
    static let current = Biometry()

    /// Nothing particular, until the system has answered.
    private(set) var kind = BiometryKind.none
    @ObservationIgnored private var isAsked = false

    /// Asks the system, the first time.
    func look() async {
        guard !isAsked else { return }
        isAsked = true
        kind = await Biometry.ask()
    }

    @concurrent private nonisolated static func ask() async -> BiometryKind { BiometryKind.current }
}
#endif
