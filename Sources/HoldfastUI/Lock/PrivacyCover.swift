public import Observation

/// What hides content: nothing, a cover over an app that is open, or the lock screen.
@MainActor @Observable
public final class PrivacyCover {
    /// What stands in front of the content.
    public enum Shown: Sendable, Hashable {
        /// Nothing: content can be seen.
        case nothing
        /// A cover alone: the lock is open, and being in front again is enough.
        case cover
        /// The lock screen.
        case lockScreen
    }

    /// How it looks.
    package enum Style: Sendable, Hashable {
        /// A picture of the content in which nothing can be read.
        case blurred
        /// Nothing of the content at all.
        case plain
    }

    @ObservationIgnored private let lock: LockModel
    @ObservationIgnored private let preferences: PreferencesModel

    /// The cover over what this lock keeps shut.
    package init(_ lock: LockModel, _ preferences: PreferencesModel) {
        self.lock = lock
        self.preferences = preferences
    }

    /// What stands in front of the content. While it is not ``Shown/nothing``, content must also be out of reach of the
    /// keyboard and of screen readers.
    package var shown: Shown {
        if lock.isLocked { return .lockScreen }
        return lock.isCovered ? .cover : .nothing
    }

    /// What stands in front of the content in one of several scenes: one that is not in front is covered, although
    /// another one keeps the app open, and so is one that is recorded or mirrored. Where the app lock is off, nothing
    /// is.
    /// - Parameters:
    ///   - phase: That scene's.
    ///   - isCaptured: Whether the system says that the scene is recorded, mirrored or shown elsewhere.
    public func shown(in phase: ScenePresence.Phase, isCaptured: Bool = false) -> Shown {
        guard shown == .nothing, lock.isEnabled else { return shown }
        return phase != .active || hides(captured: isCaptured) ? .cover : .nothing
    }

    /// Whether a cover is there for that reason: then it says so, since nothing else on the screen does.
    package func hides(captured isCaptured: Bool) -> Bool {
        isCaptured && lock.isEnabled && preferences.values.coversCapture
    }

    /// How it looks.
    package var style: Style { preferences.values.blursCover ? .blurred : .plain }
}
