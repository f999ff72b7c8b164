import BetterAuthHTTP
import BetterAuthMessages
import BetterAuthServer
import Dispatch
import Foundation
import RealParts
import Synchronization
import TestSupport
import Testing

/// What an operator mistypes, loses or mixes up.
@Suite struct OperatorMistakeTests {
    private let fixture: StoreFixture
    private var folder: String { fixture.folder }
    private var serving: [String] { ["serve", "--listen", "127.0.0.1:0", "--database", fixture.path] }
    private var keys: String { fixture.path + ".keys" }

    init() throws { fixture = try StoreFixture(.memory) }

    private func run(_ arguments: [String]) throws -> (status: Int32, output: String) {
        try runServerCommand(arguments, folder)
    }

    private func start(_ more: String...) throws -> ServerProcess {
        try ServerProcess(serving + more, folder: folder)
    }

    @Test func `a slip makes no file`() throws {
        let busy = try ServerProcess(freshServer(in: folder), folder: folder)
        let before = try Set(FileManager.default.contentsOfDirectory(atPath: folder))
        let missing = folder + "/typo.db"
        for (arguments, status, part) in [
            (["check", "--database", missing], 1, "does not exist"),
            (["vacuum", "--database", missing], 1, "does not exist"),
            (["migrate", "--database", missing], 1, "does not exist"),
            (["rotate-keys", "--keys-file", missing], 1, "does not exist"),
            (["check", "--database", ":memory:"], 2, "write ./:memory:"),
            (["serve", "--listen", "127.0.0.1:0", "--database", ":memory:"], 2, "write ./:memory:"),
            (["serve", "--listen", "127.0.0.1:0", "--database", ":momory:"], 2, "write ./:momory:"),
            (["serve", "--listen", "127.0.0.1:0", "--database", "host=/run dbname=x password=hunter2"], 2, "keywords"),
            (["serve", "--listen", "127.0.0.1:0", "--database", "mysql://x/y"], 2, "no other URL"),
            (["serve", "--listen", "127.0.0.1:0", "--database="], 2, "empty"),
            (["serve", "--listen", busy.address, "--database", missing], 1, "Address already in use"),
        ] as [([String], Int32, String)] {
            let words = ["sh", "-c", "cd \"$0\" && exec \"$@\"", folder]
            let result = try runServerCommand(arguments, folder, before: words)
            #expect(result.status == status && result.output.contains(part), "\(arguments): \(result.output)")
            #expect(!result.output.contains("hunter2"))
            #expect(try Set(FileManager.default.contentsOfDirectory(atPath: folder)) == before, "\(arguments)")
        }
    }

    @Test func `a message says what is wrong, and repeats no secret`() throws {
        let token = String(repeating: "0a1B", count: 12)
        try writeSecret(token + "\n", to: folder + "/token")
        try writeSecret(token + " = x\n", to: folder + "/value")
        try "text".write(toFile: folder + "/text", atomically: true, encoding: .utf8)
        let missing = folder + "/not/there"
        #expect(try run(["init", "--database", fixture.path]).status == 0)
        for (arguments, part) in [
            (["rotate-keys", "--keys-file", folder], "no file of server keys"),
            (["rotate-keys", "--keys-file", folder + "/text"], "no file of server keys"),
            (["restore", "--from", folder, "--database", folder + "/q.db"], "is no backup, or a part of one"),
            (["accounts", "count", "--admin-socket", missing], "check that serve runs with this --admin-socket"),
            (serving + ["--admin-socket", missing], "make this folder, or name a file in another one"),
            (["check-config", folder + "/token"], "/token:1: it has no value"),
            (["check-config", folder + "/value"], "/value:1: this is no name of an option"),
            (["backup", "--database", fixture.path, "--to", missing], folder + "/not: No such file"),
            (["init-chain", "--folder", folder + "/text"], "Not a directory"),
        ] as [([String], String)] {
            let result = try run(arguments)
            #expect(result.status != 0 && result.output.contains(part), "\(arguments): \(result.output)")
            #expect(!result.output.contains("0a1B") && !result.output.contains("unfinished"), "\(result.output)")
        }
    }

