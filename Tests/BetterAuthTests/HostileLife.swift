import BetterAuth
import BetterAuthMessages
import BetterAuthServer
import TestSupport
import Testing

/// An operation in the life of an identity, at which somebody answers in the server's place.
enum LifeStep: String, CaseIterable, Hashable {
    case firstContact, create, recover, recoverHere, join, link, rotate, changeRecovery, unlink, leave, delete
    case openSession, createSession, refresh, access

    /// Where its request goes.
    var path: String {
        switch self {
        case .firstContact: "/key/response"
        case .create: CreateAccount.path
        case .recover, .recoverHere: RecoverAccount.path
        case .join, .createSession: CreateSession.path
        case .link: LinkDevice.path
        case .rotate: RotateDevice.path
        case .changeRecovery: ChangeRecoveryKey.path
        case .unlink, .leave: UnlinkDevice.path
        case .delete: DeleteAccount.path
        case .openSession: RequestSession.path
        case .refresh: RefreshSession.path
        case .access: HostileNetwork.appPath
        }
    }

    /// The path of a session's beginning, without which nothing can be found out.
    var isSession: Bool { path == CreateSession.path || path == RequestSession.path }
}

/// A device that meets an attack in the middle of one operation, and what it has to be afterwards.
final class HostileLife {
    let world: World
    let network: HostileNetwork
    let step: LifeStep
    private let store = SimulatedStore()
    private(set) var client: BetterAuthClient
    /// Another device of the same account.
    private let other: BetterAuthClient
    private let otherStore = SimulatedStore()
    private let recovery: [SoftwareSigningKey]
    private var identity: IdentityID?
    private var otherDevice: DeviceID?
    private var container: LinkContainer?
    private var tries = 0

    init(_ step: LifeStep, seed: UInt64, memory: World.Memory) async throws {
        self.step = step
        recovery = try (0..<6).map { _ in try .generate() }
        world = try World(seed: seed, memory: memory)
        network = try HostileNetwork(world)
        client = try HostileLife.client(network, store, step)
        other = try HostileLife.client(network, otherStore, step)
        try await begin()
    }

    private static func client(
        _ network: HostileNetwork, _ store: SimulatedStore, _ step: LifeStep
    ) throws -> BetterAuthClient {
        let clock = network.world.clock
        let pinned = ResponseTrust.pinned([network.world.responseKey.publicKey])
        return try BetterAuthClient(
            store: store, transport: network, server: ServerAddress("https://auth.example"),
            trust: step == .firstContact ? .firstUse : pinned, now: { clock.now })
    }

    /// The process ends and is started again.
    func restart() throws { client = try HostileLife.client(network, store, step) }

    private func hash(_ number: Int) -> RecoveryHash {
        Derivations.standard.recoveryHash(of: recovery[number].publicKey)
    }

    /// What comes before the operation.
    private func begin() async throws {
        switch step {
        case .firstContact, .create: break
        case .recover, .join:
            identity = try await other.createAccount(recovery: hash(0)).identity
            guard let identity, step == .join else { break }
            _ = try await other.link(client.makeLinkContainer(for: identity))
        default:
            identity = try await client.createAccount(recovery: hash(0)).identity
            if step == .refresh || step == .access { _ = try await client.openSession() }
            guard let identity, step == .link || step == .unlink else { break }
            let joining = try await other.makeLinkContainer(for: identity)
            container = joining
            otherDevice = joining.payload.authentication.device
            if step == .unlink { _ = try await client.link(joining) }
        }
    }

