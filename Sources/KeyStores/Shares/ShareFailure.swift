internal import SecretMemory
package import VaultFormat

/// Why a share, or a floor, could not be had, made or revoked.
///
/// The two that matter: `lost` says that the store was asked and the share will never come back; `unavailable` that it
/// may come back by itself. A store that cannot tell says `unavailable`.
package enum ShareFailure: Error, Sendable, Hashable {
    /// The store answered, and the share is not there any more.
    case lost(ShareLoss)
    /// It is not to be had now.
    case unavailable(ShareObstacle)
    /// The name is taken; nothing was changed.
    case nameTaken
    /// The item is not one that was written for this vault. Nothing was asked of the store.
    case damaged
    /// The store wants the owner confirmed, and was not shown it; or the prompt was cancelled.
    case notConfirmed
    /// A call failed in a way that says nothing about the share.
    case failed(KeyStoreError)

    /// What happened, in plain words.
    package var reason: String {
        switch self {
        case .lost(let loss): loss.reason
        case .unavailable(let obstacle): obstacle.reason
        case .nameTaken: "the key store has another share under this name"
        case .damaged: "what the slot keeps of its share is not what was written for this vault"
        case .notConfirmed: "the key store wants the device's owner confirmed"
        case .failed(let error): error.reason
        }
    }
}

/// How a share was lost.
package enum ShareLoss: Sendable, Hashable {
    /// The store has nothing under its name.
    case notThere
    /// It was overwritten: a removal that did not end.
    case emptied
    /// Its place was made for it and never filled: a making that did not end. It is safe to revoke.
    case unfinished
    /// Something else lies in its place.
    case replaced

    package var reason: String {
        switch self {
        case .notThere: "the key store no longer has the share"
        case .emptied: "the share in the key store was removed"
        case .unfinished: "the key store's place for the share was never filled"
        case .replaced: "something else lies in the share's place in the key store"
        }
    }
}

/// Why a share is not to be had now.
package enum ShareObstacle: Sendable, Hashable {
    /// Until the device or the keyring is unlocked.
    case locked
    /// Until the keyring that has it is there again: another program, or another keyring of it, answers now.
    case otherBackend(kept: String, found: String)
    /// Until the store answers: it is busy, or another program holds it.
    case busy(String)
    /// Until there is such a chip or service: none answers, or this user may not use it.
    case absent(KeyStoreKind, String)
    /// Until room was made in the chip.
    case full
    /// Until the chip's owner lets us: somebody set an authorisation for making and removing.
    case ownedByAnother
    /// Until the device has a passcode.
    case noDevicePasscode

    package var reason: String {
        switch self {
        case .locked: "the key store is locked"
        case .otherBackend(let kept, let found): "the share is in \(kept), and \(found) answers now"
        case .busy(let reason), .absent(_, let reason): reason
        case .full: "the chip has no room for another share"
        case .ownedByAnother: "an authorisation that is not known here is set on the chip"
        case .noDevicePasscode: "the device has no passcode"
        }
    }
}

/// An error of a backend's own, which says what it means for a share.
protocol ShareFailureSource: Error {
    var shareFailure: ShareFailure { get }
}

extension ShareFailure {
    /// What an error means that says nothing of shares: the store was there and failed, or was not there.
    init(_ error: KeyStoreError, in kind: KeyStoreKind) {
        switch error.code {
        case .unavailable: self = .unavailable(.absent(kind, error.reason))
        case .busy, .unanswered: self = .unavailable(.busy(error.reason))
        case .lockedOut: self = .unavailable(.locked)
        case .ownedByAnother: self = .unavailable(.ownedByAnother)
        case .cancelled: self = .notConfirmed
        default: self = .failed(error)
        }
    }
}

extension KeyStoreError {
    /// What a failure comes to where nobody has a share to lose.
    package init(_ failure: ShareFailure) {
        switch failure {
        case .failed(let error): self = error
        case .unavailable(.absent): self.init(.unavailable, failure.reason)
        case .unavailable(.busy): self.init(.busy, failure.reason)
        case .unavailable(.locked): self.init(.lockedOut, failure.reason)
        case .unavailable(.ownedByAnother): self.init(.ownedByAnother, failure.reason)
        default: self.init(.failure, failure.reason)
        }
    }
}

/// Runs a backend and turns what it throws into our failures.
func shareFailures<R: ~Copyable>(in kind: KeyStoreKind, _ body: () throws -> R) throws(ShareFailure) -> R {
    do { return try body() } catch let failure as ShareFailure {
        throw failure
    } catch let failure as any ShareFailureSource {
        throw failure.shareFailure
    } catch { throw ShareFailure(KeyStoreError(any: error), in: kind) }
}
