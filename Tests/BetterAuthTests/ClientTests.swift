import BetterAuth
import BetterAuthMessages
import BetterAuthServer
import SecretMemory
import Synchronization
import Testing

/// A network that works, and does what a test wants done to one message.
struct HookedNetwork: Transport {
    let world: World
    let hook: @Sendable (TransportRequest, () -> [UInt8]) throws -> [UInt8]

    func send(_ request: TransportRequest) async throws(TransportError) -> TransportReply {
        do {
            let body = try hook(request) { world.deliver(request.path, request.body ?? []) }
            return TransportReply(status: 200, body: body)
        } catch let error as TransportError { throw error } catch { throw .broken("\(error)") }
    }
}

func recoveryHash() throws -> (SoftwareSigningKey, RecoveryHash) {
    let key = try SoftwareSigningKey.generate()
    return (key, Derivations.standard.recoveryHash(of: key.publicKey))
}

func client(
    _ world: World, _ store: any CredentialStore, trust: ResponseTrust? = nil,
    notify: @escaping @Sendable (IdentityNotice) -> Void = { _ in },
    hook: @escaping @Sendable (TransportRequest, () -> [UInt8]) throws -> [UInt8] = { $1() }
) throws -> BetterAuthClient {
    let clock = world.clock
    return try BetterAuthClient(
        store: store, keys: world.deviceKeys, transport: HookedNetwork(world: world, hook: hook),
        server: ServerAddress("https://auth.example"), trust: trust ?? .pinned([world.responseKey.publicKey]),
        now: { clock.now }, notify: notify)
}

/// The code of what is thrown; nil when nothing is.
func code(_ body: () async throws -> Void) async -> IdentityError.Code? {
    do {
        try await body()
        return nil
    } catch { return (error as? IdentityError)?.code ?? IdentityError(error).code }
}

@Suite struct ClientTests {
    @Test func aLife() async throws {
        let world = try World(seed: 1)
        let store = SimulatedStore()
        let notices = Mutex<[IdentityNotice]>([])
        let client = try client(world, store, trust: .firstUse) { notice in notices.withLock { $0.append(notice) } }
        #expect(try await client.credentials().state == .ready)
        #expect(await code { try await client.rotate() } == .noAccount)
        #expect(await code { _ = try await client.refreshSession() } == .noSession)

        let (_, recovery) = try recoveryHash()
        let account = try await client.createAccount(recovery: recovery)
        #expect(await code { _ = try await client.createAccount(recovery: recovery) } == .accountExists)
        var credentials = try await client.credentials()
        #expect(credentials.state == .created && credentials.server == "https://auth.example")
        #expect(credentials.drills.since != nil)

        let session = try await client.openSession()
        #expect(try await client.credentials().state == .authenticated)
        let refreshed = try await client.refreshSession()
        #expect(refreshed.token != session.token && refreshed.current.publicKey == session.next.publicKey)
        try await client.rotate()
        let (_, other) = try recoveryHash()
        try await client.changeRecovery(to: other)
        credentials = try await client.credentials()
        #expect(credentials.account?.identity == account.identity && credentials.account?.recoveryHashes == [other])
        #expect(credentials.account?.current.publicKey != account.next.publicKey)
        try await client.endSession()
        #expect(try await client.credentials().state == .created)
        try await client.deleteAccount()
        credentials = try await client.credentials()
        #expect(credentials.state == .ready && credentials.keys.isEmpty)
        #expect(try world.store.account(account.identity)?.isDeleted == true)
        let expected: [IdentityNotice] = [
            .trustedFirstKey(world.responseKey.publicKey, server: "https://auth.example"), .confirmed(.create),
        ]
        #expect(notices.withLock { $0 } == expected)
    }

    /// The server is killed between the two requests, again and again: its challenges are gone.
    @Test(arguments: [0, 1, 2])
    func `a server that has forgotten its challenge is asked for another one, once`(_ times: Int) async throws {
        let world = try World(seed: 5)
        let asked = Mutex(0)
        let forgets = Mutex(0)
        let hook: @Sendable (TransportRequest, () -> [UInt8]) throws -> [UInt8] = { request, deliver in
            if request.path == RequestSession.path { asked.withLock { $0 += 1 } }
            let isLost = forgets.withLock { left in
                guard request.path == CreateSession.path, left > 0 else { return false }
                left -= 1
                return true
            }
            return isLost ? ProtocolError.plain(.unknownChallenge).encoded : deliver()
        }
        let client = try client(world, SimulatedStore(), hook: hook)
        _ = try await client.createAccount(recovery: recoveryHash().1)
        forgets.withLock { $0 = times }
        let failure = await code { _ = try await client.openSession() }
        #expect(failure == (times < 2 ? nil : .refused))
        #expect(asked.withLock { $0 } == min(times, 1) + 1)
    }