    /// A service manager does not start again what ends with 2.
    @Test func `what may be there later is no mistake in the options`() throws {
        let missing = folder + "/not/mounted"
        let scene = try KeyChainScene(folder)
        for (arguments, status, part) in [
            (
                ["serve", "--listen", "no-such-host.invalid:0", "--database", freshDatabase(in: folder)], 1,
                "cannot be found"
            ),
            (["serve", "--listen", "nowhere", "--database", freshDatabase(in: folder)], 2, "not an address"),
            (["serve", "--listen", "127.0.0.1:0", "--database", "@" + missing], 1, "No such file"),
            (["serve", "--config", missing], 1, "No such file"),
            (serving + ["--tls-certificate", missing, "--tls-key", missing], 1, "No such file"),
            (serving + ["--attributes", missing], 1, "No such file"),
            (serving + ["--attributes", folder + "/sign"], 2, "compact JSON"),
            (["hsm", "--listen", "127.0.0.1:0", "--folder", missing] + scene.options.dropFirst(2), 1, "init-chain"),
            (["hsm", "--listen", "127.0.0.1:0"] + scene.options.dropLast() + [missing], 1, "No such file"),
        ] as [([String], Int32, String)] {
            let result = try run(arguments)
            #expect(result.status == status && result.output.contains(part), "\(arguments): \(result.output)")
        }
    }

