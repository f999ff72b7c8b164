import BetterAuth
import BetterAuthMessages
import BetterAuthServer
import BetterAuthTransport
import Foundation
import Synchronization
import Testing

/// What only a socket can show: the client over libcurl against a server that breaks HTTP itself.
@Suite struct HostileSocketTests {
    private static func client(
        _ world: World, _ store: SimulatedStore, _ scheme: String, _ port: UInt16
    ) throws -> BetterAuthClient {
        var patience = CurlTransport.Patience()
        patience.total = .milliseconds(1500)
        let clock = world.clock
        return try BetterAuthClient(
            store: store, transport: CurlTransport(patience: patience),
            server: ServerAddress("\(scheme)://127.0.0.1:\(port)"), trust: .pinned([world.responseKey.publicKey]),
            now: { clock.now })
    }

    @Test(arguments: HostileSocket.Attack.allCases, [false, true])
    func aBrokenSocketIsNoWedge(_ attack: HostileSocket.Attack, _ isProcessed: Bool) async throws {
        let world = try World(seed: 1, memory: isProcessed ? .replays : .refuses)
        let server = try HostileSocket(world)
        let store = SimulatedStore()
        let client = try Self.client(world, store, "http", server.port)
        let account = try await client.createAccount(recovery: recoveryHash().1)
        server.plan.withLock { $0 = .init(attack: attack, path: RotateDevice.path, isProcessed: isProcessed) }
        do {
            try await client.rotate()
            #expect(isProcessed)
        } catch {
            #expect(!isProcessed, "\(error)")
            #expect([.notTheServer, .invalidReply, .unreachable].contains(error.code), "\(error)")
            #expect(error.reason.contains("127.0.0.1:\(server.port)/device/rotate"), "\(error)")
            #expect(error.reason.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0 != "<" }, "\(error)")
            if [.endlessHead, .informationalFlood, .announcedHuge, .endlessBody].contains(attack) {
                #expect(error.reason.contains("too large"), "\(error)")
            }
            if [.page404, .page502, .informationalThenPage].contains(attack) {
                #expect(error.code == .notTheServer && error.reason.contains("text/html"), "\(error)")
            }
        }
        // The path stays shut; the rest is open.
        _ = try await client.openSession()
        try await client.changeRecovery(to: recoveryHash().1)
        server.plan.withLock { $0 = nil }
        try await client.rotate()
        let credentials = try await client.credentials()
        #expect(credentials.pending == nil)
        let row = try #require(try world.store.account(account.identity)?.device(account.device))
        #expect(row.publicKey == credentials.account?.current.publicKey)
    }

    /// A handshake that is cut, and one that is answered with something else.
    @Test(arguments: [[], Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), [0x16, 0x03, 0x03, 0x40, 0x00, 0x02]])
    func aCutHandshakeIsNoAnswer(_ bytes: [UInt8]) async throws {
        let world = try World(seed: 2)
        let server = try HostileSocket(world)
        let store = SimulatedStore()
        let account = try await Self.client(world, store, "http", server.port)
            .createAccount(recovery: recoveryHash().1)
        let cutting = try LocalListener { connection in
            var block = [UInt8](repeating: 0, count: 4096)
            _ = unsafe recv(connection, &block, block.count, 0)
            _ = unsafe send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        }
        let cut = try Self.client(world, store, "https", cutting.port)
        for _ in 0..<2 { #expect(await code { try await cut.rotate() } == .unreachable) }
        #expect(try await cut.credentials().pending != nil)
        let client = try Self.client(world, store, "http", server.port)
        _ = try await client.openSession()
        #expect(try await client.credentials().account?.current.publicKey == account.next.publicKey)
    }
}
