import BetterAuth
import BetterAuthMessages
import BetterAuthServer
import Foundation
import RealParts
import TestSupport
import Testing

@testable import HoldfastServer

/// The built command as an operator runs it.
final class ServerProcess {
    static let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .appending(path: "holdfast-server").path
    /// Options with which no address is limited.
    static let unlimited = ["--address-rate", "0"]

    let process: Spawned
    let address: String
    let scheme: String
    let key: String
    private let output: String

    init(
        _ arguments: [String], folder: String, environment: [String: String] = [:], before words: [String] = [],
        passing socket: Int32? = nil
    ) throws {
        output = "\(folder)/output-\(UUID().uuidString.prefix(8))"
        let file = unsafe open(output, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(file) }
        process = try Spawned(
            words + [Self.program] + arguments, environment: environment, output: file, passing: socket)
        while true {
            let text = try String(contentsOfFile: output, encoding: .utf8)
            if let line = text.split(separator: "\n").first(where: { $0.hasPrefix("ready ") }), text.contains("\n") {
                let words = line.split(separator: " ")
                let url = words[1].split(separator: "/")
                scheme = String(url[0].dropLast())
                address = String(url[1])
                key = String(words[2])
                return
            }
            guard process.isRunning else { throw HTTPClient.Problem(description: text) }
            usleep(2000)
        }
    }

    /// The example application beside servers that have the keys in this file.
    static func app(trusting keys: String, folder: String, _ more: [String] = []) throws -> ServerProcess {
        let found = try KeyFile(keys).load(responseLifetime: 1, accessLifetime: 1)
        let key = found.accessKey(now: SystemClock().now).publicKey.description
        return try ServerProcess(["app", "--listen", "127.0.0.1:0", "--access-key", key] + more, folder: folder)
    }

    /// Waits for what `/ready` says.
    func waitUntilReady(says part: String) throws {
        var last = ""
        let isThere = try Patience.wait {
            last = try HTTPClient(address).get("/ready").text
            return last.contains(part)
        }
        guard !isThere else { return }
        throw HTTPClient.Problem(description: "not \(part) but \(last); \(log)")
    }

    /// Waits for a part of the log.
    func waitForLog(_ part: String) throws {
        guard !Patience.wait(until: { log.contains(part) }) else { return }
        throw HTTPClient.Problem(description: "no \(part) in \(log)")
    }

    var log: String { (try? String(contentsOfFile: output, encoding: .utf8)) ?? "" }
}

/// A file for a database that no server has had.
func freshDatabase(in folder: String) -> String { "\(folder)/served-\(UUID().uuidString.prefix(8)).db" }

/// The words of a server of its own.
func freshServer(in folder: String) -> [String] {
    ["serve", "--listen", "127.0.0.1:0", "--database", freshDatabase(in: folder)]
}

/// Runs the built command to its end.
func runServerCommand(
    _ arguments: [String], _ folder: String, _ environment: [String: String] = [:], before words: [String] = []
) throws -> (status: Int32, output: String) {
    let path = "\(folder)/result-\(UUID().uuidString.prefix(8))"
    let file = unsafe open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    defer {
        close(file)
        unsafe unlink(path)
    }
    let status = try Spawned(words + [ServerProcess.program] + arguments, environment: environment, output: file)
        .wait()
    return (status, try String(contentsOfFile: path, encoding: .utf8))
}

/// A certificate for this machine, and its key.
func makeCertificate(_ certificate: String, _ key: String) throws {
    let status = try Spawned([
        "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
        key, "-out", certificate, "-days", "2", "-subj", "/CN=localhost", "-addext",
        "subjectAltName=IP:127.0.0.1,IP:127.0.0.77",
    ]).wait()
    #expect(status == 0)
}

extension ServerProcess {
    /// Whether Python's client gets an answer from it when it trusts this certificate alone.
    func isTrusted(_ certificate: String) throws -> Bool {
        let program = """
            import ssl, sys, urllib.request
            context = ssl.create_default_context(cafile='\(certificate)')
            text = urllib.request.urlopen(
                'https://\(address)/key/response', data=b'', context=context, timeout=\(Patience.seconds)).read()
            sys.exit(0 if text == b'\(key)' else 1)
            """
        return try Spawned(["python3", "-c", program]).wait() == 0
    }
}

