import BetterAuthMessages
import BetterAuthServer
import BetterAuthVerification
import Foundation
import Synchronization
import TestSupport

/// Clients of a deployment, each with devices and sessions through the proxy and requests for access at the application
/// server. What is not answered, or says to come again, is sent again byte for byte; what is answered has happened.
final class DeploymentLoad: Sendable {
    /// A device whose state is known.
    private struct Kept {
        let device: TestDevice
        let address: String
    }

    private struct State {
        var isEnding = false
        var (answered, again, created) = (0, 0, 0)
        var lost: [String] = []
        var kept: [Kept] = []
        var endorsed: [PublicKeyText: VerificationKey] = [:]
        var addresses = 0
    }

    private let (proxy, app, keyService): (String, String, String)
    private let state = Mutex(State())
    private let clients = DispatchGroup()

    init(proxy: String, app: String, keyService: String, clients count: Int) {
        (self.proxy, self.app, self.keyService) = (proxy, app, keyService)
        for _ in 0..<count {
            clients.enter()
            Thread.detachNewThread { [self] in
                while !state.withLock({ $0.isEnding }) {
                    do { try live() } catch { state.withLock { $0.lost.append("\(error)") } }
                }
                clients.leave()
            }
        }
    }

    /// What was acknowledged and is not there, or was never answered.
    var lost: [String] { state.withLock { $0.lost } }
    var answered: Int { state.withLock { $0.answered } }
    /// How often something had to be sent again.
    var again: Int { state.withLock { $0.again } }
    /// Accounts.
    var created: Int { state.withLock { $0.created } }

    func end() {
        state.withLock { $0.isEnding = true }
        clients.wait()
    }

    /// Returns when so many more requests were answered, or something is lost.
    func waitForMore(_ count: Int) {
        let (before, losses) = state.withLock { ($0.answered, $0.lost.count) }
        let isDone = Patience.wait { state.withLock { $0.answered >= before + count || $0.lost.count > losses } }
        if !isDone { state.withLock { $0.lost.append("nobody is answered") } }
    }

    /// Looks at every account that was acknowledged: its device is where it was.
    func checkKept() {
        for one in state.withLock({ state in
            defer { state.kept = [] }
            return state.kept
        }) {
            do {
                let (rotation, after) = try one.device.rotation()
                _ = try exchange(RotateDevice.self, rotation, one.address)
                state.withLock { $0.kept.append(Kept(device: after, address: one.address)) }
            } catch { state.withLock { $0.lost.append("kept: \(error)") } }
        }
    }

    /// The life of an account, from an address of its own: limits are as the documents set them.
    private func live() throws {
        let number = state.withLock { state in
            state.addresses += 1
            return state.addresses
        }
        let address = "127.\(1 + number / 62_500).\(1 + number / 250 % 250).\(1 + number % 250)"
        let recovery = try ServerKey.generate()
        let hash = derivations.recoveryHash(of: recovery.publicKey)
        var device = try TestDevice(recovery: hash)
        _ = try exchange(CreateAccount.self, device.creation(hash), address)
        state.withLock { $0.created += 1 }
        for _ in 0..<2 {
            let (rotation, rotated) = try device.rotation()
            _ = try exchange(RotateDevice.self, rotation, address)
            device = rotated
            let session = try open(device, address)
            try access(session, address)
            let (refreshing, next) = try session.refreshing()
            let token = try exchange(RefreshSession.self, refreshing, address).token
            try access(TestSession(current: session.next, next: next, token: token), address)
        }
        let other = try TestDevice(identity: device.identity)
        let (linking, linked) = try device.linking(other.container())
        _ = try exchange(LinkDevice.self, linking, address)
        let (unlinking, alone) = try linked.unlinking(other.id)
        _ = try exchange(UnlinkDevice.self, unlinking, address)
        let (changing, changed) = try alone.changingRecovery(hash)
        _ = try exchange(ChangeRecoveryKey.self, changing, address)
        let new = try TestDevice(identity: device.identity)
        _ = try exchange(RecoverAccount.self, new.recovery(with: recovery, next: RecoveryHash(freshDigest())), address)
        _ = changed
        guard number % 3 == 0 else {
            // Keys lie in locked memory: some of all times stay.
            return state.withLock { state in
                state.kept.append(Kept(device: new, address: address))
                if state.kept.count > 80 { state.kept.remove(at: number * 31 % 80) }
            }
        }
        _ = try exchange(DeleteAccount.self, new.deletion(), address)
    }