    /// The operation. Phrases of a repeated recovery or change are others each time.
    func run() async throws {
        tries += 1
        switch step {
        case .firstContact, .create: identity = try await client.createAccount(recovery: hash(0)).identity
        case .recover, .recoverHere: try await recover()
        case .join, .openSession, .createSession: _ = try await client.openSession()
        case .link: _ = try await client.link(#require(container))
        case .rotate: try await client.rotate()
        case .changeRecovery: try await client.changeRecovery(to: hash(tries))
        case .unlink: try await client.unlink(#require(otherDevice))
        case .leave: try await client.unlink(#require(try await client.credentials().account?.device))
        case .delete: try await client.deleteAccount()
        case .refresh: _ = try await client.refreshSession()
        case .access: try await ask()
        }
    }

    private func recover() async throws {
        let account = try await client.recoverAccount(#require(identity), with: recovery[0], successor: hash(tries))
        #expect(account.recoveryHashes == [hash(tries)], "the phrase that was shown last is the one that opens")
    }

    private func ask() async throws {
        let answer: ApplicationData = try await client.request(
            HostileNetwork.appPath, ApplicationData(json: #"{"do":"list"}"#))
        #expect(answer.bytes.text == #"{"done":"yes"}"#)
    }

    /// Every device that the server honours has its keys in somebody's credentials.
    func checkKeys(_ comment: Comment) throws {
        guard let identity, let row = try world.store.account(identity), !row.isDeleted else { return }
        let held = try [store, otherStore].map { try BetterAuthClient.load($0) }
        let accounts = held.flatMap { [$0.account, $0.staged?.account].compactMap(\.self) }
        for device in row.devices {
            let mine = accounts.filter { $0.device == device.id }
            let keys = mine.flatMap { [$0.current.publicKey, $0.next.publicKey] }
            #expect(keys.contains(device.publicKey), "the keys of a device are lost; \(comment)")
        }
    }

    private var isGone: Bool {
        get throws { try identity.flatMap { try world.store.account($0) }?.isDeleted ?? false }
    }

    private var isHere: Bool {
        get throws {
            let credentials = try BetterAuthClient.load(store)
            guard let account = credentials.account, let row = try world.store.account(account.identity) else {
                return false
            }
            return row.device(account.device) != nil
        }
    }

    /// While one path is shut, everything else continues.
    func checkTheRest(_ comment: Comment) async throws {
        guard try isHere, !step.isSession else { return }
        await expectSuccess("opening a session beside it; \(comment)") { _ = try await client.openSession() }
        await expectSuccess("a request beside it; \(comment)") { if step != .access { try await ask() } }
        await expectSuccess("another change of the chain beside it; \(comment)") {
            if step == .rotate { try await client.changeRecovery(to: hash(5)) } else { try await client.rotate() }
        }
        try checkKeys(comment)
    }

    /// The true server is back: each state reaches its end, with the first operation that is called.
    func finish(_ comment: Comment) async throws {
        switch step {
        case .firstContact, .create, .recover, .recoverHere, .join:
            if try !isHere { await expectSuccess("\(comment)") { try await run() } }
        case .link where try BetterAuthClient.load(store).pending != nil:
            // Asked for again, as people do who got no answer: the server has linked it, or does it now.
            await expectSuccess("linking again; \(comment)") { try await run() }
        case .leave, .delete:
            try await finishLeaving(comment)
            return
        default: break
        }
        await expectSuccess("opening a session; \(comment)") { _ = try await client.openSession() }
        await expectSuccess("a request; \(comment)") { try await ask() }
        await expectSuccess("a refresh; \(comment)") { _ = try await client.refreshSession() }
        await expectSuccess("a rotation; \(comment)") { try await client.rotate() }
        let credentials = try BetterAuthClient.load(store)
        #expect(credentials.pending == nil && credentials.staged == nil, comment)
        let account = try #require(credentials.account, comment)
        let held = try #require(try world.store.account(account.identity)?.recoveryHash, comment)
        // A device that was linked was never told.
        #expect(step == .join || account.recoveryHashes.contains(held), comment)
        await expectSuccess("a new recovery phrase; \(comment)") { try await client.changeRecovery(to: hash(4)) }
        #expect(try BetterAuthClient.load(store).account?.recoveryHashes == [hash(4)], comment)
        try checkKeys(comment)
    }

    /// Whoever asked for the end gets it, or is told how to.
    private func finishLeaving(_ comment: Comment) async throws {
        if try BetterAuthClient.load(store).state == .ready { return }
        if try isHere, try !isGone {
            await expectSuccess("leaving; \(comment)") { try await run() }
        } else {
            do { try await client.settle() } catch {
                // A server that remembers no answers: it has done what was asked, and cannot say so.
                #expect(error.code == .chainUnknown, comment)
                try await client.erase()
            }
        }
        #expect(try BetterAuthClient.load(store).state == .ready, comment)
    }

    private func expectSuccess(_ comment: Comment, _ body: () async throws -> Void) async {
        do { try await body() } catch { Issue.record(error, comment) }
    }
}
