package import SecretMemory
internal import Synchronization
package import VaultFormat

/// Keeps the second share of the owner slot, in memory of the kind that the kernel hides, and gives it out for a
/// confirmed owner only (constructions.md 6.1). With this object or its process the share is gone, and only the
/// passcode makes another one.
package final class OwnerKeeper: Sendable {
    private struct State: ~Copyable {
        var secret: SecretBytes?
        var enrollment: OwnerEnrollment?
        var nonMatches = 0
        var ending = OwnerExpiry.noPasscode
        /// Nothing makes a new share where there is no passcode: what would drop it ends the fingers alone.
        var isOnlyWay = false
        var fingersEnd: OwnerExpiry?

        /// Ends what samples can open.
        mutating func end(_ why: OwnerExpiry) {
            guard !isOnlyWay else {
                fingersEnd = why
                return
            }
            secret = nil
            ending = why
        }
    }

    private let state = Mutex(State())

    /// Samples without a match since the passcode, after which the share is dropped.
    package static let mostNonMatches = 5

    package init() {}

    /// Whether the owner may be asked at all.
    package var isArmed: Bool { state.withLock { $0.secret != nil } }

    /// Samples that did not match since the passcode was given.
    package var nonMatches: Int { state.withLock { $0.nonMatches } }

    /// Why nothing is kept.
    package var expiry: OwnerExpiry? { state.withLock { $0.secret == nil ? $0.ending : nil } }

    /// Why a way is not asked for: nothing is kept, or no more samples are taken.
    package func expiry(of step: OwnerStep) -> OwnerExpiry? {
        state.withLock { state in
            if state.secret == nil { return state.ending }
            return step == .biometrics ? state.fingersEnd : nil
        }
    }

    /// Takes a new share.
    /// - Parameter isOnlyWay: Whether the vault has no passcode that could make another one. Non-matches and a changed
    ///   enrollment then end the fingers alone, and the device's passcode still gets the share; it takes the
    ///   non-matches back.
    package func arm(_ secret: consuming SecretBytes, asOnlyWay isOnlyWay: Bool = false) {
        var next = Optional(secret)
        state.withLock { state in
            state.secret = next.take()
            state.enrollment = nil
            state.nonMatches = 0
            state.isOnlyWay = isOnlyWay
            state.fingersEnd = nil
        }
    }

    /// Forgets the share.
    package func disarm(_ why: OwnerExpiry = .noPasscode) {
        state.withLock { state in
            state.secret = nil
            state.enrollment = nil
            state.ending = why
        }
    }

    /// What is enrolled at the time of the passcode. Only the first word counts: what comes later is a change.
    package func note(_ enrollment: OwnerEnrollment) {
        state.withLock { state in
            if state.secret != nil, state.enrollment == nil { state.enrollment = enrollment }
        }
    }

    /// Whether the same is enrolled as at the time of the passcode. Nothing known of that time is a change too; what
    /// changed drops the share.
    func isUnchanged(_ enrollment: OwnerEnrollment) -> Bool {
        state.withLock { state in
            guard state.secret != nil else { return false }
            guard state.enrollment == enrollment else {
                state.end(.enrollmentChanged)
                return false
            }
            return true
        }
    }

    /// Notes a sample that did not match; the last one that is allowed drops the share.
    /// - Returns: Whether another one may be asked for.
    func countNonMatch() -> Bool {
        state.withLock { state in
            state.nonMatches += 1
            guard state.nonMatches >= OwnerKeeper.mostNonMatches else { return true }
            state.end(.nonMatches)
            return false
        }
    }

    /// A copy of the share, for a verdict of this module.
    func release(_ step: OwnerStep, _ proof: (any OwnerProof)? = nil) -> OwnerRelease? {
        let copy: SecretBytes? = state.withLock { state in
            guard step != .biometrics || state.fingersEnd == nil else { return nil }
            if step == .devicePasscode, state.fingersEnd == .nonMatches {
                (state.fingersEnd, state.nonMatches) = (nil, 0)
            }
            return state.secret == nil ? nil : try? state.secret?.copy()
        }
        guard let copy else { return nil }
        return OwnerRelease(step, copy, proof)
    }
}
