public import BetterAuthMessages

/// Knows which keys are a server's: those that sign access tokens, and those that sign responses.
public protocol ServerKeySource: Sendable {
    /// The key of this name, when it may be used for this purpose now; nil when it is unknown, expired or withdrawn.
    ///
    /// Called with names that are not verified yet, and again for each message: an answer must be cheap the second
    /// time, and a flood of unknown names harmless.
    /// - Throws: When it cannot be told; nothing is trusted then.
    func key(
        named name: PublicKeyText, for purpose: Endorsement.Purpose, now: Timestamp
    ) async throws -> VerificationKey?
}

/// Keys that a program was built or configured with.
package struct PinnedServerKeys: ServerKeySource {
    private let keys: [Endorsement.Purpose: [PublicKeyText: VerificationKey]]

    /// - Parameters:
    ///   - access: Keys that sign access tokens.
    ///   - response: Keys that sign responses.
    package init(access: [VerificationKey] = [], response: [VerificationKey] = []) {
        keys = [
            .access: Dictionary(access.map { ($0.text, $0) }) { first, _ in first },
            .response: Dictionary(response.map { ($0.text, $0) }) { first, _ in first },
        ]
    }

    /// One of the keys that were given; nil for any other.
    package func key(
        named name: PublicKeyText, for purpose: Endorsement.Purpose, now: Timestamp
    ) async throws -> VerificationKey? { keys[purpose]?[name] }
}