extension ServerProcess {
    /// What `/ready` says over TLS, behind its status.
    func readiness() throws -> String {
        let program = """
            import ssl, sys, urllib.error, urllib.request
            context = ssl._create_unverified_context()
            try:
                reply = urllib.request.urlopen('https://\(address)/ready', context=context, timeout=\(Patience.seconds))
            except urllib.error.HTTPError as error:
                reply = error
            sys.stdout.write(f'{reply.status} {reply.read().decode()}')
            """
        let folder = try ScratchFolder("readiness")
        let file = unsafe open(folder["said"], O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(file) }
        #expect(try Spawned(["python3", "-c", program], output: file).wait() == 0)
        return try String(contentsOfFile: folder["said"], encoding: .utf8)
    }
}

/// Writes a file that only its owner reads.
func writeSecret(_ text: String, to path: String) throws {
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    unsafe chmod(path, 0o600)
}

@Suite struct ServerCommandTests {
    private func run(
        _ arguments: [String], _ folder: String, _ environment: [String: String] = [:]
    ) throws -> (status: Int32, output: String) {
        try runServerCommand(arguments, folder, environment)
    }

    @Test func `a server does not start without a library that it may need`() throws {
        let fixture = try ScratchFolder("libraries")
        try "no library".write(toFile: fixture["libtss2-rc.so.0"], atomically: true, encoding: .utf8)
        let words = freshServer(in: fixture.path)
        let broken = try run(words, fixture.path, ["LD_LIBRARY_PATH": fixture.path])
        #expect(broken.status == 127 && broken.output.contains("error while loading libtss2-rc.so.0: "))
        #expect(!FileManager.default.fileExists(atPath: words[words.count - 1]))
    }

    @Test func aServerStopsAndGoesOn() throws {
        let fixture = try StoreFixture(.memory)
        let arguments = ["serve", "--listen", "127.0.0.1:0", "--database", fixture.path]
        let first = try ServerProcess(arguments, folder: fixture.folder)
        #expect(first.scheme == "http" && PublicKeyText(first.key) != nil)
        let client = try HTTPClient(first.address)
        #expect(try client.post("/key/response", []).text == first.key)
        let hash = RecoveryHash(try freshDigest())
        let device = try TestDevice(recovery: hash)
        #expect(try client.post("/account/create", device.creation(hash).bytes).status == 200)
        kill(first.process.identifier, SIGTERM)
        #expect(first.process.wait() == 0)
        #expect(!first.log.contains(device.identity.description))
        let check = try run(["check", "--database", fixture.path], fixture.folder)
        #expect(check.status == 0 && check.output.hasPrefix("1 accounts (0 deleted), 1 devices, "))
        #expect(try run(["vacuum", "--database", fixture.path], fixture.folder).status == 0)
        #expect(try run(["migrate", "--database=\(fixture.path)"], fixture.folder).output == "Already at version 4.\n")
        let second = try ServerProcess(arguments, folder: fixture.folder)
        #expect(second.key == first.key)
        #expect(try HTTPClient(second.address).post("/device/rotate", device.rotation().0.bytes).status == 200)
        #expect(try run(["check", "--database", fixture.path], fixture.folder).status == 1)
        let mode = try FileManager.default.attributesOfItem(atPath: fixture.path + ".keys")[.posixPermissions]
        #expect((mode as? NSNumber)?.intValue == 0o600)
    }

    @Test func keysAreRotatedInTheirFile() throws {
        let fixture = try StoreFixture(.memory)
        let keys = fixture.folder + "/keys"
        let arguments =
            freshServer(in: fixture.folder) + [
                "--keys-file", keys,
            ]
        let first = try ServerProcess(arguments, folder: fixture.folder)
        first.process.end(SIGTERM)
        #expect(try run(["rotate-keys", "--keys-file", keys, "--publish-seconds", "0"], fixture.folder).status == 0)
        let second = try ServerProcess(arguments, folder: fixture.folder)
        #expect(second.key != first.key)
        second.process.end(SIGTERM)
        unsafe chmod(keys, 0o644)
        let exposed = try run(arguments, fixture.folder)
        #expect(exposed.status == 2 && exposed.output.contains("can be read by other users"))
    }

