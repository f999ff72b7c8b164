import BetterAuthMessages
import BetterAuthServer
import Foundation
import RealParts
import TestSupport
import Testing

/// The built program under another clock: libfaketime of Debian, which changes the wall clock alone.
enum OtherClock {
    private static let library = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"]
        .map { "\($0)/faketime/libfaketimeMT.so.1" }.first { FileManager.default.fileExists(atPath: $0) }

    /// A sanitizer has to be loaded first itself.
    static var isThere: Bool { (library != nil || TestRun.isBootstrapped) && !TestRun.isSanitized }

    /// The library changes the environment before the program begins, which its runtime finds its arguments by: a shell
    /// takes that upon itself.
    static let words = ["sh", "-c", "exec \"$0\" \"$@\""]

    private static func text(_ seconds: Int64) -> String { "\(seconds < 0 ? "" : "+")\(seconds)s" }

    static func environment(_ seconds: Int64) throws -> [String: String] {
        let library = try #require(library, "libfaketime is not installed: scripts/bootstrap --test")
        return [
            "LD_PRELOAD": library, "FAKETIME": text(seconds), "DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        ]
    }

    /// A clock that ``set(_:in:)`` sets while the program runs.
    static func environment(following file: String) throws -> [String: String] {
        var environment = try environment(0)
        environment["FAKETIME"] = nil
        environment["FAKETIME_TIMESTAMP_FILE"] = file
        environment["FAKETIME_NO_CACHE"] = "1"
        return environment
    }

    static func set(_ seconds: Int64, in file: String) throws {
        try (text(seconds) + "\n").write(toFile: file, atomically: true, encoding: .utf8)
    }
}

@Suite(.enabled(if: OtherClock.isThere, "libfaketime is not installed, or a sanitizer runs")) struct WrongClockTests {
    private static let day: Int64 = 86_400
    private let fixture: StoreFixture
    private var folder: String { fixture.folder }

    init() throws { fixture = try StoreFixture(.memory) }

    private func start(_ arguments: [String], at seconds: Int64) throws -> ServerProcess {
        try ServerProcess(
            arguments, folder: folder, environment: OtherClock.environment(seconds), before: OtherClock.words)
    }

    private func serve(_ more: [String], at seconds: Int64) throws -> ServerProcess {
        try start(
            [
                "serve", "--listen", "127.0.0.1:0", "--database", fixture.path, "--rotate-keys-seconds", "\(Self.day)",
                "--audit-log", folder + "/audit.log",
            ] + more, at: seconds)
    }

    private func generation(_ server: ServerProcess) throws -> Int? {
        try HTTPClient(server.address).get("/metrics").text.split(separator: "\n")
            .first { $0.hasPrefix("holdfast_key_info{") }.flatMap { Int($0.split(separator: "\"")[1]) }
    }

    @Test func `a deployment that is started again through a year, by wrong clocks too, keeps its accounts`() throws {
        let scene = try KeyChainScene(folder)
        var device: TestDevice?
        var last: TestSession?
        for (index, days) in ([0, 2, 30, 90, 180, 365] as [Int64]).enumerated() {
            let moment = days * Self.day
            let hsm = try start(["hsm", "--listen", "127.0.0.1:0"] + scene.options, at: moment)
            let keys = try start(
                ["keys", "--listen", "127.0.0.1:0", "--hsm", "http://\(hsm.address)", "--trust", hsm.key], at: moment)
            let server = try serve(scene.publishing(hsm, keys), at: moment)
            try server.waitUntilReady(says: "ready\n")
            // One rotation is due at each start, and none more.
            #expect(try generation(server) == index, "day \(days)")
            let client = try HTTPClient(server.address)
            let own = try device ?? TestDevice.registered(over: client)
            if let last { #expect(try client.post("/session/refresh", last.refreshing().0.bytes).status != 200) }
            let session = try TestSession.opened(own, over: client)
            #expect(try client.post("/session/refresh", session.refreshing().0.bytes).status == 200)
            last = try TestSession.opened(own, over: client)
            device = own
            #expect(try scene.order("/rotate", generation: index, of: hsm).status == 200)
            for process in [server, keys, hsm] { process.process.end(SIGTERM) }
        }
        let own = try #require(device)
        // The chain has events of a year that is to come: its keeper is not ready, and a key service says why.
        let hsm = try start(["hsm", "--listen", "127.0.0.1:0"] + scene.options, at: 0)
        #expect(try HTTPClient(hsm.address).get("/ready").text.contains("key chain"))
        #expect(try scene.order("/rotate", generation: 6, of: hsm).status == 500)
        #expect(hsm.log.contains("lies in the future"), "\(hsm.log)")
        let keys = try runServerCommand(
            ["keys", "--listen", "127.0.0.1:0", "--hsm", "http://\(hsm.address)", "--trust", hsm.key], folder)
        #expect(keys.status == 1 && keys.output.contains("check the clocks"), "\(keys.output)")
        hsm.process.end(SIGTERM)
        // A year back, after 2100, and as it is: keys of another time neither stop the server nor end sessions early.
        for days in [-365, 27_000, 0] as [Int64] {
            let server = try serve([], at: days * Self.day)
            #expect(try HTTPClient(server.address).get("/ready").text == "ready\n", "day \(days)")
            let client = try HTTPClient(server.address)
            let session = try TestSession.opened(own, over: client)
            #expect(try client.post("/session/refresh", session.refreshing().0.bytes).status == 200, "day \(days)")
            server.process.end(SIGTERM)
        }
        let verified = try runServerCommand(
            ["audit", "verify", folder + "/audit.log", "--database", fixture.path], folder)
        #expect(verified.status == 0, "\(verified.output)")
        let checked = try runServerCommand(["check", "--database", fixture.path], folder)
        #expect(checked.status == 0 && checked.output.hasPrefix("1 accounts"), "\(checked.output)")
    }

    @Test func `who recovers or is linked under a clock a year ahead has sessions once it is right`() throws {
        let recovery = try ServerKey.generate()
        let hash = derivations.recoveryHash(of: recovery.publicKey)
        let first = try TestDevice(recovery: hash)
        var recovered = try TestDevice(identity: first.identity)
        let linked = try TestDevice(identity: first.identity)
        func pass(_ days: Int64, _ body: (HTTPClient) throws -> Void) throws {
            let server = try serve([], at: days * Self.day)
            try body(HTTPClient(server.address))
            server.process.end(SIGTERM)
        }
        func works(_ device: TestDevice, _ client: HTTPClient) throws -> Bool {
            let session = try TestSession.opened(device, over: client)
            return try client.post("/session/refresh", session.refreshing().0.bytes).status == 200
        }
        try pass(0) { client in
            let made = try client.post("/account/create", first.creation(hash).bytes)
            #expect(made.status == 200, "\(made.text)")
        }
        try pass(365) { client in
            let body = try recovered.recovery(with: recovery, next: RecoveryHash(freshDigest())).bytes
            #expect(try client.post("/account/recover", body).status == 200)
            let (linking, after) = try recovered.linking(linked.container())
            #expect(try client.post("/device/link", linking.bytes).status == 200)
            recovered = after
        }
        try pass(0) { client in
            let both = try [recovered, linked].map { try works($0, client) }
            #expect(both == [true, true])
        }
    }

    /// The device itself could, or who has seen its request.
    @Test func `no refresh is done again after the clock was ahead for a moment`() throws {
        let clock = folder + "/clock"
        try OtherClock.set(0, in: clock)
        let server = try ServerProcess(
            ["serve", "--listen", "127.0.0.1:0", "--database", fixture.path], folder: folder,
            environment: OtherClock.environment(following: clock), before: OtherClock.words)
        let client = try HTTPClient(server.address)
        let device = try TestDevice.registered(over: client)
        let refresh = try TestSession.opened(device, over: client).refreshing().0.bytes
        #expect(try client.post("/session/refresh", refresh).status == 200)
        try OtherClock.set(13 * 3600, in: clock)
        // What is done there looks at all that has expired there, the reply to the refresh too.
        for _ in 0..<2 {
            let session = try TestSession.opened(device, over: client)
            #expect(try client.post("/session/refresh", session.refreshing().0.bytes).status == 200)
        }
        try OtherClock.set(0, in: clock)
        let again = try client.post("/session/refresh", refresh)
        #expect(again.status != 200 && again.text.contains("HF4"), "\(again.text)")
        let session = try TestSession.opened(device, over: client)
        #expect(try client.post("/session/refresh", session.refreshing().0.bytes).status == 200)
        server.process.end(SIGTERM)
        let told = server.log.matches(of: /"event":"clock","seconds":(-?[0-9]+)/).compactMap { Int($0.output.1) }
        try #require(told.count == 2, "\(server.log)")
        #expect(abs(told[0] - 46_800) < 60 && abs(told[1] + 46_800) < 60)
    }

    @Test func `a certificate that expired between two starts is told`() throws {
        let (certificate, key) = (folder + "/certificate", folder + "/key")
        try makeCertificate(certificate, key)
        let tls = ["--tls-certificate", certificate, "--tls-key", key]
        for (days, part) in [(1, "200 ready"), (3, "certificate")] as [(Int64, String)] {
            let server = try serve(tls, at: days * Self.day)
            #expect(try server.readiness().contains(part), "day \(days)")
            server.process.end(SIGTERM)
        }
    }
}
