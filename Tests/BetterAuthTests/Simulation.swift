import BetterAuth
import BetterAuthVerification
import BetterAuthMessages
import BetterAuthServer
import MemoryServerStore
import SecretMemory
import Synchronization
import TestSupport
import Testing

/// A clock that nobody waits for.
final class VirtualClock: ServerClock {
    private let time = Mutex<Int64>(1_767_323_045_678)
    var now: Timestamp { Timestamp(clamping: time.withLock { $0 }) }
    func advance(_ milliseconds: Int64) { time.withLock { $0 += milliseconds } }
}

/// One run of the simulation: the real server logic, a network that does what its seed says, and stores of devices that
/// can lose their process at any write.
final class World: Sendable {
    /// How a server treats a request that it has answered before.
    enum Memory: String, CaseIterable, CustomTestStringConvertible {
        /// It gives the same answer again, as ours does.
        case replays
        /// It refuses, as every other server does.
        case refuses
        var testDescription: String { rawValue }
    }

    struct Fault: Error {}

    private struct State {
        var random: SeededGenerator
        var chaos = false
        /// Requests on their way that nobody waits for any more.
        var late: [(path: String, body: [UInt8])] = []
        var answered: Set<[UInt8]> = []
        var deliveries = 0
        var faults = 0
        var notices: [String: Int] = [:]
    }

    let clock = VirtualClock()
    let server: AuthServer
    let store: any ServerStore = MemoryStore()
    let responseKey: ServerKey
    /// What devices make their keys with.
    let deviceKeys: any DeviceKeys
    private let memory: Memory
    private let state: Mutex<State>

    init(seed: UInt64, memory: Memory = .replays, deviceKeys: any DeviceKeys = SoftwareDeviceKeys()) throws {
        self.deviceKeys = deviceKeys
        responseKey = try .generate()
        let accessKey = try ServerKey.generate()
        let attributes = try ApplicationData(json: "{}")
        server = AuthServer(
            store: store,
            keys: ServerKeys(
                response: KeySchedule(responseKey, lifetime: 1 << 50),
                access: KeySchedule(accessKey, lifetime: 1 << 50)),
            clock: clock, compression: ZlibTokenCompression(), attributes: { _ in attributes })
        self.memory = memory
        state = Mutex(State(random: SeededGenerator(seed: seed)))
    }

    /// From here on anything may happen, or nothing any more.
    func setChaos(_ chaos: Bool) { state.withLock { $0.chaos = chaos } }

    /// One of many, by the seed.
    func pick(_ count: Int) -> Int { state.withLock { Int.random(in: 0..<count, using: &$0.random) } }

    /// Whether something goes wrong here: `chance` in a thousand, and only in chaos.
    func fails(_ chance: Int) -> Bool {
        state.withLock { state in
            guard state.chaos, Int.random(in: 0..<1000, using: &state.random) < chance else { return false }
            state.faults += 1
            return true
        }
    }

    var statistics: Statistics { state.withLock { ($0.deliveries, $0.faults, $0.notices) } }
    typealias Statistics = (deliveries: Int, faults: Int, notices: [String: Int])

    func note(_ notice: IdentityNotice) {
        let name =
            switch notice {
            case .trustedFirstKey: "first key"
            case .settled: "settled"
            case .settledOneOf: "one of several"
            case .abandoned: "abandoned"
            case .confirmed: "confirmed"
            }
        state.withLock { $0.notices[name, default: 0] += 1 }
    }

    /// Lets what is still on its way arrive, in any order.
    func deliverLate(all: Bool) {
        while true {
            let next = state.withLock { state -> (path: String, body: [UInt8])? in
                guard !state.late.isEmpty, all || Int.random(in: 0..<3, using: &state.random) == 0 else { return nil }
                return state.late.remove(at: Int.random(in: 0..<state.late.count, using: &state.random))
            }
            guard let next else { return }
            _ = deliver(next.path, next.body)
        }
    }

