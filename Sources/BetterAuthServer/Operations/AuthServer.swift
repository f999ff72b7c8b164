package import BetterAuthMessages
package import Cryptography
internal import Synchronization

/// The server's side of the protocol: bytes in, bytes out, in the order of protocol.md 7.
///
/// Everything that can be checked without the store is checked first, and the reply is signed before the store commits,
/// so that it can be kept in the same transaction.
package final class AuthServer: Sendable {
    package let store: any ServerStore
    package let keys: ServerKeys
    package let clock: any ServerClock
    package let lifetimes: Lifetimes
    let compression: any TokenCompression
    /// What tokens say about an identity beyond the protocol.
    let attributes: @Sendable (IdentityID) -> ApplicationData
    let knownKeys: KeyCache

    package init(
        store: any ServerStore, keys: ServerKeys, clock: any ServerClock = SystemClock(),
        lifetimes: Lifetimes = Lifetimes(), compression: any TokenCompression, knownKeys: KeyCache = KeyCache(),
        attributes: @escaping @Sendable (IdentityID) -> ApplicationData
    ) {
        self.store = store
        self.keys = keys
        self.clock = clock
        self.lifetimes = lifetimes
        self.compression = compression
        self.knownKeys = knownKeys
        self.attributes = attributes
    }

    /// Does what a request asks for.
    /// - Parameters:
    ///   - subject: Told whom the operation is about, before it is answered; nil when nobody wants to know.
    ///   - then: Called once: before this returns, unless the store has to commit first.
    package func handle(
        _ operation: AuthOperation, _ body: [UInt8], about subject: OperationSubject? = nil,
        _ then: @escaping @Sendable (ServerReply) -> Void
    ) {
        let answer = Answer(then: then, subject: subject)
        do throws(Refusal) {
            switch operation {
            case .createAccount: try createAccount(body, answer)
            case .recoverAccount: try recoverAccount(body, answer)
            case .deleteAccount: try deleteAccount(body, answer)
            case .rotateDevice: try rotateDevice(body, answer)
            case .linkDevice: try linkDevice(body, answer)
            case .unlinkDevice: try unlinkDevice(body, answer)
            case .changeRecoveryKey: try changeRecoveryKey(body, answer)
            case .requestSession: try requestSession(body, answer)
            case .createSession: try createSession(body, answer)
            case .refreshSession: try refreshSession(body, answer)
            }
        } catch {
            answer(ServerReply(error))
        }
    }
}

// What every operation does.
extension AuthServer {
    func parse<Payload: MessagePayload>(
        _ body: [UInt8], as type: Payload.Type = Payload.self
    ) throws(Refusal) -> SignedMessage<Payload> {
        do throws(MessageError) {
            return try SignedMessage(parsing: body)
        } catch {
            throw .message(error.reason == .tooLarge ? .plain(.tooLarge) : .invalidMessage(error))
        }
    }

    /// Verifies with a key that the message brings.
    /// - Returns: That key, imported.
    @discardableResult
    func verify<Payload>(
        _ message: SignedMessage<Payload>, with key: PublicKeyText
    ) throws(Refusal) -> P256PublicKey {
        let imported: P256PublicKey
        do throws(CryptographyError) {
            imported = try key.withRawBytes { raw throws(CryptographyError) in try P256PublicKey(compressed: raw) }
        } catch {
            // The text is a key of the right form that lies on no curve.
            throw error == .invalidPoint ? .message(.plain(.invalidMessage)) : .cryptography
        }
        try verify(message, with: imported)
        return imported
    }

    /// Verifies with a key that was imported before.
    func verify<Payload>(_ message: SignedMessage<Payload>, with key: P256PublicKey) throws(Refusal) {
        let isValid = message.withSignedBytes { bytes in
            message.signature.withRawBytes { key.isValid(signature: $0, for: bytes) }
        }
        guard isValid else { throw .message(.plain(.wrongSignature)) }
    }

    /// A response, signed with the key that is in use.
    func respond<Kind: Exchange>(
        to nonce: NonceText, _ body: Kind.ResponseBody, _ kind: Kind.Type, now: Timestamp
    ) throws(Refusal) -> SignedMessage<Response<Kind>> {
        let key = keys.responseKey(now: now)
        let response = Response<Kind>(nonce: nonce, serverIdentity: key.publicKey, body: body)
        do throws(CryptographyError) {
            return try SignedMessage(response) { bytes throws(CryptographyError) in try key.sign(bytes) }
        } catch {
            throw .cryptography
        }
    }

    func check(_ body: () throws(ProtocolError) -> Void) throws(Refusal) {
        do throws(ProtocolError) { try body() } catch { throw .message(error) }
    }

    /// A key that commits to itself could be revealed again and again, and the message with it.
    func expectProgress(_ key: PublicKeyText, _ next: RotationHash) throws(Refusal) -> RotationHash {
        let revealed = Derivations.server.rotationHash(of: key)
        guard next != revealed else { throw .message(.plain(.invalidHash)) }
        return revealed
    }

    func ask<Value>(_ body: () throws(StoreError) -> Value) throws(Refusal) -> Value {
        do throws(StoreError) { return try body() } catch { throw .store(error) }
    }
}

/// Keys of devices that were read before: finding a point costs a fifteenth of a verification.
package final class KeyCache: Sendable {
    private let keys: Mutex<RecentMap<PublicKeyText, P256PublicKey>>

    /// - Parameter capacity: Most keys; each takes a third of a kilobyte.
    package init(capacity: Int = 1536) { keys = Mutex(RecentMap(capacity: capacity)) }

    /// The key, from the cache or imported.
    /// - Throws: ``CryptographyError/invalidPoint`` when the text is no point of the curve.
    package func key(_ text: PublicKeyText) throws(CryptographyError) -> P256PublicKey {
        if let known = keys.withLock({ $0.value(text) }) { return known }
        let key = try text.withRawBytes { raw throws(CryptographyError) in try P256PublicKey(compressed: raw) }
        keep(key, for: text)
        return key
    }

    /// Keeps a key that was imported already, as when a device was registered with it.
    package func keep(_ key: P256PublicKey, for text: PublicKeyText) {
        keys.withLock { keys in
            if !keys.contains(text) { keys.put(key, for: text) }
        }
    }
}
