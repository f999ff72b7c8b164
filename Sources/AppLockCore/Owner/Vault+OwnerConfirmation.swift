internal import Cryptography
package import DeviceOwner
internal import SecretMemory
internal import Synchronization
internal import VaultCore
package import VaultFormat
public import VaultStorage

extension VaultError.Code {
    /// The check by the system ran, but did not match the device owner.
    package static let notConfirmed = VaultError.Code(.notConfirmed)
    /// The owner turned away. Never counted, and never a way down.
    public static let cancelled = VaultError.Code(.cancelled)
    /// The prompt timed out.
    public static let timedOut = VaultError.Code(.timedOut)
    /// The system cannot ask its owner: no sensor, no rules for it.
    public static let ownerUnavailable = VaultError.Code(.ownerUnavailable)
    /// Nothing is set up for it.
    package static let ownerNotEnrolled = VaultError.Code(.ownerNotEnrolled)
    /// The system has locked it out for now.
    package static let ownerLockedOut = VaultError.Code(.ownerLockedOut)
    /// Another program uses the sensor.
    package static let ownerBusy = VaultError.Code(.ownerBusy)
}

extension Vault {
    /// Has the system ask its owner. Blocks until there is a result, time runs out, or the user cancels.
    ///
    /// A prompt that ended without a match is counted where the rules say so; nothing else is.
    /// - Throws: `passcodeNeeded`, without a prompt, if only the passcode is accepted; `notConfirmed`, `cancelled`,
    ///   `timedOut`, `ownerUnavailable`, `ownerNotEnrolled`, `ownerLockedOut`, `ownerBusy`; as
    ///   ``VaultCore/Vault/countFailedBiometrics()``.
    package func confirmOwner(
        _ step: OwnerStep, by authenticator: OwnerAuthenticator, _ conversation: any OwnerConversation
    ) throws(VaultError) -> OwnerRelease {
        // Before anybody is asked; when it opens, the rules are looked at again with proof.
        if let obstacle = try ownerObstacle(step) { throw obstacle }
        let outcome = authenticator.confirm(step, keeper: ownerKeeper, conversation)
        switch outcome {
        case .refused: if step == .biometrics { try countFailedBiometrics() }
        // It ended with the last sample that was allowed. A passcode, which is counted, would be asked for next;
        // without one nobody would count this prompt.
        case .expired(.nonMatches):
            if step == .biometrics, try !protection().ways.contains(.passcode) { try countFailedBiometrics() }
        case .expired(.enrollmentChanged): noteChangedEnrollment(step)
        default: break
        }
        return try outcome.release()
    }

    /// After a passcode: what is enrolled now is what a match will be compared with. Blocks until the sensor answers.
    package func noteEnrollment(by authenticator: OwnerAuthenticator) {
        guard ownerKeeper.isArmed, let enrollment = authenticator.enrollment(of: .biometrics) else { return }
        ownerKeeper.note(enrollment)
    }
}

extension OwnerAuthenticator {
    /// Has the system confirm the device owner and discards the release: nothing is opened, nothing counted. Blocks as
    /// ``DeviceOwner/OwnerAuthenticator/confirm(_:keeper:patience:_:)``.
    /// - Throws: As ``VaultCore/Vault/confirmOwner(_:by:_:)``.
    package func rehearse(_ step: OwnerStep, _ conversation: any OwnerConversation) throws(VaultError) {
        // Half of no key: what is kept is there to be asked for and to be let go.
        let keeper = OwnerKeeper()
        do throws(SecretMemoryError) { keeper.arm(try SecretBytes(zeroed: 32)) } catch {
            throw VaultError(error)
        }
        if let enrollment = enrollment(of: step) { keeper.note(enrollment) }
        _ = try confirm(step, keeper: keeper, conversation).release()
    }

    /// Has the system confirm the device owner, with a share that was drawn for this alone: half of the key that a
    /// change makes.
    /// - Throws: As ``VaultCore/Vault/confirmOwner(_:by:_:)``.
    func confirmAnew(_ step: OwnerStep, _ conversation: any OwnerConversation) throws(VaultError) -> OwnerRelease {
        let keeper = OwnerKeeper()
        do throws(CryptographyError) {
            keeper.arm(try SecureRandom.secret(32, lifetime: .longLived))
        } catch { throw VaultError(.cryptography, "no random bytes") }
        if let enrollment = enrollment(of: step) { keeper.note(enrollment) }
        return try confirm(step, keeper: keeper, conversation).release()
    }

    /// Has the system confirm the device owner for a change: nothing is counted.
    func confirm(
        _ step: OwnerStep, _ keeper: OwnerKeeper, _ conversation: any OwnerConversation
    ) throws(VaultError) -> OwnerRelease { try confirm(step, keeper: keeper, conversation).release() }
}

extension OwnerOutcome {
    /// What a confirmed owner released.
    /// - Throws: What else came, as an app is told of it.
    fileprivate consuming func release() throws(VaultError) -> OwnerRelease {
        switch consume self {
        case .released(let release): return release
        case .refused: throw VaultError(.notConfirmed, "the owner was not recognised")
        case .cancelled: throw VaultError(.cancelled, "cancelled; nothing was opened")
        case .timedOut: throw VaultError(.timedOut, "nobody answered in time; nothing was opened")
        case .impossible(let capability): throw VaultError(capability)
        case .expired(let expiry): throw .passcodeNeeded(expiry)
        }
    }
}

/// A release on its way from the thread that confirmed the owner to where the vault is unlocked; consumed once.
package final class OwnerReleaseBox: Sendable {
    private let release: Mutex<OwnerRelease?>
    package let step: OwnerStep

    package init(_ release: consuming OwnerRelease) {
        step = release.step
        self.release = Mutex(release)
    }

    package func take() -> OwnerRelease? { release.withLock { $0.take() } }
}

extension VaultError {
    init(_ capability: OwnerCapability) {
        let why = capability.why ?? "the owner cannot be asked"
        switch capability {
        case .notEnrolled: self.init(.ownerNotEnrolled, why)
        case .lockedOut: self.init(.ownerLockedOut, why)
        case .busy: self.init(.ownerBusy, why)
        case .denied, .missing, .broken, .available: self.init(.ownerUnavailable, why)
        }
    }
}
