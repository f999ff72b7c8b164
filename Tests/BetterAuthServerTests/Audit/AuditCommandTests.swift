import BetterAuthMessages
import BetterAuthServer
import Dispatch
import Foundation
import RealParts
import TestSupport
import Testing

/// The audit log of a server, as an operator has it.
@Suite struct AuditCommandTests {
    private let fixture: StoreFixture
    private var folder: String { fixture.folder }
    private var log: String { folder + "/audit.log" }
    private var keys: String { fixture.path + ".keys" }

    init() throws { fixture = try StoreFixture(.memory) }

    private func serve(_ more: String..., before words: [String] = []) throws -> ServerProcess {
        try ServerProcess(
            ["serve", "--listen", "127.0.0.1:0", "--database", fixture.path, "--audit-log", log] + more
                + ServerProcess.unlimited,
            folder: folder, before: words)
    }

    private func verify(_ path: String? = nil) throws -> (status: Int32, output: String) {
        try runServerCommand(["audit", "verify", path ?? log, "--keys-file", keys], folder)
    }

    private func show(_ words: String...) throws -> [String] {
        let result = try runServerCommand(["audit", "show", log, "--keys-file", keys] + words, folder)
        #expect(result.status == 0, "\(result.output)")
        return result.output.split(separator: "\n").map(String.init)
    }

    private func create(_ client: HTTPClient, headers: String = "") throws -> (TestDevice, ServerKey) {
        let recovery = try ServerKey.generate()
        let hash = derivations.recoveryHash(of: recovery.publicKey)
        let device = try TestDevice(recovery: hash)
        #expect(try client.post("/account/create", device.creation(hash).bytes, headers: headers).status == 200)
        return (device, recovery)
    }

