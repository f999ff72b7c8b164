// Who plays in Fuzz/BetterAuthServerFuzzer.swift: keys that everybody knows, one account, one moment.
import BetterAuthVerification
import BetterAuthMessages
import BetterAuthServer
import MemoryServerStore
import Cryptography
import SecretMemory

struct Cast: Sendable {
    static let all = Cast()

    static let now = Timestamp(clamping: 1_767_323_045_678)
    let access, response: ServerKey
    /// The device's current key and the one it has committed to, two more, the recovery key and the one after it.
    let keys: [ServerKey]
    let byText: [PublicKeyText: ServerKey]
    let device: DeviceID
    let identity: IdentityID
    let challenge: NonceText
    private let creation: AccountChange

    private struct Clock: ServerClock {
        var now: Timestamp { Cast.now }
    }

    private init() {
        let made = (1...8).map { Cast.key(UInt8($0)) }
        (access, response) = (made[0], made[1])
        keys = Array(made[2...])
        byText = Dictionary(uniqueKeysWithValues: made.map { ($0.publicKey, $0) })
        let derive = Derivations.server
        let next = derive.rotationHash(of: keys[1].publicKey)
        let recovery = derive.recoveryHash(of: keys[4].publicKey)
        device = derive.device(keys[0].publicKey, next)
        identity = derive.identity(keys[0].publicKey, next, recovery)
        let signature = try? keys[0].sign(RawSpan())
        guard let signature, let challenge = NonceText("0AAAAAAAAAAAAAAAAAAAAAAA") else {
            fatalError("the keys do not sign")  // because: nothing can be fuzzed then
        }
        self.challenge = challenge
        creation = AccountChange(
            identity: identity,
            kind: .create(Account.Device(id: device, publicKey: keys[0].publicKey, rotationHash: next), recovery),
            reply: CommittedReply(
                operation: OperationKey(path: "", body: []), serverIdentity: response.publicKey, signature: signature,
                until: .never),
            moment: Cast.now)
    }

    private static func key(_ number: UInt8) -> ServerKey {
        guard var scalar = try? SecretBytes(zeroed: 32) else {
            fatalError("no locked memory")  // because: nothing can be fuzzed then
        }
        scalar.withMutableBytes { $0.storeBytes(of: number, toByteOffset: 31, as: UInt8.self) }
        guard let key = try? ServerKey(scalar: scalar) else {
            fatalError("no key")  // because: nothing can be fuzzed then
        }
        return key
    }

    /// A server that knows the account, and has asked its device for an answer to the challenge.
    func server() -> AuthServer {
        let store = MemoryStore()
        store.apply(creation) { _ in }
        store.open(
            Challenge(nonce: challenge, identity: identity, until: Cast.now.adding(seconds: 60), moment: Cast.now)
        ) { _ in }
        let attributes = try? ApplicationData(json: "{}")
        guard let attributes else { fatalError("no JSON") }  // because: nothing can be fuzzed then
        return AuthServer(
            store: store,
            keys: ServerKeys(
                response: KeySchedule(response, lifetime: 43_260_000), access: KeySchedule(access, lifetime: 43_200_000)
            ),
            clock: Clock(), compression: ZlibTokenCompression(), attributes: { _ in attributes })
    }

    /// The body with the signatures that its own keys make, where they are ours; else as it is.
    func signed(_ body: [UInt8], _ operation: AuthOperation) -> [UInt8] {
        var body = body
        if operation == .linkDevice { sign(&body, after: #""link":{"payload":"#, by: #""publicKey":""#, isLast: false) }
        let name = operation == .recoverAccount ? #""recoveryKey":""# : #""publicKey":""#
        sign(&body, after: #"{"payload":"#, by: operation == .createSession ? nil : name, isLast: true)
        return body
    }

    private func sign(_ body: inout [UInt8], after opening: String, by name: String?, isLast: Bool) {
        let mark = Array(#","signature":""#.utf8)
        guard let start = body.firstRange(of: Array(opening.utf8))?.upperBound,
            let end = isLast ? body.ranges(of: mark).last : body[start...].firstRange(of: mark),
            end.lowerBound >= start, body.count >= end.upperBound + SignatureText.textSize
        else { return }
        let payload = Array(body[start..<end.lowerBound])
        guard let key = name.map({ signer(payload, $0) }) ?? keys[0],
            let signature = unsafe try? key.sign(payload.span.bytes)
        else { return }
        body.replaceSubrange(end.upperBound..<end.upperBound + SignatureText.textSize, with: signature.textBytes)
    }

    private func signer(_ payload: [UInt8], _ name: String) -> ServerKey? {
        guard let start = payload.firstRange(of: Array(name.utf8))?.upperBound else { return nil }
        let text = payload[start...].prefix(PublicKeyText.textSize)
        return PublicKeyText(String(decoding: text, as: UTF8.self)).flatMap { byText[$0] }
    }
}
