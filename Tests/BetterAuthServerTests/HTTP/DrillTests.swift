import BetterAuthMessages
import BetterAuthPostgres
import BetterAuthServer
import Foundation
import RealParts
import TestSupport
import Testing

/// The drills of Docs/operations.md, as an operator does them.
@Suite struct DrillTests {
    private let fixture: StoreFixture
    private var folder: String { fixture.folder }

    init() throws { fixture = try StoreFixture(.memory) }

    private func start(_ database: String) throws -> ServerProcess {
        try ServerProcess(["serve", "--listen", "127.0.0.1:0", "--database", database], folder: folder)
    }

    /// With a umask that hides nothing.
    private func run(_ arguments: String...) throws -> (status: Int32, output: String) {
        try runServerCommand(arguments, folder, before: ["sh", "-c", "umask 000; exec \"$0\" \"$@\""])
    }

    private func mode(_ path: String) throws -> Int? {
        (try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue
    }

    @Test func `a backup is made while a server runs, and restored on a machine that was lost`() throws {
        let server = try start(fixture.path)
        let client = try HTTPClient(server.address)
        func create(_ hash: RecoveryHash) throws -> TestDevice {
            let device = try TestDevice(recovery: hash)
            #expect(try client.post("/account/create", device.creation(hash).bytes).status == 200)
            return device
        }
        let recovery = try ServerKey.generate()
        let ahead = try create(derivations.recoveryHash(of: recovery.publicKey))
        let same = try create(RecoveryHash(freshDigest()))
        let backup = folder + "/backup"
        let made = try run("backup", "--database", fixture.path, "--to", backup)
        #expect(made.status == 0, "\(made.output)")
        #expect(try mode(backup) == 0o700 && mode(backup + "/accounts.db") == 0o600 && mode(backup + "/keys") == 0o600)
        #expect(
            try run("backup", "--database", fixture.path, "--to", backup).status == 2, "a backup is not overwritten")
        // After the backup one device continues, and another account is made.
        let (rotation, rotated) = try ahead.rotation()
        #expect(try client.post("/device/rotate", rotation.bytes).status == 200)
        let late = try create(RecoveryHash(freshDigest()))
        server.process.end(SIGKILL)
        let refused = try run("restore", "--from", backup, "--database", fixture.path)
        #expect(refused.status == 2 && refused.output.contains("exists"))
        let place = folder + "/restored.db"
        let restored = try run("restore", "--from", backup, "--database", place)
        #expect(restored.status == 0 && restored.output.hasPrefix("Restored 2 accounts"), "\(restored.output)")
        #expect(try mode(place) == 0o600 && mode(place + ".keys") == 0o600)
        let second = try start(place)
        #expect(second.key == server.key)
        let again = try HTTPClient(second.address)
        #expect(try again.post("/device/rotate", same.rotation().0.bytes).status == 200)
        // The device that is ahead is told so, and its user recovers the account.
        #expect(try again.post("/device/rotate", rotated.rotation().0.bytes).text.contains("BA104"))
        let new = try TestDevice(identity: ahead.identity)
        let phrase = try new.recovery(with: recovery, next: RecoveryHash(freshDigest()))
        #expect(try again.post("/account/recover", phrase.bytes).status == 200)
        #expect(try again.post("/device/rotate", new.rotation().0.bytes).status == 200)
        #expect(try again.post("/device/rotate", late.rotation().0.bytes).text.contains("BA103"))
    }

