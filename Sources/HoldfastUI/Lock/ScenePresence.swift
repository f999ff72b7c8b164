internal import Holdfast

/// The scenes of one app over one lock: any of them in front keeps the app there, and the app leaves with the last one.
///
/// A scene covers itself by its own phase; what the lock is told is the phase of them all.
@MainActor
public final class ScenePresence {
    /// How far a scene is from its user.
    public enum Phase: Int, Sendable, Hashable, Comparable {
        /// It cannot be seen.
        case background = 0
        /// It can be seen and not be used.
        case inactive = 1
        /// It is in front.
        case active = 2

        /// Whether `left` is further from the user.
        public static func < (left: Phase, right: Phase) -> Bool { left.rawValue < right.rawValue }
    }

    private let lock: LockModel
    private var phases: [ObjectIdentifier: Phase] = [:]
    private var told: Phase?

    init(_ lock: LockModel) { self.lock = lock }

    /// A scene has this phase now.
    /// - Parameters:
    ///   - phase: The phase it has now.
    ///   - scene: What stands for the scene as long as it is there.
    public func report(_ phase: Phase, of scene: AnyObject) {
        phases[ObjectIdentifier(scene)] = phase
        tell()
    }

    /// A scene is gone.
    package func remove(_ scene: AnyObject) {
        guard phases.removeValue(forKey: ObjectIdentifier(scene)) != nil else { return }
        tell()
    }

    private func tell() {
        let now = phases.values.max() ?? .background
        guard now != told else { return }
        let before = told
        told = now
        switch now {
        case .active: lock.send(.didBecomeActive)
        case .inactive: lock.send(before == .background ? .willEnterForeground : .willResignActive)
        case .background: lock.send(.didEnterBackground)
        }
    }
}