    /// A device asks again when its challenge is gone, as the documents say of a Redis that was flushed.
    private func open(_ device: TestDevice, _ address: String) throws -> TestSession {
        for attempt in 1... {
            let nonce = try freshNonce()
            let question = UnsignedMessage(RequestSession.Request(nonce: nonce, identity: device.identity))
            let challenge = try read(
                RequestSession.self, post(proxy, RequestSession.path, question.bytes, address), nonce
            ).challenge
            let (opening, current, next) = try TestSession.opening(device, challenge)
            let reply = try post(proxy, CreateSession.path, opening.bytes, address)
            if reply.text.contains("HF402"), attempt < 5 { continue }
            let token = try read(CreateSession.self, reply, opening.payload.nonce).token
            return TestSession(current: current, next: next, token: token)
        }
        fatalError("unreachable")
    }

    /// Each request for access is used once: who was not answered makes another.
    private func access(_ session: TestSession, _ address: String) throws {
        let reply = try post(app, "/foo/bar", address) {
            try accessRequest(session, #"{"foo":1,"bar":2}"#, now: SystemClock().now).bytes
        }
        guard reply.status == 200 else { throw HTTPClient.Problem(description: "access: \(reply.text)") }
    }

    private func exchange<X: RoutedExchange>(
        _ kind: X.Type, _ message: SignedMessage<X.Request>, _ address: String
    ) throws -> X.ResponseBody {
        try read(kind, post(proxy, X.path, message.bytes, address), message.payload.nonce)
    }

    /// As a client reads it: signed by a key that the key service has.
    private func read<X: RoutedExchange>(
        _ kind: X.Type, _ reply: HTTPClient.Reply, _ nonce: NonceText
    ) throws -> X.ResponseBody {
        guard reply.status == 200 else { throw HTTPClient.Problem(description: "\(X.path): \(reply.text)") }
        let response = try SignedMessage<Response<X>>(parsing: reply.body)
        guard response.payload.nonce == nonce, try key(response.payload.serverIdentity).isValid(response) else {
            throw HTTPClient.Problem(description: "\(X.path): a response that no client takes")
        }
        return response.payload.body
    }

    private func key(_ text: PublicKeyText) throws -> VerificationKey {
        if let known = state.withLock({ $0.endorsed[text] }) { return known }
        let isThere = Patience.wait { (try? HTTPClient(keyService).get("/keys/\(text)").status) == 200 }
        guard isThere else { throw HTTPClient.Problem(description: "a key that the key service does not have") }
        let key = try VerificationKey(text)
        state.withLock { $0.endorsed[text] = key }
        return key
    }

    private func post(
        _ place: String, _ path: String, _ bytes: [UInt8], _ address: String
    ) throws -> HTTPClient.Reply { try post(place, path, address) { bytes } }

    private func post(
        _ place: String, _ path: String, _ address: String, _ bytes: () throws -> [UInt8]
    ) throws -> HTTPClient.Reply {
        var reply: HTTPClient.Reply?
        _ = try Patience.wait {
            let body = try bytes()
            reply = try? HTTPClient(place, from: address).post(path, body)
            if let reply, !reply.isForLater, reply.status != 502, reply.status != 504 { return true }
            reply = nil
            state.withLock { $0.again += 1 }
            usleep(50_000)
            return false
        }
        guard let reply else { throw HTTPClient.Problem(description: "\(path) is never answered") }
        state.withLock { $0.answered += 1 }
        // Neither the audit logs nor the processor are to be filled.
        usleep(TestRun.isCheck ? 5000 : 20_000)
        return reply
    }
}
