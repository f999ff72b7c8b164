import BetterAuth
import BetterAuthVerification
import BetterAuthMessages
import BetterAuthServer
import MemoryServerStore
import Foundation
import Synchronization
import Testing

/// The real server logic behind a small HTTP front on a port that the system chooses; ends with this object. Also an
/// app server: `/echo` verifies access and gives the request back.
final class AuthHTTPServer: Sendable {
    let store: any ServerStore = MemoryStore()
    let responseKey: ServerKey
    private let server: AuthServer
    private let verifier: AccessVerifier
    private let signer: SoftwareSigningKey
    private let socket: Int32
    let port: UInt16
    /// What is answered in place of the truth, once.
    let faults = Mutex<[Fault]>([])

    enum Fault { case dropAnswer, refuse }
    /// Paths that a proxy in front has shut: it answers with a page of its own.
    let shut = Mutex<Set<String>>([])

    /// A key chain and its records, for who asks the key service that stands at the same address.
    let keys = Mutex<EndorsedKeys?>(nil)

    init() throws {
        responseKey = try .generate()
        let accessKey = try ServerKey.generate()
        signer = try SoftwareSigningKey(scalar: responseKey.scalar())
        let attributes = try ApplicationData(json: "{}")
        server = AuthServer(
            store: store,
            keys: ServerKeys(
                response: KeySchedule(responseKey, lifetime: 1 << 50),
                access: KeySchedule(accessKey, lifetime: 1 << 50)),
            compression: ZlibTokenCompression(), attributes: { _ in attributes })
        verifier = AccessVerifier(
            keys: PinnedServerKeys(access: [try VerificationKey(accessKey.publicKey)]), nonces: MemoryNonceStore(),
            revocations: MemoryRevocationList())
        socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listening = socket
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(listening, $0, size) == 0 && listen(listening, 128) == 0
                    && getsockname(listening, $0, &size) == 0
            }
        }
        try #require(isBound)
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [weak self] in
            while true {
                let connection = accept(listening, nil, nil)
                guard connection >= 0 else { return }
                _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
                guard let server = self else {
                    close(connection)
                    return
                }
                server.serve(connection)
                // A program that was just started may have a copy, and the connection has to end now.
                shutdown(connection, Int32(SHUT_RDWR))
                close(connection)
            }
        }
    }

    deinit {
        shutdown(socket, Int32(SHUT_RDWR))
        close(socket)
    }

    var address: String { "http://127.0.0.1:\(port)" }

    /// Requests that came so far.
    var requests: Int { count.withLock { $0 } }
    private let count = Mutex(0)

    private func serve(_ connection: Int32) {
        count.withLock { $0 += 1 }
        var request = Data()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe read(connection, &buffer, buffer.count)
            guard count > 0 else { return }
            request.append(contentsOf: buffer[..<count])
            guard let end = request.range(of: Data("\r\n\r\n".utf8)) else { continue }
            let head = String(decoding: request[..<end.lowerBound], as: UTF8.self)
            let lengths = head.split(separator: "\r\n").compactMap { line in
                line.lowercased().hasPrefix("content-length:")
                    ? Int(line.dropFirst(15).trimmingCharacters(in: .whitespaces)) : nil
            }
            guard request.count - end.upperBound >= lengths.first ?? 0 else { continue }
            let path = String(head.split(separator: " ").dropFirst().first ?? "")
            if shut.withLock({ $0.contains(path) }) {
                let page = "<html>not here</html>"
                let head = "HTTP/1.1 404 Not Found\r\nContent-Length: \(page.utf8.count)\r\nConnection: close\r\n\r\n"
                let reply = Array((head + page).utf8)
                _ = unsafe write(connection, reply, reply.count)
                return
            }
            let answer = self.answer(path, Array(request[end.upperBound...]))
            let status = answer == nil ? "404 Not Found" : "200 OK"
            let fault = faults.withLock { path != "/key/response" && !$0.isEmpty ? $0.removeFirst() : nil }
            if fault == .dropAnswer { return }
            let body = fault == .refuse ? Array(#"{"error":{"code":"HF503","message":"later"}}"#.utf8) : answer ?? []
            let reply =
                Array("HTTP/1.1 \(status)\r\nContent-Length: \(body.count)\r\nConnection: close\r\n\r\n".utf8) + body
            _ = unsafe write(connection, reply, reply.count)
            return
        }
    }

    /// Nil for what is not there.
    private func answer(_ path: String, _ body: [UInt8]) -> [UInt8]? {
        if path == "/hsm/keys" { return keys.withLock { $0?.events } }
        if path.hasPrefix("/keys/") { return keys.withLock { $0?.records[String(path.dropFirst(6))] } }
        if path == "/key/response" { return responseKey.publicKey.textBytes }
        if path == "/echo" { return echo(body) }
        guard let operation = AuthOperation(path: path) else { return Array(#"{"error":"no such path"}"#.utf8) }
        let reply = Mutex<[UInt8]>([])
        server.handle(operation, body) { given in reply.withLock { $0 = given.body } }
        return reply.withLock { $0 }
    }

    private func echo(_ body: [UInt8]) -> [UInt8] {
        let done = DispatchSemaphore(value: 0)
        let (verifier, signer) = (verifier, signer)
        let taken = SharedBytes()
        // Not on the threads of the pool: tests that wait for a process hold them.
        Task.detached(executorPreference: OwnThreads.shared) {
            do throws(AccessRefusal) {
                let access = try await verifier.verify(body, now: SystemClock().now)
                taken.bytes.withLock { $0 = (try? access.reply(access.request.body, signedBy: signer)) ?? [] }
            } catch { taken.bytes.withLock { $0 = error.reply.encoded } }
            done.signal()
        }
        done.wait()
        return taken.bytes.withLock { $0 }
    }

    private final class OwnThreads: TaskExecutor {
        static let shared = OwnThreads()
        private let queue = DispatchQueue(label: "auth-http-server")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    private final class SharedBytes: Sendable { let bytes = Mutex<[UInt8]>([]) }
}
