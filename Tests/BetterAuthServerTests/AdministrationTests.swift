import BetterAuthMessages
import BetterAuthPostgres
import BetterAuthServer
import Foundation
import RealParts
import ServerSubject
import SystemCalls
import Testing

@testable import BetterAuthHTTP
@testable import HoldfastServer

/// What an operator can do to accounts, on every store and while a server runs.
@Suite struct AdministrationTests {
    private func change(
        _ store: any ServerStore, _ what: AccountChange.Administration, _ identity: IdentityID, _ clock: TestClock
    ) throws -> AccountOutcome {
        try done { store.apply(AccountChange(identity: identity, what, moment: clock.now), then: $0) }
    }

    @Test(arguments: StoreKind.allCases)
    func `a locked account does nothing until it is unlocked`(_ kind: StoreKind) throws {
        let fixture = try StoreFixture(kind)
        let server = try TestServer(fixture.store)
        var account = try TestAccount(on: server)
        let identity = account.device.identity
        let session = try TestSession(account.device, on: server)
        let challenge = try server.challenge(identity)
        #expect(try change(fixture.store, .lock, identity, server.clock) == .committed)
        let locked = try #require(try fixture.store.account(identity))
        let row = AccountCoding.encode(locked)
        #expect(locked.isLocked)
        #expect(try unsafe AccountCoding.decode(row.span.bytes) == locked)
        #expect(try server.send(RotateDevice.self, account.device.rotation().0) == .invalidDevice)
        let (opening, _, _) = try TestSession.opening(account.device, challenge)
        #expect(try server.post(CreateSession.path, opening.bytes).code != nil)
        #expect(try server.refresh(session).1 == .invalidDevice)
        let next = RecoveryHash(try freshDigest())
        let recovery = try TestDevice(identity: identity).recovery(with: account.recoveryKey, next: next)
        #expect(try server.send(RecoverAccount.self, recovery) == .invalidHash)
        #expect(try fixture.store.isVoid(account.device.id, of: identity, issuedAt: server.clock.now))
        #expect(try change(fixture.store, .unlock, identity, server.clock) == .committed)
        let (rotation, rotated) = try account.device.rotation()
        #expect(try server.send(RotateDevice.self, rotation) == nil)
        account.device = rotated
        // Its earlier sessions have ended for good, and new ones begin.
        #expect(try server.refresh(session).1 == .invalidDevice)
        server.clock.advance(seconds: 1)
        _ = try TestSession(account.device, on: server)
    }

    @Test(arguments: StoreKind.allCases)
    func `an operator ends sessions and deletes for ever`(_ kind: StoreKind) throws {
        let fixture = try StoreFixture(kind)
        let server = try TestServer(fixture.store)
        let account = try TestAccount(on: server)
        let identity = account.device.identity
        let session = try TestSession(account.device, on: server)
        let ending = AccountChange(identity: identity, endSessionsOf: nil, moment: server.clock.now)
        #expect(try done { fixture.store.apply(ending, then: $0) } == .committed)
        #expect(try server.refresh(session).1 == .invalidDevice)
        server.clock.advance(seconds: 1)
        _ = try TestSession(account.device, on: server)
        #expect(try change(fixture.store, .delete, identity, server.clock) == .committed)
        #expect(try server.send(RotateDevice.self, account.device.rotation().0) == .invalidDevice)
        #expect(try fixture.store.account(identity)?.isDeleted == true)
        for what in AccountChange.Administration.allCases {
            #expect(try change(fixture.store, what, identity, server.clock) == .refused(.plain(.unknownPath)))
        }
    }

