import BetterAuth
import BetterAuthVerification
import BetterAuthMessages
import BetterAuthServer
import MemoryServerStore
import Holdfast
import HoldfastUI
import Synchronization

/// A real server in this process, and a way to it that can be cut.
final class NearServer: Transport, ServerClock {
    let responseKey: ServerKey
    private let server: Mutex<AuthServer?> = Mutex(nil)
    let isCut = Mutex(false)
    var now: Timestamp { Timestamp(clamping: 1_767_323_045_678) }

    init() throws {
        responseKey = try .generate()
        let accessKey = try ServerKey.generate()
        let attributes = try ApplicationData(json: "{}")
        let made = AuthServer(
            store: MemoryStore(),
            keys: ServerKeys(
                response: KeySchedule(responseKey, lifetime: 1 << 50),
                access: KeySchedule(accessKey, lifetime: 1 << 50)),
            clock: self, compression: ZlibTokenCompression(), attributes: { _ in attributes })
        server.withLock { $0 = made }
    }

    func send(_ request: TransportRequest) async throws(TransportError) -> TransportReply {
        guard !isCut.withLock({ $0 }) else { throw .unreachable("cut by the test") }
        guard let server = server.withLock({ $0 }), let operation = AuthOperation(path: request.path) else {
            throw .broken("no such path")
        }
        let reply = Mutex<ServerReply?>(nil)
        server.handle(operation, request.body ?? []) { given in reply.withLock { $0 = given } }
        return TransportReply(status: 200, body: reply.withLock { $0 }?.body ?? [])
    }

    @MainActor
    func model(_ lock: LockModel) -> IdentityModel {
        IdentityModel(lock, derivation: RecoveryDerivation(passes: 1, memoryKiB: 64)) { [self] vault, address, notify in
            VaultIdentity(
                in: vault, keys: SoftwareDeviceKeys(), transport: self, server: address,
                trust: .pinned([responseKey.publicKey]), now: { self.now }, notify: notify)
        }
    }
}
