import BetterAuthHTTP
import BetterAuthServer
import Dispatch
import TestSupport
import Testing

/// Answers from another thread, so that each connection rests a while.
private struct LateService: HTTPService {
    let queue = DispatchQueue(label: "late", attributes: .concurrent)

    func route(_ path: String) -> String? { path }

    func refusal(_ method: HTTPRequest.Method?, at route: String, _ address: ClientAddress) -> HTTPReply? { nil }

    func handle(_ request: HTTPRequest, at route: String, _ answer: @escaping @Sendable (HTTPReply) -> Void) {
        queue.async { answer(.text("late\n")) }
    }

    func sent(_ reply: HTTPReply, to path: String, at route: String?, _ request: AnsweredRequest) {}
}

/// Tells when a request has begun.
private struct WatchingService: HTTPService {
    let began = DispatchSemaphore(value: 0)

    func route(_ path: String) -> String? { path }

    func refusal(_ method: HTTPRequest.Method?, at route: String, _ address: ClientAddress) -> HTTPReply? {
        began.signal()
        return nil
    }

    func handle(_ request: HTTPRequest, at route: String, _ answer: @escaping @Sendable (HTTPReply) -> Void) {
        answer(.text("whole\n"))
    }

    func sent(_ reply: HTTPReply, to path: String, at route: String?, _ request: AnsweredRequest) {}
}

@Suite struct StopTests {
    @Test func `half a request holds no stop up`() throws {
        let service = WatchingService()
        let front = try HTTPServer(listening: "127.0.0.1:0", service)
        let client = try HTTPClient(front.address)
        client.send(Array("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 500\r\n\r\n{".utf8))
        service.began.wait()
        #expect(front.stop())
        #expect(client.isClosed())
    }

    /// A request that a resting connection sends while the front stops is answered or not begun: never does it leave a
    /// suspended connection to a daemon that ends, for which libmicrohttpd ends the process.
    @Test func requestsThatComeWhileItStops() throws {
        for _ in 0..<(TestRun.isSoak ? 500 : 40) {
            let front = try HTTPServer(listening: "127.0.0.1:0", LateService())
            let clients = try (0..<16).map { _ in try HTTPClient(front.address) }
            for client in clients { #expect(try client.get("/").text == "late\n") }
            let sent = DispatchGroup()
            // Sent with there, read from here only after.
            nonisolated(unsafe) let senders = clients
            DispatchQueue.global().async(group: sent) {
                for client in unsafe senders { client.send(Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8)) }
            }
            #expect(front.stop())
            sent.wait()
            for client in clients {
                if let reply = try? client.reply() { #expect(reply.text == "late\n") }
                #expect(client.isClosed())
            }
        }
    }
}
