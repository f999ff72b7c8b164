internal import BetterAuthVerification
internal import BetterAuthMessages
internal import Cryptography
internal import Synchronization

/// Imported keys of servers, which are few.
final class KeyTexts: Sendable {
    private static let capacity = 256
    private let keys = Mutex<[PublicKeyText: VerificationKey]>([:])

    func key(_ text: PublicKeyText) throws(CryptographyError) -> VerificationKey {
        if let known = keys.withLock({ $0[text] }) { return known }
        let key = try VerificationKey(text)
        keys.withLock {
            if $0.count >= KeyTexts.capacity { $0 = [:] }
            $0[text] = key
        }
        return key
    }
}