    /// The other devices, and what the device opens later, are not touched; application servers hear of it through
    /// Redis.
    @Test(arguments: StoreKind.allCases)
    func `an operator ends the sessions of one device`(_ kind: StoreKind) throws {
        let fixture = try StoreFixture(kind)
        let server = try TestServer(fixture.store)
        var account = try TestAccount(on: server)
        let identity = account.device.identity
        let second = try account.linked(on: server)
        let (lost, kept) = (try TestSession(second, on: server), try TestSession(account.device, on: server))
        func end(_ device: DeviceID) throws -> AccountOutcome {
            let change = AccountChange(identity: identity, endSessionsOf: device, moment: server.clock.now)
            return try done { fixture.store.apply(change, then: $0) }
        }
        #expect(try end(second.id) == .committed)
        let changed = try #require(try fixture.store.account(identity))
        let row = AccountCoding.encode(changed)
        #expect(try unsafe AccountCoding.decode(row.span.bytes) == changed)
        for cut in row.indices {
            let part = Array(row[..<cut])
            let isRefused = unsafe (try? AccountCoding.decode(part.span.bytes)) == nil
            #expect(isRefused, "\(cut)")
        }
        #expect(try fixture.store.isVoid(second.id, of: identity, issuedAt: lost.claims.issuedAt))
        #expect(try !fixture.store.isVoid(account.device.id, of: identity, issuedAt: kept.claims.issuedAt))
        #expect(try server.refresh(lost).1 == .invalidDevice)
        #expect(try server.refresh(kept).1 == nil)
        server.clock.advance(seconds: 1)
        let fresh = try TestSession(second, on: server)
        #expect(try !fixture.store.isVoid(second.id, of: identity, issuedAt: fresh.claims.issuedAt))
        #expect(try server.refresh(fresh).1 == nil)
        // A rotation of the device does not forget it.
        let (rotation, _) = try second.rotation()
        #expect(try server.send(RotateDevice.self, rotation) == nil)
        #expect(try fixture.store.isVoid(second.id, of: identity, issuedAt: lost.claims.issuedAt))
        let stranger = try TestDevice(recovery: RecoveryHash(freshDigest()))
        #expect(try end(stranger.id) == .refused(.invalidDevice(stranger.id, calculated: nil)))
        #expect(try change(fixture.store, .delete, identity, server.clock) == .committed)
        #expect(try end(second.id) == .refused(.plain(.unknownPath)))
    }