    func deliver(_ path: String, _ body: [UInt8]) -> [UInt8] {
        let isKnown = state.withLock { state in
            state.deliveries += 1
            return memory == .refuses && state.answered.contains(body)
        }
        if isKnown { return Array(#"{"error":"an error occurred"}"#.utf8) }
        if path == "/key/response" { return responseKey.publicKey.textBytes }
        guard let operation = AuthOperation(path: path) else { return Array(#"{"error":"no such path"}"#.utf8) }
        let reply = Mutex<ServerReply?>(nil)
        server.handle(operation, body) { given in reply.withLock { $0 = given } }
        guard let reply = reply.withLock({ $0 }) else { return [] }
        if reply.code == nil { state.withLock { _ = $0.answered.insert(body) } }
        return reply.body
    }

    var isQuiet: Bool { state.withLock { $0.late.isEmpty } }

    func late(_ path: String, _ body: [UInt8]) { state.withLock { $0.late.append((path, body)) } }
}

/// The network between one device and the server.
struct SimulatedNetwork: Transport {
    let world: World
    let device: SimulatedStore

    func send(_ request: TransportRequest) async throws(TransportError) -> TransportReply {
        let body = request.body ?? []
        guard !device.isDown else { throw .timedOut }
        world.clock.advance(Int64(world.pick(400)))
        if world.fails(60) { throw .unreachable("dropped") }  // or the server was killed before it read it
        if world.fails(60) {
            world.late(request.path, body)  // delayed beyond our patience
            throw .timedOut
        }
        if world.fails(60) { world.late(request.path, body) }  // duplicated; the copy comes later
        if world.fails(30) { return TransportReply(status: 500, body: Array(#"{"error":"forged"}"#.utf8)) }
        if world.fails(20) {
            world.late(request.path, body)
            return TransportReply(status: 401, body: Array(#"{"error":{"code":"BA104"}}"#.utf8))
        }
        if world.fails(20) { return TransportReply(status: 502, body: WrongAnswer.page, contentType: "text/html") }
        if world.fails(300) { world.deliverLate(all: false) }  // overtaken
        if world.fails(20) { device.crash() }  // the device dies with the request on its way
        let answer = world.deliver(request.path, body)
        if world.fails(60) { throw .broken("the answer was lost") }  // or the server was killed after it committed
        if world.fails(20) { return TransportReply(status: 200, body: Array(answer.dropLast())) }
        if world.fails(20) { return TransportReply(status: 504, body: WrongAnswer.page, contentType: "text/html") }
        if world.fails(20) { return TransportReply(status: 200, body: []) }
        guard !device.isDown else { throw .timedOut }
        return TransportReply(status: 200, body: answer)
    }
}

/// A device's credentials, and whether its process lives.
final class SimulatedStore: CredentialStore {
    private struct State {
        var record: [UInt8]?
        var isDown = false
        var writes = 0
    }

    private let world: World?
    private let state = Mutex(State())

    init(_ world: World? = nil) { self.world = world }

    var isDown: Bool { state.withLock { $0.isDown } }
    var writes: Int { state.withLock { $0.writes } }
    var record: [UInt8]? { state.withLock { $0.record } }

    /// The process ends here: nothing is written and nothing sent until it is started again.
    func crash() { state.withLock { $0.isDown = true } }

    func restart() { state.withLock { $0.isDown = false } }

    func load() throws -> SecretBytes? {
        let (record, isDown) = state.withLock { ($0.record, $0.isDown) }
        if isDown { throw World.Fault() }
        guard let record else { return nil }
        return try unsafe SecretBytes(copying: record.span.bytes)
    }

    func save(_ record: borrowing SecretBytes) throws {
        let bytes = record.withBytes { span in unsafe span.withUnsafeBytes { unsafe Array($0) } }
        let (dies, before) = (world?.fails(60) ?? false, world?.pick(2) == 0)
        try state.withLock { state in
            if state.isDown { throw World.Fault() }
            if dies { state.isDown = true }
            if dies && before { throw World.Fault() }
            state.record = bytes
            state.writes += 1
            if dies { throw World.Fault() }
        }
    }

    func erase() throws {
        try state.withLock { state in
            if state.isDown { throw World.Fault() }
            state.record = nil
        }
    }
}

/// A device in the world.
struct SimulatedDevice {
    let world: World
    let store: SimulatedStore
    private(set) var client: BetterAuthClient

    init(_ world: World) throws {
        self.world = world
        store = SimulatedStore(world)
        client = try SimulatedDevice.client(world, store)
    }

    /// The process is started again: nothing but the store is left.
    mutating func restart() throws {
        store.restart()
        client = try SimulatedDevice.client(world, store)
    }

    static func client(_ world: World, _ store: SimulatedStore) throws -> BetterAuthClient {
        let clock = world.clock
        return try BetterAuthClient(
            store: store, keys: world.deviceKeys, transport: SimulatedNetwork(world: world, device: store),
            server: ServerAddress("https://auth.example"), trust: .pinned([world.responseKey.publicKey]),
            now: { clock.now }, notify: { world.note($0) })
    }

    var credentials: Credentials { get throws { try BetterAuthClient.load(store) } }

    /// Whether the server holds this device's key, or the one that follows it.
    func isKnown(to world: World) throws -> Bool {
        guard let account = try credentials.account, let row = try world.store.account(account.identity),
            let device = row.device(account.device), !row.isDeleted
        else { return false }
        return [account.current.publicKey, account.next.publicKey].contains(device.publicKey)
    }
}