    @Test func `a dump of PostgreSQL is restored, and accounts are as they were at the dump`() throws {
        let pair = try DatabasePair()
        let postgres = pair.postgres
        let socket = folder + "/admin"
        func start(_ database: String) throws -> ServerProcess {
            try ServerProcess(
                [
                    "serve", "--listen", "127.0.0.1:0", "--database", postgres.url(of: database), "--redis",
                    pair.redis.location, "--keys-file", folder + "/keys", "--admin-socket", socket,
                ], folder: folder)
        }
        let server = try start("postgres")
        let client = try HTTPClient(server.address)
        func create(_ recovery: ServerKey) throws -> TestDevice {
            let hash = derivations.recoveryHash(of: recovery.publicKey)
            let device = try TestDevice(recovery: hash)
            #expect(try client.post("/account/create", device.creation(hash).bytes).status == 200)
            return device
        }
        let recovery = try ServerKey.generate()
        let (ahead, same, deleted) = (try create(recovery), try create(recovery), try create(recovery))
        let dump = postgres.folder + "/dump"
        // As the documents say it: both tables in one dump, while the server runs.
        try postgres.program(
            "pg_dump", "-Fc", "-t", "holdfast_accounts", "-t", "holdfast_settings", "-f", dump, postgres.url)
        let (rotation, rotated) = try ahead.rotation()
        #expect(try client.post("/device/rotate", rotation.bytes).status == 200)
        #expect(try client.post("/account/delete", deleted.deletion().bytes).status == 200)
        let late = try create(recovery)
        let rotating = try run("rotate-keys", "--keys-file", folder + "/keys", "--publish-seconds", "0")
        #expect(rotating.status == 0)
        server.process.end(SIGKILL)
        let database = try postgres.makeDatabase()
        try postgres.program("pg_restore", "--exit-on-error", "-d", postgres.url(of: database), dump)
        // The file of keys is later than the dump, which is no fault; Redis is later too.
        let second = try start(database)
        try second.waitUntilReady(says: "ready\n")
        let again = try HTTPClient(second.address)
        #expect(try again.post("/device/rotate", same.rotation().0.bytes).status == 200)
        #expect(try again.post("/device/rotate", rotated.rotation().0.bytes).text.contains("BA104"))
        let new = try TestDevice(identity: ahead.identity)
        let phrase = try new.recovery(with: recovery, next: RecoveryHash(freshDigest()))
        #expect(try again.post("/account/recover", phrase.bytes).status == 200)
        #expect(try again.post("/device/rotate", new.rotation().0.bytes).status == 200)
        #expect(try again.post("/device/rotate", late.rotation().0.bytes).text.contains("BA103"))
        // What was deleted since is there again, until the operator deletes it again.
        #expect(
            try run("accounts", "show", deleted.identity.description, "--admin-socket", socket).output
                .contains("open"))
        #expect(try run("accounts", "delete", deleted.identity.description, "--admin-socket", socket).status == 0)
        #expect(try again.post("/device/rotate", deleted.rotation().0.bytes).text.contains("BA103"))
        second.process.end(SIGTERM)
        // Half a dump is no database: the server says what it lacks, and serves nothing.
        let half = try postgres.makeDatabase()
        try postgres.program(
            "pg_restore", "--exit-on-error", "-t", "holdfast_accounts", "-d", postgres.url(of: half), dump)
        let refused = try run(
            "serve", "--listen", "127.0.0.1:0", "--database", postgres.url(of: half), "--redis", pair.redis.location,
            "--keys-file", folder + "/keys")
        #expect(refused.status == 1 && refused.output.contains("migrate"), "\(refused.output)")
    }

    @Test func `after keys were compromised nothing that they signed counts`() throws {
        let server = try start(fixture.path)
        let client = try HTTPClient(server.address)
        let hash = RecoveryHash(try freshDigest())
        let device = try TestDevice(recovery: hash)
        #expect(try client.post("/account/create", device.creation(hash).bytes).status == 200)
        func open(_ client: HTTPClient) throws -> TestSession {
            let asked = try client.post(
                "/session/request",
                UnsignedMessage(RequestSession.Request(nonce: freshNonce(), identity: device.identity)).bytes)
            let challenge = try SignedMessage<Response<RequestSession>>(parsing: asked.body).payload.body.challenge
            let (opening, current, next) = try TestSession.opening(device, challenge)
            let opened = try client.post("/session/create", opening.bytes)
            let token = try SignedMessage<Response<CreateSession>>(parsing: opened.body).payload.body.token
            return TestSession(current: current, next: next, token: token)
        }
        let session = try open(client)
        let keys = fixture.path + ".keys"
        let rotated = try run("rotate-keys", "--keys-file", keys, "--compromised")
        #expect(rotated.status == 0 && rotated.output.contains("dropped"))
        // The server that runs takes the new keys over.
        let isTaken = try Patience.wait {
            _ = try client.get("/ready")
            return try client.post("/key/response", []).text != server.key
        }
        #expect(isTaken)
        #expect(try client.post("/session/refresh", session.refreshing().0.bytes).text.contains("HF403"))
        let fresh = try open(client)
        #expect(try client.post("/session/refresh", fresh.refreshing().0.bytes).status == 200)
    }

    @Test(arguments: [false, true])
    func `Redis that has forgotten everything ends no account and revives no device`(_ isFlushed: Bool) throws {
        let pair = try DatabasePair()
        let store = try pair.store()
        defer { store.close() }
        let server = try TestServer(store)
        var account = try TestAccount(on: server)
        let second = try account.linked(on: server)
        let session = try TestSession(account.device, on: server)
        let gone = try TestSession(second, on: server)
        let (unlinking, after) = try account.device.unlinking(second.id)
        #expect(try server.send(UnlinkDevice.self, unlinking) == nil)
        account.device = after
        if isFlushed {
            #expect(try Spawned(["redis-cli", "-s", pair.redis.folder + "/redis.sock", "FLUSHALL"]).wait() == 0)
        } else {
            try pair.redis.restart(SIGKILL)
        }
        #expect(try server.refresh(gone).1 == .invalidDevice, "the account's row says so, without Redis")
        #expect(try server.refresh(session).1 == nil)
        #expect(try server.send(RotateDevice.self, account.device.rotation().0) == nil)
    }
}
