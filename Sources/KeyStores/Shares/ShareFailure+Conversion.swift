internal import SecretMemory
internal import VaultFormat

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
