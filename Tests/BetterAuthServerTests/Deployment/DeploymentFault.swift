import Foundation
import RealParts
import TestSupport

/// What happens to a part of a deployment.
enum DeploymentFault: String, CaseIterable {
    case firstServer = "serve-1-killed"
    case secondServer = "serve-2-killed"
    case hangingServer = "serve-1-hangs"
    case keeper = "hsm-killed"
    case keyService = "keys-killed"
    case application = "app-killed"
    case postgresStopped = "postgresql-stopped"
    case postgresKilled = "postgresql-killed"
    case redisStopped = "redis-stopped"
    case redisKilled = "redis-killed"
    case redisFlushed = "redis-flushed"
    case proxy = "nginx-killed"
    case fullDisk = "audit-disk-full"
    case otherKeys = "keys-swapped"
    case rotatedCopy = "keys-rotated-on-one-machine"

    /// The alerts that fire for it, each with what one of its labels is; none for what has no metrics of ours.
    func alerts(in deployment: Deployment) -> [(name: String, label: String, value: String)] {
        func down(_ part: Deployment.Part) -> (name: String, label: String, value: String) {
            ("HoldfastDown", "instance", deployment.addresses[part]!)
        }
        func both(_ name: String) -> [(name: String, label: String, value: String)] {
            [.first, .second].map { (name, "instance", deployment.addresses[$0]!) }
        }
        switch self {
        case .firstServer, .hangingServer: return [down(.first)]
        case .secondServer: return [down(.second)]
        case .keeper: return [down(.hsm), ("HoldfastNotReady", "instance", deployment.addresses[.keys]!)]
        case .keyService: return [down(.keys)] + both("HoldfastNotPublishing")
        case .application: return [down(.app)]
        case .postgresStopped, .postgresKilled:
            return both("HoldfastNotReady") + both("HoldfastDatabaseDown") + both("HoldfastStoreFails")
        case .redisStopped, .redisKilled:
            return both("HoldfastNotReady") + [("HoldfastDatabaseDown", "database", "redis")]
        case .redisFlushed: return [("HoldfastRedisForgot", "database", "redis")]
        case .proxy: return []
        case .fullDisk:
            return ["HoldfastAuditLogFails", "HoldfastNotReady"].map {
                ($0, "instance", deployment.addresses[.second]!)
            }
        case .otherKeys: return [("HoldfastNotReady", "instance", deployment.addresses[.first]!)]
        case .rotatedCopy:
            return [
                ("HoldfastKeysDiffer", "job", "holdfast-server"),
                ("HoldfastNotReady", "instance", deployment.addresses[.second]!),
            ]
        }
    }

    private var part: Deployment.Part? {
        switch self {
        case .firstServer: .first
        case .secondServer: .second
        case .keeper: .hsm
        case .keyService: .keys
        case .application: .app
        default: nil
        }
    }

    func begin(in deployment: Deployment) throws {
        if let part { return try deployment.process(part).process.end(SIGKILL) }
        let files = FileManager.default
        switch self {
        case .hangingServer: try deployment.process(.first).process.signal(SIGSTOP)
        case .postgresStopped: deployment.pair.postgres.stop()
        case .postgresKilled: deployment.pair.postgres.stop(SIGKILL)
        case .redisStopped: deployment.pair.redis.stop()
        case .redisKilled: deployment.pair.redis.stop(SIGKILL)
        case .redisFlushed: try deployment.pair.redis.command("FLUSHALL")
        case .proxy: deployment.endProxy(SIGKILL)
        case .fullDisk:
            // All that is left of it.
            let filled = try Spawned(["dd", "if=/dev/zero", "of=\(deployment.auditFolder(2))/ballast", "bs=4k"]).wait()
            guard filled == 1 else { throw HTTPClient.Problem(description: "the disk is not full: \(filled)") }
        case .otherKeys:
            let other = deployment.folder["other"]
            try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
            let made = try runServerCommand(["init", "--database", other + "/accounts.db"], other)
            guard made.status == 0 else { throw HTTPClient.Problem(description: made.output) }
            try files.copyItem(atPath: deployment.keysFile(1), toPath: deployment.folder["kept"])
            try rename(other + "/accounts.db.keys", over: deployment.keysFile(1))
        case .rotatedCopy:
            let made = try runServerCommand(
                ["rotate-keys", "--keys-file", deployment.keysFile(1)], deployment.folder.path)
            guard made.status == 0 else { throw HTTPClient.Problem(description: made.output) }
        default: break
        }
    }

    func end(in deployment: Deployment) throws {
        if let part { return try deployment.start(part) }
        switch self {
        case .hangingServer: try deployment.process(.first).process.signal(SIGCONT)
        case .postgresStopped, .postgresKilled:
            // After a crash its children go a moment later, and a new server waits for that.
            guard Patience.wait(until: { (try? deployment.pair.postgres.start()) != nil }) else {
                throw HTTPClient.Problem(description: "PostgreSQL does not start")
            }
        case .redisStopped, .redisKilled: try deployment.pair.redis.start()
        case .proxy: try deployment.startProxy()
        case .fullDisk: try FileManager.default.removeItem(atPath: deployment.auditFolder(2) + "/ballast")
        case .otherKeys: try rename(deployment.folder["kept"], over: deployment.keysFile(1))
        case .rotatedCopy:
            // As the documents say: the newest file to every machine.
            try FileManager.default.copyItem(atPath: deployment.keysFile(1), toPath: deployment.folder["copy"])
            try rename(deployment.folder["copy"], over: deployment.keysFile(2))
        default: break
        }
    }

    private func rename(_ path: String, over other: String) throws {
        guard unsafe Foundation.rename(path, other) == 0 else {
            throw HTTPClient.Problem(description: "\(path) cannot be moved: \(errno)")
        }
    }
}
