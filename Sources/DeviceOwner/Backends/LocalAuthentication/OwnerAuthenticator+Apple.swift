#if canImport(LocalAuthentication)
internal import Foundation
internal import LocalAuthentication
internal import VaultFormat

extension OwnerAuthenticator {
    /// What the system's prompt says. Texts for people: an app gives its own, in the owner's language.
    package struct Words: Sendable, Hashable {
        /// Why the owner is asked; never empty.
        package let reason: String
        /// The button that turns away; nil for the system's word.
        package let cancel: String?

        /// - Parameter reason: An empty one, which the system answers with an exception, is replaced.
        package init(reason: String, cancel: String? = nil) {
            self.reason = reason.isEmpty ? "Unlock" : reason
            self.cancel = cancel
        }
    }

    /// The device's own sensor and passcode. The reason that the prompt gives is the app's text for
    /// `holdfast.owner.reason`, where it has one.
    package static let standard = OwnerAuthenticator(
        Words(reason: Bundle.main.localizedString(forKey: "holdfast.owner.reason", value: "Unlock", table: nil)))

    package init(_ words: Words) {
        self.init(OwnerStep.allCases.map { SystemOwner(step: $0, words: words) })
    }
}

/// What a device recognises its owner by.
package enum BiometryKind: Sendable, Hashable, CaseIterable {
    case none, touchID, faceID, opticID
    /// One that is newer than this source.
    case other

    /// That of this device, for words and pictures; whether it can be used now is another question.
    package static var current: BiometryKind {
        let context = LAContext()
        defer { context.invalidate() }
        // The kind is known only once this was asked; a sensor without an enrolled finger is still a sensor.
        var error: NSError?
        _ = unsafe context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &error)
        return switch context.biometryType {
        case .none: .none
        case .touchID: .touchID
        case .faceID: .faceID
        case .opticID: .opticID
        @unknown default: .other
        }
    }
}
#endif
