import Foundation
import RealParts
import TestSupport
import Testing

@testable import BetterAuthHTTP
@testable import BetterAuthServer

/// What the server and systemd say to each other, with a socket in the place of systemd's: sd_notify(3).
@Suite struct ServiceManagerTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture(.memory) }

    /// A socket for datagrams, as systemd has one for each unit.
    private final class Manager {
        let descriptor: Int32

        /// - Parameter name: A path, or `@` and an abstract name.
        init(_ name: String) throws {
            descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            var bytes = Array(name.utf8)
            if bytes[0] == UInt8(ascii: "@") { bytes[0] = 0 }
            try #require(bytes.count < MemoryLayout.size(ofValue: address.sun_path))
            unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
            let length = MemoryLayout<sa_family_t>.size + bytes.count
            let isBound = unsafe withUnsafePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe bind(descriptor, $0, socklen_t(length)) == 0
                }
            }
            try #require(isBound, "\(errno)")
            var patience = Patience.interval
            unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        }

        deinit { close(descriptor) }

        /// The next message; nil where none comes.
        func next() -> String? {
            var block = [UInt8](repeating: 0, count: 4096)
            let count = unsafe recv(descriptor, &block, block.count, 0)
            return count > 0 ? String(decoding: block[..<count], as: UTF8.self) : nil
        }

        /// The next message that is not about being alive, which comes at any time.
        func nextChange() -> String? {
            while let text = next() { if text != "WATCHDOG=1" { return text } }
            return nil
        }
    }

    @Test(arguments: ["path", "abstract"])
    func `systemd is told when the server is ready, reloads, is alive and stops`(_ kind: String) throws {
        let name = kind == "path" ? fixture.folder + "/notify" : "@holdfast-\(UUID().uuidString)"
        let manager = try Manager(name)
        let server = try ServerProcess(
            ["serve", "--listen", "127.0.0.1:0", "--database", fixture.path], folder: fixture.folder,
            environment: ["NOTIFY_SOCKET": name])
        #expect(manager.nextChange() == "READY=1")
        // It serves when it says so.
        #expect(try HTTPClient(server.address).get("/ready").text == "ready\n")
        server.process.signal(SIGHUP)
        // Type=notify-reload asks for the time; Type=notify ignores it.
        let reloading = try #require(manager.nextChange())
        #expect(reloading.hasPrefix("RELOADING=1\nMONOTONIC_USEC="), "\(reloading)")
        #expect(manager.nextChange() == "READY=1")
        var alive = 0
        while alive < 2, let text = manager.next() { if text == "WATCHDOG=1" { alive += 1 } }
        #expect(alive == 2)
        server.process.signal(SIGTERM)
        #expect(manager.nextChange() == "STOPPING=1")
        #expect(server.process.wait() == 0)
    }

    /// An update that were ended for taking long would begin anew for ever.
    @Test func `systemd is told to wait for an update of the database`() throws {
        #expect(try runServerCommand(["init", "--database", fixture.path], fixture.folder).status == 0)
        do { try SQLiteConnection(fixture.path, isWriter: true, cache: 64).execute("PRAGMA user_version = 3") }
        let manager = try Manager(fixture.folder + "/notify")
        for isFirst in [true, false] {
            let server = try ServerProcess(
                ["serve", "--listen", "127.0.0.1:0", "--database", fixture.path], folder: fixture.folder,
                environment: ["NOTIFY_SOCKET": fixture.folder + "/notify"])
            if isFirst { #expect(manager.nextChange()?.hasPrefix("EXTEND_TIMEOUT_USEC=") == true) }
            #expect(manager.nextChange() == "READY=1")
            server.process.end(SIGTERM)
            #expect(manager.nextChange() == "STOPPING=1")
        }
    }

    @Test func `what is no socket's name changes nothing`() throws {
        for name in ["", "relative", "/" + String(repeating: "x", count: 200), fixture.folder + "/nobody"] {
            let server = try ServerProcess(
                ["serve", "--listen", "127.0.0.1:0", "--database", fixture.path], folder: fixture.folder,
                environment: ["NOTIFY_SOCKET": name])
            server.process.end(SIGTERM)
            #expect(server.log.contains(#""event":"stop""#))
        }
    }

    /// systemd then restarts the server: a message is missing.
    @Test func `a check that does not end is a fault, and one that fails is none`() throws {
        let end = DispatchSemaphore(value: 0)
        let nowhere = unsafe open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { close(nowhere) }
        let log = ServerLog(.error, descriptor: nowhere)
        let readiness = Readiness(
            [
                Readiness.Check("store") {
                    end.wait()
                    return "away"
                }
            ], conditions: Conditions(log))
        defer { readiness.close() }
        #expect(!readiness.isStuck(seconds: 60, now: 1000))
        let answer = Answer<[String]>()
        readiness.ask(now: 1000) { answer.give($0) }
        #expect(!readiness.isStuck(seconds: 60, now: 1060))
        #expect(readiness.isStuck(seconds: 60, now: 1061))
        end.signal()
        #expect(answer.wait() == ["store"])
        #expect(!readiness.isStuck(seconds: 60, now: 2000))
    }
}
