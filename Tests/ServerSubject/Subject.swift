import BetterAuthMessages
import BetterAuthPostgres
import BetterAuthServer
import Dispatch
import Foundation
import Synchronization

/// A process that changes accounts until it is killed. Its log says of each change what it is going to do, and then
/// that it was told of its success:
///
///     ServerSubject DATABASE LOG THREADS
///     I <identity> <row that the account is to have>      R <identity> <device> <key that refreshes>
///     A <identity>                                        S <key that refreshed>
///
/// Or one that brings a database to the version that is made up, and says from which one to which:
///
///     ServerSubject raise DATABASE
@main
struct Subject {
    static func main() {
        let arguments = CommandLine.arguments
        if arguments.count == 3, arguments[1] == "raise" { return raise(arguments[2]) }
        guard arguments.count == 4, let threads = Int(arguments[3]) else { exit(2) }
        let log = unsafe Foundation.open(arguments[2], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard log >= 0 else { exit(2) }
        do {
            let now = SystemClock().now
            let store = try open(arguments[1])
            DispatchQueue.concurrentPerform(iterations: threads) { _ in
                do {
                    try run(store, log, now)
                } catch {
                    print("ServerSubject: \(error)")
                    exit(1)
                }
            }
        } catch {
            print("ServerSubject: \(error)")
            exit(1)
        }
    }

    private static func raise(_ name: String) {
        do {
            let versions =
                name.contains("://")
                ? try PostgresStore.migrate(SecretText(name), .madeUp, hasBackup: true)
                : try SQLiteMaintenance(name, schema: .madeUp).migrate()
            print("\(versions.from) \(versions.to)")
        } catch {
            print("ServerSubject: \(error)")
            exit(1)
        }
    }

    /// A file, or `POSTGRES-URL REDIS-LOCATION`.
    private static func open(_ name: String) throws -> any ServerStore {
        let words = name.split(separator: " ").map(String.init)
        guard words.count == 2, let redis = RedisLocation(words[1]) else { return try SQLiteStore(name) }
        return try PostgresStore(SecretText(words[0]), redis)
    }

    private static func note(_ log: Int32, _ line: String) {
        let bytes = Array((line + "\n").utf8)
        guard unsafe write(log, bytes, bytes.count) == bytes.count else { exit(2) }
    }

    private static func run(_ store: any ServerStore, _ log: Int32, _ now: Timestamp) throws {
        var changes = RandomChanges(now: now)
        var count = 0
        while true {
            let (change, account) = try changes.next()
            note(log, "I \(change.identity) \(AccountCoding.encode(account).hexadecimal)")
            guard try done({ store.apply(change, then: $0) }) == .committed else { exit(3) }
            note(log, "A \(change.identity)")
            count += 1
            guard count % 4 == 0, let device = account.devices.first else { continue }
            let key = RotationHash(try RandomChanges.digest())
            note(log, "R \(change.identity) \(device.id) \(key)")
            let refresh = try RandomChanges.refresh(change.identity, device.id, key, now: now.adding(seconds: 1))
            guard try done({ store.reserve(refresh, then: $0) }) == .committed else { exit(3) }
            note(log, "S \(key)")
        }
    }

    private static func done<Value: Sendable>(
        _ body: (@escaping @Sendable (Result<Value, StoreError>) -> Void) -> Void
    ) throws -> Value {
        let result = Mutex<Result<Value, StoreError>?>(nil)
        let given = DispatchSemaphore(value: 0)
        withoutActuallyEscaping(body) { body in
            body { value in
                result.withLock { $0 = value }
                given.signal()
            }
        }
        given.wait()
        guard let value = result.withLock({ $0 }) else { exit(4) }
        return try value.get()
    }
}