    @Test func `each operation on an account has a line, and an operator finds those of one account`() throws {
        let socket = folder + "/admin.sock"
        let server = try serve("--audit-addresses", "--trusted-proxy", "127.0.0.1", "--admin-socket", socket)
        let client = try HTTPClient(server.address)
        var (device, recovery) = try create(client, headers: "X-Request-Id: first\r\nX-Forwarded-For: 192.0.2.9\r\n")
        _ = try create(client)
        func post(_ path: String, _ body: [UInt8], _ status: Int = 200) throws {
            let reply = try client.post(path, body)
            #expect(reply.status == status, "\(path): \(reply.text)")
        }
        let rotation = try device.rotation()
        try post("/device/rotate", rotation.0.bytes)
        try post("/device/rotate", rotation.0.bytes)
        try post("/device/rotate", device.rotation().0.bytes, 400)
        device = rotation.1
        let second = try TestDevice(identity: device.identity)
        let (linking, linked) = try device.linking(second.container())
        try post("/device/link", linking.bytes)
        let (unlinking, unlinked) = try linked.unlinking(second.id)
        try post("/device/unlink", unlinking.bytes)
        let asked = try client.post(
            "/session/request",
            UnsignedMessage(RequestSession.Request(nonce: freshNonce(), identity: device.identity)).bytes)
        let challenge = try SignedMessage<Response<RequestSession>>(parsing: asked.body).payload.body.challenge
        let (opening, current, next) = try TestSession.opening(unlinked, challenge)
        let opened = try client.post("/session/create", opening.bytes)
        let token = try SignedMessage<Response<CreateSession>>(parsing: opened.body).payload.body.token
        let session = TestSession(current: current, next: next, token: token)
        try post("/session/refresh", session.refreshing().0.bytes)
        let (changing, changed) = try unlinked.changingRecovery(
            derivations.recoveryHash(of: recovery.publicKey))
        try post("/recovery/change", changing.bytes)
        let new = try TestDevice(identity: device.identity)
        try post("/account/recover", new.recovery(with: recovery, next: RecoveryHash(freshDigest())).bytes)
        _ = changed
        for word in ["show", "lock", "unlock", "end-sessions"] {
            let result = try runServerCommand(
                ["accounts", word, device.identity.description, "--admin-socket", socket], folder)
            #expect(result.status == 0, "\(result.output)")
        }
        try post("/account/delete", new.deletion().bytes)
        #expect(try runServerCommand(["accounts", "count", "--admin-socket", socket], folder).status == 0)
        #expect(
            try runServerCommand(
                ["accounts", "lock", device.identity.description, "--admin-socket", socket], folder
            ).status == 1)
        let shown = try show("--json", "--identity", device.identity.description)
        let operations = shown.compactMap { $0.firstMatch(of: /"operation":"([^"]*)","outcome":"([^"]*)"/)?.output }
            .map { "\($0.1) \($0.2)" }
        #expect(
            operations == [
                "create done", "rotate done", "rotate repeated", "rotate refused", "link done", "unlink done",
                "session-create done", "session-refresh done", "change-recovery done", "recover done",
                "admin-show done",
                "admin-lock done", "admin-unlock done", "admin-end-sessions done", "delete done", "admin-lock refused",
            ])
        #expect(shown[0].contains(#""request":"first","address":"192.0.2.9""#))
        #expect(shown[3].contains(#""code":"BA104""#) && shown.allSatisfy { $0.hasSuffix(#","proved":true}"#) })
        #expect(try show().count == 19)
        #expect(!(try String(contentsOfFile: log, encoding: .utf8)).contains(device.identity.description))
        #expect(try HTTPClient(server.address).get("/metrics").text.contains("holdfast_audit_writable 1"))
        server.process.end(SIGTERM)
        let verified = try verify()
        #expect(verified.status == 0 && verified.output == "20 lines in 1 chains, 0 faults\n", "\(verified.output)")
    }

    @Test func `what was answered before a kill has its line`() throws {
        let answered = Told()
        for _ in 0..<(TestRun.isSoak ? 30 : 3) {
            let server = try serve()
            let address = server.address
            let goal = answered.all.count + 30
            let clients = DispatchGroup()
            for _ in 0..<3 {
                clients.enter()
                Thread {
                    // Until the server is gone.
                    while let client = try? HTTPClient(address) {
                        guard let hash = try? RecoveryHash(freshDigest()), let device = try? TestDevice(recovery: hash),
                            let body = try? device.creation(hash).bytes,
                            let reply = try? client.post("/account/create", body), reply.status == 200
                        else { break }
                        answered.add(device.identity.description)
                    }
                    clients.leave()
                }.start()
            }
            #expect(Patience.wait { answered.all.count >= goal })
            server.process.end(SIGKILL)
            clients.wait()
        }
        let identities = answered.all
        let verified = try verify()
        #expect(verified.output.contains("has no end"), "\(verified.output)")
        // A kill leaves a part of a line at most.
        for line in verified.output.split(separator: "\n") where line.hasPrefix("line ") {
            #expect(line.contains("a part of one"), "\(line)")
        }
        let reader = AuditReader(try KeyFile(keys).load(responseLifetime: 1, accessLifetime: 1).auditKeys)
        let text = try String(contentsOfFile: log, encoding: .utf8)
        for identity in identities {
            let digests = try reader.digests(of: identity)
            #expect(digests.contains { text.contains($0) })
        }
    }

    @Test func `no reply goes out without its line`() throws {
        let server = try serve()
        let client = try HTTPClient(server.address)
        let device = try create(client).0
        // Another program keeps the file's lock: the line cannot be written, though the store has committed.
        let file = unsafe Foundation.open(log, O_RDWR | O_CLOEXEC)
        defer { close(file) }
        #expect(flock(file, LOCK_EX) == 0)
        let rotation = try device.rotation()
        #expect(try client.post("/device/rotate", rotation.0.bytes).status == 503)
        #expect(try client.get("/ready").text.contains("audit log"))
        flock(file, LOCK_UN)
        // The repeat that HF503 asks for is answered, and both have a line.
        var reply = try client.post("/device/rotate", rotation.0.bytes)
        while reply.status == 503 {
            usleep(5000)
            reply = try client.post("/device/rotate", rotation.0.bytes)
        }
        #expect(reply.status == 200)
        let shown = try show("--identity", device.identity.description)
        #expect(shown.map { $0.contains("repeated") } == [false, false, true], "\(shown)")
    }

    @Test func `two servers share a log, and one that is moved away is begun anew at SIGHUP`() throws {
        let first = try serve()
        let second = try ServerProcess(
            freshServer(in: folder) + ["--keys-file", keys, "--audit-log", log],
            folder: folder)
        for _ in 0..<5 {
            _ = try create(HTTPClient(first.address))
            _ = try create(HTTPClient(second.address))
        }
        try FileManager.default.moveItem(atPath: log, toPath: log + ".1")
        for server in [first, second] {
            server.process.signal(SIGHUP)
            try server.waitForLog("\"reloaded\"")
            _ = try create(HTTPClient(server.address))
        }
        first.process.end(SIGTERM)
        second.process.end(SIGTERM)
        let old = try verify(log + ".1")
        #expect(old.status == 0 && old.output == "14 lines in 2 chains, 0 faults\n", "\(old.output)")
        let new = try verify()
        #expect(new.status == 0 && new.output.hasPrefix("6 lines in 2 chains, 0 faults\n"), "\(new.output)")
        #expect(new.output.contains("continues an earlier file"))
    }

    @Test func `servers that start together make one key of the log, and one log`() throws {
        let arguments = ["--keys-file", keys, "--audit-log", log]
        let failed = Told()
        DispatchQueue.concurrentPerform(iterations: 6) { [folder] number in
            do {
                let server = try ServerProcess(freshServer(in: folder) + arguments, folder: folder)
                let hash = RecoveryHash(try freshDigest())
                let body = try TestDevice(recovery: hash).creation(hash).bytes
                let status = try HTTPClient(server.address).post("/account/create", body).status
                if status != 200 { failed.add("\(status)") }
                server.process.end(SIGTERM)
            } catch { failed.add("\(error)") }
        }
        #expect(failed.all == [])
        let verified = try verify()
        #expect(verified.status == 0 && verified.output == "18 lines in 6 chains, 0 faults\n", "\(verified.output)")
        let made = try KeyFile(keys).load(responseLifetime: 1, accessLifetime: 1).auditKeys
        #expect(made.count == 1)
    }

    @Test func `a new key is taken over, and lines of before are still proved`() throws {
        let server = try serve()
        let client = try HTTPClient(server.address)
        let device = try create(client).0
        let rotated = try runServerCommand(["rotate-keys", "--keys-file", keys, "--audit-key"], folder)
        #expect(rotated.status == 0 && rotated.output.contains("audit log"))
        func chains() throws -> Int {
            try String(contentsOfFile: log, encoding: .utf8).ranges(of: #""operation":"begin""#).count
        }
        while try chains() < 2 {
            _ = try client.get("/ready")
            usleep(10_000)
        }
        #expect(try client.post("/device/rotate", device.rotation().0.bytes).status == 200)
        #expect(try client.post("/key/response", []).text == server.key)
        server.process.end(SIGTERM)
        #expect(try verify().status == 0)
        #expect(try show("--identity", device.identity.description).count == 2)
    }

    /// A disk of its own, which really is full.
    private static let canMount =
        (try? Spawned(["unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", NSTemporaryDirectory()]).wait()) == 0

    @Test(
        .enabled(if: canMount, "SKIPPED: no tmpfs can be mounted here, so no disk was full"),
        arguments: [AuditLog.Policy.refuse, .warn])
    func `a full disk is said, and refuses operations or warns`(_ policy: AuditLog.Policy) throws {
        let disk = folder + "/disk"
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
        let path = disk + "/audit.log"
        let server = try ServerProcess(
            freshServer(in: folder) + ["--keys-file", keys, "--audit-log", path]
                + ["--audit-full", policy.rawValue] + ServerProcess.unlimited,
            folder: folder,
            before: [
                "unshare", "-m", "sh", "-c",
                "mount -t tmpfs -o size=64k tmpfs \(disk) && head -c 45056 /dev/zero >\(disk)/ballast && exec \"$0\" \"$@\"",
            ])
        let inside = "/proc/\(server.process.identifier)/root" + disk
        let client = try HTTPClient(server.address)
        var answered = 0
        func createOne() throws -> Int {
            let hash = RecoveryHash(try freshDigest())
            return try client.post("/account/create", TestDevice(recovery: hash).creation(hash).bytes).status
        }
        if policy == .refuse {
            while try createOne() == 200 { answered += 1 }
            #expect(answered > 20)
            #expect(try createOne() == 503)
            let ready = try client.get("/ready")
            #expect(ready.status == 503 && ready.text.contains("audit log"), "\(ready.text)")
            #expect(try client.get("/key/response").status == 200)
        } else {
            for _ in 0..<120 {
                #expect(try createOne() == 200)
                answered += 1
            }
            #expect(try client.get("/ready").status == 200)
        }
        try server.waitForLog(#""event":"audit log""#)
        #expect(server.log.contains("No space left"))
        #expect(try client.get("/metrics").text.contains("holdfast_audit_writable 0"))
        unsafe unlink(inside + "/ballast")
        while try client.get("/metrics").text.contains("holdfast_audit_writable 0") {
            _ = try createOne()
            usleep(5000)
        }
        #expect(try Patience.wait { try createOne() == 200 })
        try server.waitForLog("works again")
        try FileManager.default.copyItem(atPath: inside + "/audit.log", toPath: log)
        // Every operation that was answered has a line, those that waited too: whatever was torn, nothing is missing.
        let verified = try verify()
        #expect(verified.status == 0, "\(verified.output)")
        #expect(try show().filter { $0.contains("create") }.count >= answered)
    }

    @Test func `lines removed from the end are found by a tag that was noted elsewhere`() throws {
        let server = try serve()
        let client = try HTTPClient(server.address)
        for _ in 0..<3 { _ = try create(client) }
        server.process.end(SIGKILL)
        let tag = try #require(try verify().output.firstMatch(of: /last with tag ([0-9a-f]{32})/)?.output.1)
        func check(_ tag: String) throws -> Int32 {
            try runServerCommand(["audit", "verify", log, "--keys-file", keys, "--noted-tag", tag], folder).status
        }
        #expect(try check(String(tag)) == 0)
        #expect(try check(String(repeating: "0", count: 32)) == 3)
        let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
        try (lines.dropLast().joined(separator: "\n") + "\n").write(toFile: log, atomically: true, encoding: .utf8)
        #expect(try verify().status == 0, "by the file alone it is not found")
        #expect(try check(String(tag)) == 3)
        // A tag that was written into the file without the key is none.
        let forged = lines[2].dropLast(34) + tag + "\"}"
        try (lines.dropLast() + [forged]).joined(separator: "\n").appending("\n")
            .write(toFile: log, atomically: true, encoding: .utf8)
        #expect(try check(String(tag)) == 3)
    }

    @Test func `what is wrong with the options is said`() throws {
        let nowhere = try runServerCommand(
            ["serve", "--listen", "127.0.0.1:0", "--database", fixture.path, "--audit-log", folder + "/no/where"],
            folder)
        #expect(nowhere.status == 2 && nowhere.output.contains("--audit-log"), "\(nowhere.output)")
        let other = folder + "/other"
        let server = try ServerProcess(
            freshServer(in: folder) + ["--keys-file", other], folder: folder)
        server.process.end(SIGTERM)
        let none = try runServerCommand(["audit", "verify", log, "--keys-file", other], folder)
        #expect(none.status == 2 && none.output.contains("no key of an audit log"), "\(none.output)")
    }
}