    /// What it says of its challenge it says of no key: the chain stays as it is, whatever came before.
    @Test func `a server that always forgets its challenge ends no chain`() async throws {
        let world = try World(seed: 6)
        let forgets = Mutex(false)
        let hook: @Sendable (TransportRequest, () -> [UInt8]) throws -> [UInt8] = { request, deliver in
            guard forgets.withLock({ $0 }) else { return deliver() }
            if request.path == CreateSession.path { return ProtocolError.plain(.unknownChallenge).encoded }
            guard request.path == RotateDevice.path else { return deliver() }
            _ = deliver()
            throw TransportError.broken("no answer")
        }
        let client = try client(world, SimulatedStore(), hook: hook)
        let account = try await client.createAccount(recovery: recoveryHash().1)
        forgets.withLock { $0 = true }
        for _ in 0..<3 {
            let failure = await code { try await client.rotate() }
            #expect(failure != nil && failure != .chainUnknown, "\(String(describing: failure))")
        }
        forgets.withLock { $0 = false }
        _ = try await client.openSession()
        let settled = try await client.credentials()
        #expect(settled.pending == nil && settled.account?.current.publicKey == account.next.publicKey)
    }

    @Test func devicesJoinAndLeave() async throws {
        let world = try World(seed: 2)
        let (phoneStore, laptopStore) = (SimulatedStore(), SimulatedStore())
        let phone = try client(world, phoneStore)
        let laptop = try client(world, laptopStore)
        let account = try await phone.createAccount(recovery: recoveryHash().1)
        let container = try await laptop.makeLinkContainer(for: account.identity)
        #expect(try await laptop.makeLinkContainer(for: account.identity) == container)
        #expect(try await laptop.credentials().state == .linking)
        #expect(await code { _ = try await laptop.openSession() } == .refused)
        #expect(await code { try await laptop.rotate() } == .refused)
        #expect(try await laptop.credentials().state == .linking)

        let joined = try await phone.link(container)
        _ = try await laptop.openSession()
        #expect(try await laptop.credentials().state == .authenticated)
        #expect(try await laptop.credentials().account?.device == joined)
        try await laptop.rotate()

        // The same container again: the server refuses, and the phone's chain is in order.
        let before = try await phone.credentials().account
        #expect(await code { _ = try await phone.link(container) } == .refused)
        #expect(try await phone.credentials().pending == nil)
        #expect(try await phone.credentials().account?.current.publicKey == before?.next.publicKey)
        try await phone.rotate()

        try await laptop.unlink(joined)
        #expect(try await laptop.credentials().state == .ready)
        #expect(try world.store.account(account.identity)?.device(joined) == nil)
        // A device that is gone already: the server may say what it likes, the chain continues.
        _ = await code { try await phone.unlink(joined) }
        try await phone.rotate()
    }

    @Test func containersAreChecked() async throws {
        let world = try World(seed: 3)
        let phone = try client(world, SimulatedStore())
        let account = try await phone.createAccount(recovery: recoveryHash().1)
        let stranger = try client(world, SimulatedStore())
        let good = try await stranger.makeLinkContainer(for: account.identity)
        let key = try SoftwareSigningKey.generate()
        let forged = try LinkContainer(good.payload, signedBy: key)
        #expect(await code { _ = try await phone.link(forged) } == .invalidContainer)
        let parts = good.payload.authentication
        let wrongDevice = try LinkContainer(
            LinkContainerPayload(
                authentication: RotationAuthentication(
                    device: account.device, identity: parts.identity, publicKey: key.publicKey,
                    rotationHash: parts.rotationHash)), signedBy: key)
        #expect(await code { _ = try await phone.link(wrongDevice) } == .invalidContainer)
        let other = try client(world, SimulatedStore())
        let foreign = try await other.makeLinkContainer(for: IdentityID(AccessScene.digest))
        #expect(await code { _ = try await phone.link(foreign) } == .invalidContainer)
        #expect(try await phone.credentials().pending == nil)
        _ = try await phone.link(good)
    }