    /// What a client sends does not fill the log of the keeper, and is counted.
    @Test func `refusals of the key chain's keeper are told now and then, and counted all`() throws {
        let hsm = try KeyChainScene(folder).keeper()
        let client = try HTTPClient(hsm.address)
        var wrong = 0
        for number in 0..<150 {
            let status = try client.post(number % 2 == 0 ? "/sign" : "/rotate", [0x7B]).status
            #expect(status == 401 || status == 429)
            if status == 401 { wrong += 1 }
        }
        let lines = hsm.log.split(separator: "\n").filter { $0.contains(#""event":"refused""#) }
        #expect(
            (1...40).contains(lines.count) && lines.allSatisfy { $0.contains(#""level":"warning""#) }, "\(lines.count)")
        let counted = try HTTPClient(hsm.address).get("/metrics").text.split(separator: "\n")
            .filter { $0.contains(#"code="HF401""#) }.compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }
        #expect(wrong >= 100 && counted.reduce(0, +) == wrong)
    }

    /// Another chain would have another identity, which nobody trusts.
    @Test func `a key chain is begun on purpose only`() throws {
        let scene = try KeyChainScene(folder)
        let hsm = try scene.keeper()
        let before = try Set(FileManager.default.contentsOfDirectory(atPath: folder))
        var options = scene.options
        options[1] = folder + "/chian"
        let slip = try run(["hsm", "--listen", "127.0.0.1:0"] + options)
        #expect(slip.status == 1 && slip.output.contains("init-chain makes one"), "\(slip.output)")
        #expect(try Set(FileManager.default.contentsOfDirectory(atPath: folder)) == before)
        // Keys whose events are lost are no chain either.
        try FileManager.default.createDirectory(atPath: options[1], withIntermediateDirectories: false)
        try FileManager.default.copyItem(atPath: folder + "/chain/keys", toPath: options[1] + "/keys")
        #expect(try run(["hsm", "--listen", "127.0.0.1:0"] + options).status == 1)
        // And are not begun anew: who trusts the lost chain would not trust another one with its keys.
        let lost = try Data(contentsOf: URL(fileURLWithPath: options[1] + "/keys"))
        let anew = try run(["init-chain", "--folder", options[1]])
        #expect(anew.status == 1 && anew.output.contains("events"), "\(anew.output)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: options[1]) == ["keys"])
        #expect(try Data(contentsOf: URL(fileURLWithPath: options[1] + "/keys")) == lost)
        // Its keeper has the chain alone: two would rotate it to different keys.
        let second = try run(["hsm", "--listen", "127.0.0.1:0"] + scene.options)
        #expect(second.status == 1 && second.output.contains("another process has this key chain"), "\(second.output)")
        let again = try run(["init-chain", "--folder", folder + "/chain"])
        #expect(again.status == 0 && again.output == hsm.key + "\n", "\(again.output)")
    }

    /// Without them keys that were compromised would be endorsed again.
    @Test func `a key chain whose endorsed keys are lost is refused, but for one that was never used`() throws {
        let scene = try KeyChainScene(folder)
        let chain = folder + "/chain"
        #expect(try FileManager.default.contentsOfDirectory(atPath: chain).sorted() == ["endorsed", "events", "keys"])
        // An earlier program has made the folder.
        try FileManager.default.removeItem(atPath: chain + "/endorsed")
        let hsm = try scene.keeper()
        #expect(try scene.order("/rotate", generation: 0, of: hsm).status == 200)
        hsm.process.end(SIGTERM)
        try scene.keeper().process.end(SIGTERM)
        try FileManager.default.removeItem(atPath: chain + "/endorsed")
        for arguments in [["hsm", "--listen", "127.0.0.1:0"] + scene.options, ["init-chain", "--folder", chain]] {
            let lost = try run(arguments)
            #expect(lost.status == 1 && lost.output.contains("put a copy of \(chain)/endorsed back"), "\(lost.output)")
        }
    }

    @Test func `damaged events of a key chain are told as such`() throws {
        let scene = try KeyChainScene(folder)
        let events = folder + "/chain/events"
        let whole = try Data(contentsOf: URL(fileURLWithPath: events))
        for bytes in [whole.dropLast(), whole + [0x7D], whole.prefix(1), Data()] {
            try bytes.write(to: URL(fileURLWithPath: events))
            let damaged = try run(["hsm", "--listen", "127.0.0.1:0"] + scene.options)
            let words = "\(events) is damaged; put a copy of it back (GET /hsm/keys of the key service)"
            #expect(damaged.status == 2 && damaged.output.contains(words), "\(damaged.output)")
        }
    }

    @Test func `a pipe in the place of a file is refused, and one that was handed over is read`() throws {
        let (pipe, scene) = (folder + "/pipe", try KeyChainScene(folder))
        try #require(unsafe mkfifo(pipe, 0o600) == 0)
        let hsm = ["hsm", "--listen", "127.0.0.1:0"] + scene.options
        for (arguments, part) in [
            (["check", "--database", "@" + pipe], "is no ordinary file"),
            (["serve", "--config", pipe], "no ordinary file"),
            (serving + ["--attributes", pipe], "is no ordinary file"), (hsm.dropLast() + [pipe], "is no ordinary file"),
            (serving + ["--tls-certificate", pipe, "--tls-key", pipe], "is no ordinary file"),
            (["rotate-keys", "--keys-file", pipe], "no file of server keys"),
        ] as [([String], String)] {
            let result = try run(arguments)
            #expect(result.status == 2 && result.output.contains(part), "\(arguments): \(result.output)")
        }
        for (name, part) in [("endorsed", "is no ordinary file"), ("keys", "no file of server keys")] {
            try FileManager.default.removeItem(atPath: "\(folder)/chain/\(name)")
            try #require(unsafe mkfifo("\(folder)/chain/\(name)", 0o600) == 0)
            let result = try run(hsm)
            #expect(result.status == 2 && result.output.contains(part), "\(name): \(result.output)")
        }
        #expect(try run(["init", "--database", fixture.path]).status == 0)
        let words = ["sh", "-c", "echo \"$0\" | \"$@\"", fixture.path]
        for place in ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"] {
            let read = try runServerCommand(["check", "--database", "@" + place], folder, before: words)
            #expect(read.status == 0, "\(place): \(read.output)")
        }
    }

    @Test func `of key chains that are begun together in one folder there is one`() throws {
        for round in 0..<(TestRun.isSoak ? 50 : 3) {
            let path = "\(folder)/chain-\(round)"
            let found = Mutex<[String]>([])
            DispatchQueue.concurrentPerform(iterations: 8) { [folder] _ in
                let made = try? runServerCommand(["init-chain", "--folder", path], folder)
                found.withLock { $0.append(made.map { $0.status == 0 ? $0.output : "refused" } ?? "failed") }
            }
            let outputs = found.withLock { $0 }
            let identities = outputs.filter { $0 != "refused" }.compactMap { $0.split(separator: "\n").last }
            #expect(outputs.count(where: { $0.hasPrefix("Made ") }) == 1, "\(outputs)")
            let own = try run(["init-chain", "--folder", path])
            #expect(Set(identities) == [own.output.dropLast()], "round \(round): \(outputs)")
        }
    }

    @Test func `init makes what serve then uses, and says so`() throws {
        let made = try run(["init", "--database", fixture.path])
        let lines = made.output.split(separator: "\n").map(String.init)
        #expect(made.status == 0 && lines.prefix(2) == ["Made \(fixture.path).", "Made \(keys)."])
        let again = try run(["init", "--database", fixture.path])
        #expect(again.status == 0 && again.output == lines[2] + "\n")
        let server = try start()
        #expect(server.key == lines[2] && !server.log.contains("\"created\""))
    }

    @Test func `a lost file of keys is not replaced in silence`() throws {
        let first = try start()
        first.process.end(SIGTERM)
        #expect(
            first.log.contains(#""event":"created","database""#) && first.log.contains(#""event":"created","keys""#))
        try FileManager.default.moveItem(atPath: keys, toPath: folder + "/kept")
        let refused = try run(serving)
        #expect(refused.status == 1 && refused.output.contains("--new-keys"), "\(refused.output)")
        #expect(!FileManager.default.fileExists(atPath: keys))
        let renewed = try start("--new-keys")
        #expect(renewed.key != first.key)
        renewed.process.end(SIGTERM)
        try FileManager.default.removeItem(atPath: keys)
        try FileManager.default.copyItem(atPath: folder + "/kept", toPath: keys)
        let foreign = try run(serving)
        #expect(foreign.status == 1 && foreign.output.contains("other keys"), "\(foreign.output)")
        let back = try start("--new-keys")
        #expect(back.key == first.key)
        back.process.end(SIGTERM)
        // An earlier copy lacks the keys that clients have learned since.
        #expect(try run(["rotate-keys", "--keys-file", keys, "--publish-seconds", "0"]).status == 0)
        let rotated = try start()
        rotated.process.end(SIGTERM)
        try FileManager.default.removeItem(atPath: keys)
        try FileManager.default.copyItem(atPath: folder + "/kept", toPath: keys)
        let old = try run(serving)
        #expect(old.status == 1 && old.output.contains("earlier copy"), "\(old.output)")
    }

    @Test func `another file of keys is noticed while a server runs`() throws {
        let server = try start("--address-rate", "0")
        let other = folder + "/other.db"
        #expect(try run(["init", "--database", other]).status == 0)
        try server.waitUntilReady(says: "ready\n")
        try FileManager.default.moveItem(atPath: keys, toPath: folder + "/kept")
        try server.waitUntilReady(says: #""failing":["keys"]"#)
        try FileManager.default.copyItem(atPath: other + ".keys", toPath: keys)
        try server.waitUntilReady(says: #""failing":["keys"]"#)
        #expect(try HTTPClient(server.address).post("/key/response", []).text == server.key)
        try FileManager.default.removeItem(atPath: keys)
        try FileManager.default.moveItem(atPath: folder + "/kept", toPath: keys)
        try server.waitUntilReady(says: "ready\n")
        // One line when it began, one when it ended, however often anybody asked.
        let lines = server.log.split(separator: "\n").filter { $0.contains(#""event":"keys""#) }
        #expect(lines.count == 2, "\(server.log)")
    }

    @Test func `servers that start together on a new file of keys have the same`() throws {
        for round in 0..<(TestRun.isSoak ? 50 : 2) {
            let path = "\(folder)/shared-\(round)"
            let found = Mutex<[String]>([])
            DispatchQueue.concurrentPerform(iterations: 8) { [folder] _ in
                let server = try? ServerProcess(freshServer(in: folder) + ["--keys-file", path], folder: folder)
                found.withLock { $0.append(server?.key ?? "none") }
            }
            let keys = found.withLock { $0 }
            #expect(keys.count == 8 && Set(keys).count == 1 && !keys.contains("none"), "round \(round)")
        }
    }

    /// Writes fail as on a full disk: the server is not ready, says so once, and continues when there is room.
    @Test func `a disk that is full makes the server not ready`() throws {
        let server = try ServerProcess(serving + ServerProcess.unlimited, folder: folder)
        func limit(_ size: String) throws {
            #expect(
                try Spawned(["prlimit", "--pid", "\(server.process.identifier)", "--fsize=\(size):unlimited"]).wait()
                    == 0)
        }
        func create() throws -> HTTPClient.Reply {
            let hash = RecoveryHash(try freshDigest())
            return try HTTPClient(server.address).post(
                "/account/create", TestDevice(recovery: hash).creation(hash).bytes)
        }
        #expect(try create().status == 200)
        try server.waitUntilReady(says: "ready\n")
        try limit("4096")
        for _ in 0..<5 {
            let refused = try create()
            #expect(refused.status == 503 && refused.headers["retry-after"] == "2" && refused.text.contains("HF503"))
        }
        try server.waitUntilReady(says: #""failing":["store"]"#)
        try limit("unlimited")
        try server.waitUntilReady(says: "ready\n")
        #expect(try create().status == 200)
        let lines = server.log.split(separator: "\n").filter { $0.contains(#""event":"store""#) }
        #expect(lines.count == 2 && lines.last?.contains("works again") == true, "\(server.log)")
    }

    @Test func `limits that are too low are named`() throws {
        let few = try ServerProcess(
            freshServer(in: folder), folder: folder,
            before: ["prlimit", "--nofile=512:512"])
        #expect(few.log.contains(#""limit":512,"needed":10256"#) && few.log.contains("LimitNOFILE"))
        let locked = try runServerCommand(
            ["init", "--database", folder + "/locked.db"], folder,
            before: ["setpriv", "--bounding-set=-ipc_lock", "--inh-caps=-all", "--", "prlimit", "--memlock=0"])
        if locked.status != 0 { #expect(locked.output.contains("LimitMEMLOCK"), "\(locked.output)") }
    }

    @Test func `tokens of the key chain are two, and only their owner's`() throws {
        let (sign, admin) = (folder + "/sign", folder + "/admin")
        try writeSecret(String(repeating: "s", count: 40), to: sign)
        try writeSecret(String(repeating: "a", count: 40), to: admin)
        let chain = ["hsm", "--listen", "127.0.0.1:0", "--folder", folder + "/chain", "--sign-token-file", sign]
        for mode in [0o644, 0o666, 0o640] as [mode_t] {
            unsafe chmod(admin, mode)
            let refused = try run(chain + ["--admin-token-file", admin])
            #expect(refused.status == 2 && refused.output.contains("mode 0600"), "\(refused.output)")
        }
        let same = try run(chain + ["--admin-token-file", sign])
        #expect(same.status == 2 && same.output.contains("the same token"))
        #expect(!FileManager.default.fileExists(atPath: folder + "/chain"))
    }

    @Test func `serve outlives the absence of the key chain`() throws {
        let scene = try KeyChainScene(folder)
        let hsm = try scene.keeper()
        let keys = try scene.keys(of: hsm)
        hsm.process.end(SIGTERM)
        let options = ["--address-rate", "0"] + scene.publishing(hsm, keys)
        let server = try ServerProcess(serving + options, folder: folder)
        try server.waitUntilReady(says: #""failing":["key service"]"#)
        let hash = RecoveryHash(try freshDigest())
        let creation = try TestDevice(recovery: hash).creation(hash).bytes
        #expect(try HTTPClient(server.address).post("/account/create", creation).status == 503)
        let back = try scene.keeper(hsm.address)
        try server.waitUntilReady(says: "ready\n")
        #expect(try HTTPClient(server.address).post("/account/create", creation).status == 200)
        // Its keys are published by now: without its keeper and the key service it continues, and stays ready.
        back.process.end(SIGTERM)
        keys.process.end(SIGTERM)
        func metrics() throws -> String { try HTTPClient(server.address).get("/metrics").text }
        #expect(try metrics().contains("holdfast_published_until_timestamp_seconds "))
        #expect(try Patience.wait { try metrics().contains("holdfast_publishing 0\n") })
        // Beyond the second for which an answer of `/ready` holds.
        let end = ContinuousClock.now + .milliseconds(1500)
        while ContinuousClock.now < end {
            #expect(try HTTPClient(server.address).get("/ready").text == "ready\n")
        }
        #expect(try HTTPClient(server.address).post("/account/create", creation).status == 200)
        #expect(server.log.contains(#""event":"publishing""#))
        // One that starts meanwhile has published nothing.
        let late = try ServerProcess(
            freshServer(in: folder) + options, folder: folder)
        try late.waitUntilReady(says: #""failing":["key service"]"#)
    }

    @Test func `what answers GET answers HEAD, and refusals say what helps`() throws {
        let front = try TestFront()
        let client = try HTTPClient(front.front.address)
        for path in ["/health", "/ready", "/key/response", "/metrics"] {
            client.send(Array("HEAD \(path) HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
            let head = try client.head()
            #expect(head.status == 200 && Int(head.headers["content-length"] ?? "") ?? 0 > 0, "\(path)")
        }
        #expect(try client.get("/health").text == "ok\n", "nothing of a body came before")
        let method = try client.get("/device/rotate")
        #expect(method.status == 405 && method.headers["allow"] == "POST")
        client.send(Array("PUT /health HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n".utf8))
        let put = try client.reply()
        #expect(put.status == 405 && put.headers["allow"] == "GET, HEAD, POST" && put.text.contains("HF405"))
        let large = try client.post("/device/rotate", [], headers: "X: \(String(repeating: "x", count: 17_000))\r\n")
        #expect(large.status == 413 && large.text.contains("HF413"))
        #expect(try HTTPClient(front.front.address).get("/metrics").text.contains(#"code="HF413"} 1"#))
        var rates = AuthService.Rates()
        rates.requests = (0.1, 1)
        let limited = try TestFront(rates: rates)
        let impatient = try HTTPClient(limited.front.address)
        #expect(try impatient.get("/ready").status == 200)
        let refused = try impatient.get("/ready")
        #expect(refused.status == 429 && refused.headers["retry-after"] == "10")
    }
}