    /// Sealed by a TPM the keys are those of one machine: a copy of the file is worth nothing elsewhere.
    @Test(.enabled(if: SoftwareTPM.isInstalled, "swtpm is not installed: keys in a TPM are not tested"))
    func keysRestInAChip() throws {
        let fixture = try StoreFixture(.memory)
        let (chip, another) = (try SoftwareTPM(), try SoftwareTPM())
        let (here, there) = (["HOLDFAST_TPM": chip.location], ["HOLDFAST_TPM": another.location])
        let keys = fixture.folder + "/keys"
        let plain = freshServer(in: fixture.folder) + ["--keys-file", keys]
        let sealed = plain + ["--keys-in", "tpm"]
        let rotation = ["rotate-keys", "--keys-file", keys, "--keys-in", "tpm", "--publish-seconds"]
        func key() throws -> String {
            let server = try ServerProcess(sealed, folder: fixture.folder, environment: here)
            server.process.end(SIGTERM)
            return server.key
        }
        // Those that lay open before are refused, and sealed with the next rotation; they stay in use meanwhile.
        let first = try ServerProcess(plain, folder: fixture.folder)
        first.process.end(SIGTERM)
        let open = try run(sealed, fixture.folder, here)
        #expect(open.status == 2 && open.output.contains("not sealed"))
        #expect(try run(rotation + ["3600"], fixture.folder, here).status == 0)
        let file = try Data(contentsOf: URL(fileURLWithPath: keys))
        #expect(file.starts(with: Data("HOLDFAST SEALED KEYS 1\n".utf8)))
        #expect(try key() == first.key)
        try chip.cutPower()
        #expect(try key() == first.key, "nothing rests in the chip")
        #expect(try run(rotation + ["0"], fixture.folder, here).status == 0)
        #expect(try key() != first.key)
        let elsewhere = try run(sealed, fixture.folder, there)
        #expect(elsewhere.status == 1 && elsewhere.output.contains("another TPM"))
        #expect(try run(rotation + ["0"], fixture.folder, there).status == 1)
        let forgotten = try run(plain, fixture.folder, here)
        #expect(forgotten.status == 2 && forgotten.output.contains("start with --keys-in tpm"))
        let nowhere = try run(sealed, fixture.folder, ["HOLDFAST_TPM": "swtpm:path=\(fixture.folder)/nothing"])
        #expect(nowhere.status == 1 && !nowhere.output.contains("ready"))
        // The first start of all makes keys that are never in the clear, those of a chain too.
        let (token, other) = (fixture.folder + "/token", fixture.folder + "/other")
        try writeSecret(String(repeating: "t", count: 40), to: token)
        try writeSecret(String(repeating: "u", count: 40), to: other)
        let chain = [
            "hsm", "--listen", "127.0.0.1:0", "--folder", fixture.folder, "--sign-token-file", token,
            "--admin-token-file", other, "--keys-in", "tpm",
        ]
        try FileManager.default.removeItem(atPath: keys)
        let begun = ["init-chain", "--folder", fixture.folder, "--keys-in", "tpm"]
        #expect(try run(begun, fixture.folder, here).status == 0)
        let keeper = try ServerProcess(chain, folder: fixture.folder, environment: here)
        keeper.process.end(SIGTERM)
        #expect(try Data(contentsOf: URL(fileURLWithPath: keys)).starts(with: Data("HOLDFAST SEALED KEYS 1\n".utf8)))
        let again = try ServerProcess(chain, folder: fixture.folder, environment: here)
        #expect(again.key == keeper.key)
    }

