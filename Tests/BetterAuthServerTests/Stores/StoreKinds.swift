import BetterAuthMessages
import BetterAuthPostgres
import BetterAuthServer
import MemoryServerStore
import Foundation
import RealParts
import Synchronization
import Testing

/// The stores that one suite of tests is run on.
enum StoreKind: String, CaseIterable, CustomTestStringConvertible, Sendable {
    case memory
    case sqlite = "SQLite"
    case postgres = "PostgreSQL and Redis"

    var testDescription: String { rawValue }
}

/// PostgreSQL and Redis for all tests that run at one time; they end with the last of these.
final class DatabasePair: Sendable {
    let postgres: PostgresServer
    let redis: RedisServer

    init() throws {
        postgres = try PostgresServer()
        redis = try RedisServer()
        try PostgresStore.migrate(postgres.url)
    }

    func store() throws -> PostgresStore {
        PostgresStore(postgres.url, try #require(RedisLocation(redis.location)))
    }

    private struct Shared {
        weak var pair: DatabasePair?
    }

    private static let current = Mutex(Shared())

    static func shared() throws -> DatabasePair {
        try current.withLock { shared in
            if let pair = shared.pair { return pair }
            let pair = try DatabasePair()
            shared.pair = pair
            return pair
        }
    }
}

/// A store of a test's own, and the folder that it may lie in.
final class StoreFixture {
    let kind: StoreKind
    let folder: String
    private(set) var store: any ServerStore
    private let pair: DatabasePair?

    init(_ kind: StoreKind) throws {
        self.kind = kind
        folder = NSTemporaryDirectory() + "holdfast-server-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        pair = kind == .postgres ? try .shared() : nil
        store = try pair?.store() ?? StoreFixture.open(kind, folder)
    }

    deinit {
        store.close()
        try? FileManager.default.removeItem(atPath: folder)
    }

    var path: String { folder + "/accounts.db" }

    private static func open(_ kind: StoreKind, _ folder: String) throws -> any ServerStore {
        switch kind {
        case .memory, .postgres: return MemoryStore()
        case .sqlite:
            var settings = SQLiteSettings()
            // Often enough to be seen at work.
            settings.checkpointPages = 50
            return try SQLiteStore(folder + "/accounts.db", settings)
        }
    }

    /// As after a restart.
    func reopen() throws {
        guard kind != .memory else { return }
        store.close()
        store = MemoryStore()
        store = try pair?.store() ?? StoreFixture.open(kind, folder)
    }
}

/// Waits for a store's answer.
func done<Value: Sendable>(
    _ body: (@escaping @Sendable (Result<Value, StoreError>) -> Void) -> Void
) throws -> Value {
    let answer = Answer<Result<Value, StoreError>>()
    withoutActuallyEscaping(body) { $0({ answer.give($0) }) }
    return try answer.wait().get()
}

extension PostgresStore {
    /// URLs of tests have no secret in them.
    private static func secret(_ url: String) -> SecretText {
        guard let text = try? SecretText(url) else { preconditionFailure("there is no locked memory") }
        return text
    }

    @discardableResult
    static func migrate(
        _ url: String, _ schema: PostgresSchema = .current, hasBackup: Bool = false
    ) throws(StoreError) -> (from: Int, to: Int) { try migrate(secret(url), schema, hasBackup: hasBackup) }

    convenience init(
        _ url: String, _ redis: RedisLocation, lifetimes: Lifetimes = Lifetimes(), loss: RedisLoss = .warn,
        schema: PostgresSchema = .current, report: @escaping @Sendable (RedisNotice) -> Void = { _ in }
    ) {
        self.init(
            PostgresStore.secret(url), redis, lifetimes: lifetimes, loss: loss, schema: schema, report: report)
    }
}
