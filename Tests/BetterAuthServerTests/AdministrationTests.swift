import BetterAuthMessages
import BetterAuthServer
import Foundation
import RealParts
import ServerSubject
import Testing

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
        // Its sessions of before have ended for good, and new ones begin.
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
        #expect(try change(fixture.store, .endSessions, identity, server.clock) == .committed)
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

    @Test(arguments: [StoreKind.memory, .sqlite])
    func `accounts are counted and listed page by page`(_ kind: StoreKind) throws {
        let fixture = try StoreFixture(kind)
        let administration = AccountAdministration(fixture.store, Lifetimes())
        var changes = RandomChanges(now: TestClock().now)
        while changes.model.count < AccountAdministration.page + 20 {
            let change = try changes.next().0
            _ = try done { fixture.store.apply(change, then: $0) }
        }
        let deleted = changes.model.values.count(where: \.isDeleted)
        let devices = changes.model.values.reduce(0) { $0 + $1.devices.count }
        #expect(
            try administration.answer(.count)
                == #"{"open":\#(changes.model.count - deleted),"locked":0,"deleted":\#(deleted),"devices":\#(devices)}"#
        )
        var (seen, last): (Set<String>, IdentityID?) = ([], nil)
        repeat {
            let page = try #require(ApplicationData(json: administration.answer(.list(last))).members())
            for match in String(decoding: try #require(page["accounts"]).bytes, as: UTF8.self)
                .matches(of: /"identity":"([^"]+)"/)
            { seen.insert(String(match.output.1)) }
            last = page["next"].flatMap { IdentityID(String(decoding: $0.bytes.dropFirst().dropLast(), as: UTF8.self)) }
        } while last != nil
        #expect(seen == Set(changes.model.keys.map(\.description)))
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
                ["accounts"] + words + ["--socket", socket] + (json ? ["--json"] : []), fixture.folder)
        }
        let identity = device.identity.description
        #expect(try ask("count").output == #"{"open":1,"locked":0,"deleted":0,"devices":1}"# + "\n")
        #expect(try ask("count", json: false).output == "deleted: 0\ndevices: 1\nlocked: 0\nopen: 1\n")
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
        #expect(try ask("lock", identity).status == 0)
        #expect(try client.post("/device/rotate", device.rotation().0.bytes).text.contains("BA103"))
        #expect(try ask("show", identity).output.contains(#""state":"locked""#))
        #expect(try ask("unlock", identity).status == 0)
        #expect(try client.post("/device/rotate", device.rotation().0.bytes).status == 200)
        #expect(try ask("end-sessions", identity).status == 0 && ask("delete", identity).status == 0)
        let gone = try ask("lock", identity)
        #expect(gone.status == 1 && gone.output.contains("no such account"))
        #expect(try ask("show", "nobody").status == 2)
        if geteuid() == 0 {
            let stranger = try runServerCommand(
                ["accounts", "count", "--socket", socket], fixture.folder, before: OrdinaryUser.words)
            #expect(stranger.status != 0)
        }
        #expect(!server.log.contains(identity) && server.log.contains(#""change":"lock""#))
        // A second server does not take the socket over, and one that was killed leaves no obstacle.
        let second = try runServerCommand(
            ["serve", "--listen", "127.0.0.1:0", "--database", ":memory:", "--admin-socket", socket], fixture.folder)
        #expect(second.status == 1 && second.output.contains("another server"), "\(second.output)")
        server.process.end(SIGKILL)
        let third = try ServerProcess(serving, folder: fixture.folder)
        #expect(try ask("count").output.contains(#""deleted":1"#))
        third.process.end(SIGTERM)
        #expect(!FileManager.default.fileExists(atPath: socket))
    }
}