    @Test func commandLinesAreChecked() throws {
        let fixture = try StoreFixture(.memory)
        for (arguments, part) in [
            ([], "no command was given"), (["serv"], "unknown command serv; did you mean serve?"),
            (["serve", "--listen", "127.0.0.1:0"], "--database: missing; serve needs --database WHERE"),
            (["serve", "--nonsense"], "unknown option"),
            (["serve", "--databse", "x"], "unknown option --databse; did you mean --database?"),
            (["serve", "--database", "x", "--database", "y"], "--database is repeated"),
            (["serve", "--database", "x"], "--listen: missing; serve needs --listen HOST:PORT"),
            (
                ["serve", "--database", "x", "--listen", "x", "--access-seconds", "0"],
                "--access-seconds TIME: the value must be a time from 1s to 365d"
            ),
            (["serve", "--database", "x", "--listen", "x", "--connections=+2"], "must be a whole number from 1 to"),
            // One option limits all that an address may ask.
            (["serve", "--database", "x", "--listen", "x", "--creation-rate", "0"], "unknown option --creation-rate"),
            (
                ["serve", "--database", "x", "--listen", "x", "--address-rate=1e3"],
                "must be a number of requests"
            ),
            (["serve", "--database", "postgres://x/y", "--listen", "127.0.0.1:0"], "--keys-file is required"),
            (
                ["serve", "--database", "x", "--listen", "127.0.0.1:0", "--tls-key", "/x"],
                "--tls-key: it also requires --tls-certificate"
            ),
            (["app", "--listen", "127.0.0.1:0"], "--keys: missing\n--trust: missing\n"),
            (
                ["rotate-keys", "--keys-file", "/x", "--keys-in", "cloud"],
                "--keys-in PLACE: the value must be one of: file, tpm"
            ),
            (["check", "--database", "postgres://u:hunter2@x/y"], "--database: this URL contains a password"),
            (["check", "--database", "postgres://u@x/y?password=hunter2"], "--database: this URL contains a password"),
            (["check", "--database", "postgres://u:hunt/er2@x/y"], "--database: this URL contains a password"),
            (["check", "--database", "postgres://u:hunt?er2#@x/y"], "--database: this URL contains a password"),
            (["check", "--database", "postgres://u:hunter2@@x/y"], "--database: this URL contains a password"),
            (
                [
                    "serve", "--listen", "127.0.0.1:0", "--keys-file", fixture.folder + "/k", "--database",
                    "postgres://x/y", "--redis",
                    "redis://:hunter2@x",
                ], "--redis: this URL contains a password"
            ),
        ] {
            let result = try run(arguments, fixture.folder)
            #expect(!result.output.contains("hunter2"), "\(arguments)")
            #expect(result.status == 2 && result.output.contains(part), "\(arguments): \(result.output)")
            // What is judged has the place where it stands.
            #expect(result.output.hasPrefix("holdfast-server: ") || result.output.hasPrefix("--"))
            // Of these two options are missing.
            let lines = part.hasPrefix("--keys-file is required") || part.hasPrefix("--keys: missing") ? 2 : 1
            #expect(result.output.split(separator: "\n").count == lines, "\(result.output)")
        }
        #expect(try run(["serve", "--database", "x", "--listen", "nowhere"], fixture.folder).status == 2)
        let version = try run(["--version"], fixture.folder)
        #expect(version.status == 0 && version.output == "holdfast-server \(ServerEntry.version)\n")
        for arguments in [["--help"], ["-h"], ["help"]] {
            let help = try run(arguments, fixture.folder)
            #expect(help.status == 0 && help.output.contains("\nUsage: holdfast-server COMMAND ...\n"), "\(arguments)")
        }
    }

    @Test func tls() throws {
        let fixture = try StoreFixture(.memory)
        let (certificate, key) = (fixture.folder + "/certificate.pem", fixture.folder + "/key.pem")
        try makeCertificate(certificate, key)
        let server = try ServerProcess(
            freshServer(in: fixture.folder) + [
                "--tls-certificate", certificate,
                "--tls-key", key,
            ], folder: fixture.folder)
        #expect(server.scheme == "https")
        #expect(try server.isTrusted(certificate))
        // What openssl's own client can agree on with it, though it is told to take everything.
        func agrees(_ options: String...) throws -> Bool {
            try Spawned(
                ["openssl", "s_client", "-connect", server.address, "-brief", "-cipher", "ALL:@SECLEVEL=0"] + options
            ).wait() == 0
        }
        #expect(try agrees("-tls1_3") && agrees("-tls1_2"))
        #expect(try !agrees("-tls1_1") && !agrees("-tls1"))
        for cipher in ["AES128-GCM-SHA256", "ECDHE-ECDSA-AES128-SHA256", "ECDHE-ECDSA-AES128-SHA", "DES-CBC3-SHA"] {
            #expect(try !agrees("-tls1_2", "-cipher", "\(cipher):@SECLEVEL=0"), "\(cipher)")
        }
        #expect(try agrees("-tls1_2", "-cipher", "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256"))
    }