    @Test func recoveryTakesTheAccountBack() async throws {
        let world = try World(seed: 4)
        let old = try client(world, SimulatedStore())
        let (key, hash) = try recoveryHash()
        let account = try await old.createAccount(recovery: hash)
        let (nextKey, nextHash) = try recoveryHash()
        let new = try client(world, SimulatedStore())
        // The wrong phrase: refused, and the next try makes room.
        let (wrong, _) = try recoveryHash()
        #expect(
            await code {
                _ = try await new.recoverAccount(account.identity, with: wrong, successor: nextHash)
            } == .refused)
        #expect(
            await code { _ = try await new.recoverAccount(account.identity, with: key, successor: hash) }
                == .wrongPhrase)
        let recovered = try await new.recoverAccount(account.identity, with: key, successor: nextHash)
        #expect(recovered.identity == account.identity && recovered.device != account.device)
        try await new.rotate()
        // The old device is out, and keeps its keys.
        #expect(await code { _ = try await old.openSession() } == .refused)
        #expect(await code { try await old.rotate() } == .chainUnknown)
        let kept = try await old.credentials()
        #expect(kept.account != nil && kept.pending != nil)
        // A device that has an account takes it back too, with nothing lost in between.
        #expect(
            await code {
                _ = try await old.recoverAccount(account.identity, with: wrong, successor: hash)
            } == .refused)
        #expect(try await old.credentials().account != nil)
        let (_, third) = try recoveryHash()
        _ = try await old.recoverAccount(account.identity, with: nextKey, successor: third)
        let taken = try await old.credentials()
        #expect(taken.pending == nil && taken.staged == nil)
        try await old.rotate()
    }

    /// A refused recovery on a device with a working account changes nothing there.
    @Test func aRefusedRecoveryIsNoHindrance() async throws {
        let world = try World(seed: 5)
        let client = try client(world, SimulatedStore())
        let account = try await client.createAccount(recovery: recoveryHash().1)
        let (wrong, next) = try (recoveryHash().0, recoveryHash().1)
        #expect(
            await code {
                _ = try await client.recoverAccount(account.identity, with: wrong, successor: next)
            } == .refused)
        try await client.rotate()
        _ = try await client.openSession()
        #expect(
            await code {
                _ = try await client.recoverAccount(IdentityID(AccessScene.digest), with: wrong, successor: next)
            } == .accountExists)
    }

    @Test func writtenDownBeforeItIsSent() async throws {
        let world = try World(seed: 6)
        let store = SimulatedStore()
        let (_, recovery) = try recoveryHash()
        let seen = Mutex<[String]>([])
        let client = try client(
            world, store,
            hook: { request, deliver in
                let stored = try BetterAuthClient.load(store)
                let body = request.body ?? []
                if request.path == CreateAccount.path { #expect(stored.staged?.message == body) }
                if request.path == RotateDevice.path {
                    #expect(stored.pending?.requests.last?.message == body)
                    #expect(stored.pending?.future.publicKey != stored.account?.next.publicKey)
                }
                seen.withLock { $0.append(request.path) }
                return deliver()
            })
        _ = try await client.createAccount(recovery: recovery)
        try await client.rotate()
        #expect(seen.withLock { $0 } == [CreateAccount.path, RotateDevice.path])
    }

    @Test func oneAfterTheOther() async throws {
        let world = try World(seed: 7)
        let store = SimulatedStore()
        let client = try client(world, store)
        let account = try await client.createAccount(recovery: recoveryHash().1)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<12 {
                group.addTask {
                    if number % 3 == 2 { _ = try await client.openSession() } else { try await client.rotate() }
                }
            }
            try await group.waitForAll()
        }
        let credentials = try await client.credentials()
        #expect(credentials.pending == nil && credentials.session != nil)
        let row = try #require(try world.store.account(account.identity))
        #expect(row.device(account.device)?.publicKey == credentials.account?.current.publicKey)
    }

    @Test func aLockedStoreStopsEverything() async throws {
        let world = try World(seed: 8)
        let store = SimulatedStore()
        let requests = Mutex(0)
        let client = try client(
            world, store,
            hook: { _, deliver in
                requests.withLock { $0 += 1 }
                return deliver()
            })
        _ = try await client.createAccount(recovery: recoveryHash().1)
        let before = requests.withLock { $0 }
        store.crash()
        #expect(await code { try await client.rotate() } == .storage)
        #expect(await code { _ = try await client.openSession() } == .storage)
        #expect(requests.withLock { $0 } == before)
        store.restart()
        try await client.rotate()
    }
}