    @Test(arguments: [StoreKind.memory, .sqlite, .postgres])
    func `accounts are counted and listed page by page`(_ kind: StoreKind) throws {
        let fixture = try StoreFixture(kind)
        // Other tests make accounts in the shared database at the same time.
        let pair = try kind == .postgres ? DatabasePair.shared() : nil
        var store = fixture.store
        if let pair {
            let url = pair.postgres.url(of: try pair.postgres.makeDatabase())
            try PostgresStore.migrate(url)
            store = PostgresStore(url, try #require(RedisLocation(pair.redis.location)))
        }
        defer { if pair != nil { store.close() } }
        let administration = AccountAdministration(store, Lifetimes())
        var changes = RandomChanges(now: TestClock().now)
        while changes.model.count < AccountAdministration.page + 20 {
            let change = try changes.next().0
            _ = try done { store.apply(change, then: $0) }
        }
        let deleted = changes.model.values.count(where: \.isDeleted)
        let devices = changes.model.values.reduce(0) { $0 + $1.devices.count }
        #expect(
            try administration.answer(.count(after: nil))
                == #"{"open":\#(changes.model.count - deleted),"locked":0,"deleted":\#(deleted),"devices":\#(devices),"unreadable":0}"#
        )
        // In parts, as for millions of them.
        let slow = AccountAdministration(store, Lifetimes(), countedAtOnce: 1)
        let first = try #require(ApplicationData(json: slow.answer(.count(after: nil))).members())
        let end = try #require(first["next"])
        let next = try #require(IdentityID(String(decoding: end.bytes.dropFirst().dropLast(), as: UTF8.self)))
        let rest = try #require(ApplicationData(json: slow.answer(.count(after: next))).members())
        let both = try ["open", "deleted", "locked"].map { name in
            try [first, rest].reduce(0) { sum, part in
                let number = try #require(part[name])
                return try sum + #require(Int(String(decoding: number.bytes, as: UTF8.self)))
            }
        }
        #expect(both == [changes.model.count - deleted, deleted, 0] && rest["next"] == nil)
        // About so many, for the metrics.
        let estimated = try AccountCounts.estimated(store)
        #expect(estimated.deleted == deleted && estimated.open == changes.model.count - deleted)
        var (seen, last): (Set<String>, IdentityID?) = ([], nil)
        repeat {
            let page = try #require(
                ApplicationData(json: administration.answer(.list(last, clockWasAhead: false))).members())
            for match in String(decoding: try #require(page["accounts"]).bytes, as: UTF8.self)
                .matches(of: /"identity":"([^"]+)"/)
            { seen.insert(String(match.output.1)) }
            last = page["next"].flatMap { IdentityID(String(decoding: $0.bytes.dropFirst().dropLast(), as: UTF8.self)) }
        } while last != nil
        #expect(seen == Set(changes.model.keys.map(\.description)))
    }

    /// Neither a damaged account nor a row whose name is no identity ends a list, however many there are.
    @Test(arguments: [StoreKind.sqlite, .postgres])
    func `rows that cannot be read are named, and hide no other`(_ kind: StoreKind) throws {
        let fixture = try StoreFixture(.memory)
        let pair = try kind == .postgres ? DatabasePair.shared() : nil
        let database = try pair?.postgres.makeDatabase() ?? ""
        let store: any ServerStore
        if let pair {
            let url = pair.postgres.url(of: database)
            try PostgresStore.migrate(url)
            store = PostgresStore(url, try #require(RedisLocation(pair.redis.location)))
        } else {
            store = try SQLiteStore(fixture.path)
        }
        func run(_ statements: String) throws {
            if let pair { return try pair.postgres.run(statements, in: database) }
            let script = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.executescript(sys.argv[2])"
            #expect(try Spawned(["python3", "-c", script, fixture.path, statements]).wait() == 0)
        }
        defer { store.close() }
        let server = try TestServer(store)
        let accounts = try (0..<3).map { _ in try TestAccount(on: server) }
        let identities = accounts.map(\.device.identity).sorted { $0.rawBytes.lexicographicallyPrecedes($1.rawBytes) }
        let (damaged, last) = (identities[1], identities[2])
        func hex(_ bytes: [UInt8]) -> String {
            bytes.map { String(UInt16($0) | 0x100, radix: 16).dropFirst() }.joined()
        }
        let isFile = kind == .sqlite
        func blob(_ text: String) -> String { isFile ? "x'\(text)'" : "'\\x\(text)'" }
        let (table, column) = isFile ? ("accounts", "row") : ("holdfast_accounts", "contents")
        try run("UPDATE \(table) SET \(column) = \(blob("0102")) WHERE identity = \(blob(hex(damaged.rawBytes)))")
        // More than a page of them, behind the last account.
        let strange =
            isFile ? "x'FFFF' || CAST(printf('%06d', i) AS BLOB)" : "('\\xffff'::bytea || lpad(i::text, 6, '0')::bytea)"
        let version = isFile ? "" : "1, "
        try run(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)
            INSERT INTO \(table) SELECT \(isFile ? "CAST(\(strange) AS BLOB)" : strange), \(version)\(blob("01")) FROM n
            """)
        let administration = AccountAdministration(store, Lifetimes())
        let counted = try administration.answer(.count(after: nil))
        #expect(counted == #"{"open":2,"locked":0,"deleted":0,"devices":2,"unreadable":601}"#)
        let listed = try administration.answer(.list(nil, clockWasAhead: false))
        #expect(listed.contains(#"{"identity":"\#(damaged)","state":"unreadable"}"#))
        #expect(listed.ranges(of: #""state":"open","devices":1"#).count == 2)
        #expect(listed.hasSuffix(#"],"next":"\#(last)"}"#) && !listed.contains(#""row":"#))
        let rest = try administration.answer(.list(last, clockWasAhead: false))
        #expect(rest.contains(#"{"row":"ffff303030303031","state":"unreadable"}"#))
        #expect(rest.ranges(of: #""row":"#).count == 600 && !rest.contains("next"))
        #expect(try AccountCounts.estimated(store).open == 2)
    }

    @Test func `a list for people and a check name the account that cannot be read`() throws {
        let fixture = try StoreFixture(.memory)
        let socket = fixture.folder + "/admin.sock"
        let serving = ["serve", "--listen", "127.0.0.1:0", "--database", fixture.path, "--admin-socket", socket]
        let first = try ServerProcess(serving, folder: fixture.folder)
        let devices = try (0..<2).map { _ in try TestDevice.registered(over: HTTPClient(first.address)) }
        first.process.end(SIGTERM)
        let names = devices.map(\.identity).sorted { $0.rawBytes.lexicographicallyPrecedes($1.rawBytes) }
        // The first one, which a table takes its columns from.
        let script = """
            import sqlite3, sys
            c = sqlite3.connect(sys.argv[1])
            first = c.execute('SELECT min(identity) FROM accounts').fetchone()
            c.execute("UPDATE accounts SET row = x'01' WHERE identity = ?", first)
            c.commit()
            """
        #expect(try Spawned(["python3", "-c", script, fixture.path]).wait() == 0)
        let second = try ServerProcess(serving, folder: fixture.folder)
        func ask(_ word: String) throws -> (status: Int32, output: String) {
            try runServerCommand(["accounts", word, "--admin-socket", socket], fixture.folder)
        }
        let table = "identity".padding(toLength: 44, withPad: " ", startingAt: 0)
        let listed = try ask("list")
        #expect(
            listed.output == """
                accounts:
                \(table)  state       devices
                \(names[0])  unreadable
                \(names[1])  open        1

                """, "\(listed.output)")
        #expect(try ask("count").output == "deleted: 0\ndevices: 1\nlocked: 0\nopen: 1\nunreadable: 1\n")
        second.process.end(SIGTERM)
        let checked = try runServerCommand(["check", "--database", fixture.path], fixture.folder)
        #expect(checked.status == 3 && checked.output.contains("cannot be read: 1 of 2\n"), "\(checked.output)")
        #expect(checked.output.contains("cannot be read: \(names[0])\n"), "\(checked.output)")
    }

    /// Identities that somebody chose lie where they want, and another process may tell any number.
    @Test func `numbers of accounts that are beyond all bounds are the largest`() throws {
        let account = Account(recoveryHash: nil, voidBefore: .never, devices: [])
        let found = (0..<1000).map { number in
            let bytes =
                [UInt8](repeating: 0, count: 7) + [number == 999 ? 1 : 0]
                + (0..<24).map { _ in UInt8(number & 0xFF) }
            return StoredAccount(name: bytes, account: account)
        }
        let counts = AccountCounts.estimated(found)
        #expect(counts.deleted == .max && counts.open == 0)
        var sum = counts
        sum.add(counts)
        #expect(sum == counts && sum.all == .max)
    }

    @Test func `each deed of an operator has a name of its own in the logs`() throws {
        let (identity, device) = (IdentityID(try freshDigest()), DeviceID(try freshDigest()))
        let requests: [AccountAdministration.Request] =
            [.count(after: nil), .list(nil, clockWasAhead: false), .show(identity), .export(identity)]
            + [nil, device].flatMap { device in
                [false, true].map { .endSessions(identity, device, clockWasAhead: $0) }
            }
            + AccountChange.Administration.allCases.map { .change($0, identity) }
        #expect(Set(requests.map(\.deed)).count == requests.count)
        #expect(Set(requests.compactMap(\.changes)).count == AccountChange.Administration.allCases.count + 4)
    }

    @Test func `of a change that the store may have made the logs say that it is unknown`() throws {
        let fixture = try StoreFixture(.memory)
        let (socket, audit) = (fixture.folder + "/admin.sock", fixture.folder + "/audit.log")
        let output = fixture.folder + "/log"
        let descriptor = unsafe open(output, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        defer { close(descriptor) }
        let key = try AuditKey.generate()
        let trail = try AuditLog(audit, key, .refuse) { _ in }
        let server = AdminServer(
            socket, AccountAdministration(AwayStore(), Lifetimes()), ServerLog(.notice, descriptor: descriptor),
            audit: AuditTrail(trail, hasAddresses: false))
        try server.open(replaces: false)
        let identity = IdentityID(try freshDigest()).description
        for word in ["lock", "show"] {
            let asked = try runServerCommand(
                ["accounts", word, identity, "--admin-socket", socket], fixture.folder)
            #expect(asked.status == 1 && asked.output.contains("out for lunch"), "\(asked.output)")
        }
        server.close()
        trail.close()
        let lines = try String(contentsOfFile: output, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 1 && lines[0].contains(#""level":"error","event":"administration","change":"lock""#))
        let written = try String(contentsOfFile: audit, encoding: .utf8)
        #expect(written.contains(#""operation":"admin-lock","outcome":"unknown""#), "\(written)")
        #expect(written.contains(#""operation":"admin-show","outcome":"unknown""#))
    }

    /// Neither one that asks for nothing nor one that sends a byte now and then.
    @Test(arguments: [0, 1]) func `who connects and asks nothing holds no end up`(_ bytes: Int) throws {
        let fixture = try StoreFixture(.memory)
        let socket = fixture.folder + "/admin.sock"
        let server = AdminServer(socket, AccountAdministration(fixture.store, Lifetimes()), ServerLog(.error))
        try server.open(replaces: false)
        // The first is being read from, the second waits its turn.
        let clients = try (0..<2).map { _ in try LocalSocket.connect(socket, patience: 15) }
        defer { clients.forEach { close($0) } }
        for client in clients where bytes > 0 { #expect(unsafe send(client, "c", 1, 0) == 1) }
        let isOver = Answer<Bool>()
        Thread {
            server.close()
            isOver.give(true)
        }.start()
        var byte: UInt8 = 0
        // What it hears, long before it would give up: that this is no request, or the end.
        for client in clients { #expect(unsafe recv(client, &byte, 1, 0) >= 0 || errno == ECONNRESET) }
        #expect(isOver.wait())
        server.close()
    }

    @Test func `the commands work while a server runs, for its user alone`() throws {
        let fixture = try StoreFixture(.memory)
        let socket = fixture.folder + "/admin.sock"
        let serving = [
            "serve", "--listen", "127.0.0.1:0", "--database", fixture.path, "--admin-socket", socket, "--log", "notice",
        ]
        let server = try ServerProcess(serving, folder: fixture.folder)
        let mode = try FileManager.default.attributesOfItem(atPath: socket)[.posixPermissions] as? NSNumber
        #expect(mode?.intValue == 0o600)
        let client = try HTTPClient(server.address)
        let hash = RecoveryHash(try freshDigest())
        let device = try TestDevice(recovery: hash)
        #expect(try client.post("/account/create", device.creation(hash).bytes).status == 200)
        func ask(_ words: String..., json: Bool = true) throws -> (status: Int32, output: String) {
            try runServerCommand(
                ["accounts"] + words + ["--admin-socket", socket] + (json ? ["--json"] : []), fixture.folder)
        }
        let identity = device.identity.description
        #expect(try ask("count").output == #"{"open":1,"locked":0,"deleted":0,"devices":1,"unreadable":0}"# + "\n")
        #expect(try ask("count", json: false).output == "deleted: 0\ndevices: 1\nlocked: 0\nopen: 1\nunreadable: 0\n")
        #expect(try ask("list").output.contains(identity))
        let table = "accounts:\n\("identity".padding(toLength: 44, withPad: " ", startingAt: 0))  state  devices\n"
        #expect(try ask("list", json: false).output == table + "\(identity)  open   1\n")
        let shown = try ask("show", identity)
        #expect(shown.status == 0 && shown.output.contains(device.id.description))
        #expect(!shown.output.contains(device.current.publicKey.description))
        let export = try ask("export", identity)
        for part in [device.current.publicKey.description, hash.description, device.rotationHash.description] {
            #expect(export.output.contains(part))
        }
        // For people with a line for each member, and the same for programs.
        let shownExport = try ask("export", identity, json: false).output
        #expect(shownExport.hasPrefix("{\n  \"identity\": \"\(identity)\",\n"))
        let compact = shownExport.split(separator: "\n").map { $0.drop { $0 == " " }.replacing("\": ", with: "\":") }
            .joined()
        #expect(compact + "\n" == export.output)
        let session = try TestSession.opened(device, over: client)
        #expect(try ask("end-sessions", identity, device.id.description).status == 0)
        #expect(try client.post("/session/refresh", session.refreshing().0.bytes).text.contains("BA103"))
        let strange = try ask("end-sessions", identity, identity)
        #expect(strange.status == 1 && strange.output.contains("no such device"), "\(strange.output)")
        #expect(try ask("end-sessions", identity, "phone").status == 2)
        #expect(try ask("show", identity).output.contains(#""sessionsBefore":"20"#))
        #expect(try ask("lock", identity).status == 0)
        #expect(try client.post("/device/rotate", device.rotation().0.bytes).text.contains("BA103"))
        #expect(try ask("show", identity).output.contains(#""state":"locked""#))
        #expect(try ask("unlock", identity).status == 0)
        #expect(try client.post("/device/rotate", device.rotation().0.bytes).status == 200)
        #expect(try ask("end-sessions", identity).status == 0 && ask("delete", identity).status == 0)
        let gone = try ask("lock", identity)
        #expect(gone.status == 1 && gone.output.contains("no such account"))
        #expect(try ask("show", "nobody").status == 2)
        // The server's own configuration says where it answers.
        let configuration = fixture.folder + "/server.conf"
        try "listen = 127.0.0.1:0\ndatabase = \(fixture.path)\nadmin-socket = \(socket)\n".write(
            toFile: configuration, atomically: true, encoding: .utf8)
        let configured = try runServerCommand(["accounts", "count", "--config", configuration], fixture.folder)
        #expect(configured.status == 0 && configured.output.contains("deleted: 1"), "\(configured.output)")
        let variable = try runServerCommand(
            ["accounts", "count"], fixture.folder, ["HOLDFAST_SERVER_ADMIN_SOCKET": socket])
        #expect(variable.status == 0, "\(variable.output)")
        if geteuid() == 0 {
            let stranger = try runServerCommand(
                ["accounts", "count", "--admin-socket", socket], fixture.folder, before: OrdinaryUser.words)
            #expect(stranger.status != 0)
        }
        // What was refused was not done.
        let told = server.log.matches(of: /"event":"administration","change":"([^"]*)"/).map(\.output.1)
        #expect(told == ["end-device-sessions", "lock", "unlock", "end-sessions", "delete"], "\(server.log)")
        #expect(!server.log.contains(identity))
        // A second server does not take the socket over, and one that was killed leaves no obstacle.
        let second = try runServerCommand(
            freshServer(in: fixture.folder) + ["--admin-socket", socket], fixture.folder)
        #expect(second.status == 1 && second.output.contains("another server"), "\(second.output)")
        server.process.end(SIGKILL)
        let third = try ServerProcess(serving, folder: fixture.folder)
        #expect(try ask("count").output.contains(#""deleted":1"#))
        third.process.end(SIGTERM)
        #expect(!FileManager.default.fileExists(atPath: socket))
    }
}