    /// Every lifetime is one of seconds and arrives where it counts; the log names nobody.
    @Test func optionsReachTheTokens() throws {
        let fixture = try StoreFixture(.memory)
        let attributes = fixture.folder + "/attributes"
        let text = #"{"permissionsByRole":{"admin":["read","write"]},"plan":7}"#
        try (text + "\n").write(toFile: attributes, atomically: true, encoding: .utf8)
        let server = try ServerProcess(
            [
                "serve", "--listen", "127.0.0.1:0", "--database", fixture.path, "--attributes", attributes,
                "--access-seconds", "77", "--refresh-seconds", "4000", "--log", "requests",
            ], folder: fixture.folder)
        let client = try HTTPClient(server.address)
        let hash = RecoveryHash(try freshDigest())
        let device = try TestDevice(recovery: hash)
        let creation = try device.creation(hash)
        #expect(try client.post("/account/create", creation.bytes).status == 200)
        let question = UnsignedMessage(RequestSession.Request(nonce: try freshNonce(), identity: device.identity))
        let asked = try client.post("/session/request", question.bytes)
        let challenge = try SignedMessage<Response<RequestSession>>(parsing: asked.body).payload.body.challenge
        let (opening, current, next) = try TestSession.opening(device, challenge)
        let opened = try client.post("/session/create", opening.bytes)
        let token = try SignedMessage<Response<CreateSession>>(parsing: opened.body).payload.body.token
        // It travels with every request, so it is compressed; stored as it is it would have 770 characters.
        #expect(token.description.utf8.count < 640)
        let session = TestSession(current: current, next: next, token: token)
        let claims = try session.claims
        #expect(claims.expiry == claims.issuedAt.adding(seconds: 77))
        #expect(claims.refreshExpiry == claims.issuedAt.adding(seconds: 4000))
        #expect(String(decoding: claims.attributes.bytes, as: UTF8.self) == text)
        let access = try accessRequest(session, #"{"foo":1,"bar":2}"#, now: SystemClock().now)
        let refused = try client.post("/elsewhere/\(device.identity)?secret=1", access.bytes)
        #expect(refused.status == 404)
        server.process.end(SIGTERM)
        let log = server.log
        #expect(log.contains(#""path":"/session/create","status":200"#) && log.contains(#""path":"other""#))
        for secret in [
            device.identity.description, device.id.description, challenge.description, hash.description,
            String(token.description.prefix(60)), creation.signature.description, "secret", "permissionsByRole",
            access.payload.nonce.description, device.current.publicKey.description,
        ] {
            #expect(!log.contains(secret), "\(secret)")
        }
        try "{ }".write(toFile: attributes, atomically: true, encoding: .utf8)
        let spaced = try run(
            freshServer(in: fixture.folder) + ["--attributes", attributes], fixture.folder)
        #expect(spaced.status == 2 && spaced.output.contains("compact JSON"))
    }

    /// An application server of its own that was told the auth server's key.
    @Test func anApplicationServer() throws {
        let fixture = try StoreFixture(.memory)
        let server = try TestServer(clock: TestClock())
        let app = try ServerProcess(
            [
                "app", "--listen", "127.0.0.1:0", "--access-key", server.accessKey.publicKey.description, "--name",
                "first",
            ], folder: fixture.folder)
        let now = SystemClock().now
        server.clock.advance(milliseconds: now.milliseconds - server.clock.now.milliseconds)
        let account = try TestAccount(on: server)
        let session = try TestSession(account.device, on: server)
        let message = try accessRequest(session, #"{"foo":"a","bar":"b"}"#, now: now)
        let reply = try HTTPClient(app.address).post("/foo/bar", message.bytes)
        #expect(reply.text.contains(#"{"wasFoo":"a","wasBar":"b","serverName":"first"}"#))
        #expect(try HTTPClient(app.address).post("/foo/bar", message.bytes).text.contains("HF410"))
        // The window is half a minute, and no more than that.
        for (age, part) in [(10, #"{"payload""#), (31, "BA501")] as [(Int64, String)] {
            let old = try #require(now.adding(milliseconds: -age * 1000))
            let late = try accessRequest(session, #"{"foo":"a","bar":"b"}"#, now: old)
            #expect(try HTTPClient(app.address).post("/foo/bar", late.bytes).text.contains(part), "\(age) s")
        }
    }

    /// The whole chain of trust: keeper, key service, auth server, application server, each a process of its own.
    @Test func keysAreEndorsed() throws {
        let fixture = try StoreFixture(.memory)
        let folder = fixture.folder
        let scene = try KeyChainScene(folder)
        let (sign, admin) = (scene.sign, scene.admin)
        let hsm = try scene.keeper()
        let identity = hsm.key
        let client = try HTTPClient(hsm.address)
        let body = Array(#"{"payload":{"purpose":"access"}}"#.utf8)
        #expect(try client.post("/sign", body).status == 401)
        #expect(try client.post("/sign", body, headers: "Authorization: Bearer \(admin)\r\n").status == 401)
        #expect(try client.post("/sign", body, headers: "Authorization: Bearer \(sign)\r\n").status == 400)
        // What looks like an event of the chain is not signed for those who may sign.
        let purposes =
            #"{"payload":{"purpose":"key-authorization","publicKey":"\#(try ServerKey.generate().publicKey)","#
            + #""expiration":"\#(SystemClock().now.adding(seconds: 60))"}}"#
        let authorised = "Authorization: Bearer \(sign)\r\n"
        #expect(try client.post("/sign", Array(purposes.utf8), headers: authorised).status == 400)
        let endorsed = purposes.replacing("key-authorization", with: "access")
        #expect(try client.post("/sign", Array(endorsed.utf8), headers: authorised).status == 200)
        #expect(try client.post("/rotate", [], headers: "Authorization: Bearer \(sign)\r\n").status == 401)
        let keys = try scene.keys(of: hsm)
        #expect(try HTTPClient(keys.address).post("/keys", body).status == 400)
        let server = try ServerProcess(
            freshServer(in: fixture.folder) + scene.publishing(hsm, keys),
            folder: folder)
        let listed = try HTTPClient(keys.address).get("/keys").body
        let records = try unsafe EndorsementList(parsing: listed.span.bytes).records
        let key = try #require(PublicKeyText(server.key))
        #expect(records.count == 2 && records[key]?.payload.purpose == .response)
        #expect(try HTTPClient(keys.address).get("/keys/\(server.key)").status == 200)
        #expect(try HTTPClient(keys.address).get("/keys/1AAIA").status == 404)
        let app = try ServerProcess(
            ["app", "--listen", "127.0.0.1:0", "--keys", "http://\(keys.address)", "--trust", identity], folder: folder)
        let auth = try HTTPClient(server.address)
        let hash = RecoveryHash(try freshDigest())
        let device = try TestDevice(recovery: hash)
        #expect(try auth.post("/account/create", device.creation(hash).bytes).status == 200)
        let session = try TestSession.opened(device, over: auth)
        let access = try accessRequest(session, #"{"foo":1,"bar":2}"#, now: SystemClock().now)
        #expect(try HTTPClient(app.address).post("/foo/bar", access.bytes).status == 200)
        // Another generation, and the chain continues after a restart of its keeper.
        let allowed = "Authorization: Bearer \(admin)\r\n"
        // A slip, or a request that is sent twice, does nothing.
        for body in ["", "{}", #"{"generation":1}"#, #"{"generation":0,"x":1}"#] {
            #expect(try client.post("/taint", Array(body.utf8), headers: allowed).status == 400, "\(body)")
        }
        func confirmed(_ number: Int) -> [UInt8] { Array(#"{"generation":\#(number)}"#.utf8) }
        #expect(try client.post("/rotate", confirmed(0), headers: allowed).text == "generation 1\n")
        #expect(try client.post("/rotate", confirmed(0), headers: allowed).status == 400)
        #expect(try client.post("/taint", confirmed(1), headers: allowed).text == "generation 2\n")
        hsm.process.end(SIGTERM)
        let restarted = try scene.keeper()
        #expect(restarted.key == identity)
        let events = try HTTPClient(restarted.address).get("/hsm/keys").body
        let list = try unsafe KeyEventList(parsing: events.span.bytes)
        #expect(list.events.map(\.payload.taintPrevious) == [false, false, true])
        _ = try KeyChain(
            list, identity: #require(DigestText(identity)), window: KeyChain.Window.client, now: SystemClock().now)
    }
}
