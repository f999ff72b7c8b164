import BetterAuthHTTP
import Foundation
import Testing

/// Requests that parsers read differently (RFC 9112): whoever stands in front of the server may see another request in
/// them than it does, so they are refused, and nothing behind them on the same connection is heard.
@Suite struct RequestFramingTests {
    /// Where a request ends, and what it says of that: each is followed by another request, which must not be answered.
    @Test(arguments: [
        ("two lengths", "POST /health HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 30\r\n\r\n"),
        ("the same length twice", "POST /health HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n"),
        ("a list of lengths", "POST /health HTTP/1.1\r\nHost: a\r\nContent-Length: 0, 0\r\n\r\n"),
        ("a length with a sign", "POST /health HTTP/1.1\r\nHost: a\r\nContent-Length: +0\r\n\r\n"),
        ("a length in base 16", "POST /health HTTP/1.1\r\nHost: a\r\nContent-Length: 0x0\r\n\r\n"),
        ("a length that is empty", "POST /health HTTP/1.1\r\nHost: a\r\nContent-Length: \r\n\r\n"),
        ("a length with a space", "POST /health HTTP/1.1\r\nHost: a\r\nContent-Length: 0 0\r\n\r\n"),
        (
            "length and chunks",
            "POST /health HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        ),
        (
            "chunks and length",
            "POST /health HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"
        ),
        ("chunks", "POST /health HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        ("another coding", "POST /health HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n"),
        ("chunks, spelled otherwise", "POST /health HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n"),
        ("chunks in version 1.0", "POST /health HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        ("a space before the colon", "GET /health HTTP/1.1\r\nHost : a\r\n\r\n"),
        ("a space before the length's colon", "POST /health HTTP/1.1\r\nHost: a\r\nContent-Length : 0\r\n\r\n"),
        ("a tab before the colon", "GET /health HTTP/1.1\r\nHost: a\r\nX\t: a\r\n\r\n"),
        ("a bare line feed after the request line", "GET /health HTTP/1.1\nHost: a\r\n\r\n"),
        ("a bare line feed after a header", "GET /health HTTP/1.1\r\nHost: a\nX: y\r\n\r\n"),
        ("a bare line feed after the last header", "GET /health HTTP/1.1\r\nHost: a\n\r\n"),
        ("a bare line feed at the end", "GET /health HTTP/1.1\r\nHost: a\r\n\n"),
        ("bare line feeds", "GET /health HTTP/1.1\nHost: a\n\n"),
        ("a bare line feed, made up for by a space", "GET /health HTTP/1.1\r\nHost:  a\nX: y\r\n\r\n"),
        ("a bare carriage return", "GET /health HTTP/1.1\r\nHost: a\r\nX: y\rZ: z\r\n\r\n"),
        ("a line that goes on", "GET /health HTTP/1.1\r\nHost: a\r\nX: y\r\n z\r\n\r\n"),
        ("a length that goes on", "POST /health HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n 0\r\n\r\n"),
        ("a first line that goes on", "GET /health HTTP/1.1\r\n Host: a\r\n\r\n"),
        ("a zero byte in a value", "GET /health HTTP/1.1\r\nHost: a\r\nX: y\u{0}z\r\n\r\n"),
        ("a zero byte in a name", "GET /health HTTP/1.1\r\nHost: a\r\nX\u{0}: y\r\n\r\n"),
        ("a control character in a value", "GET /health HTTP/1.1\r\nHost: a\r\nX: y\u{1b}z\r\n\r\n"),
        ("a name that is none", "GET /health HTTP/1.1\r\nHost: a\r\nX(y): z\r\n\r\n"),
        ("an empty name", "GET /health HTTP/1.1\r\nHost: a\r\n: z\r\n\r\n"),
        ("a line without a colon", "GET /health HTTP/1.1\r\nHost: a\r\nxyz\r\n\r\n"),
        ("no host", "GET /health HTTP/1.1\r\nX: y\r\n\r\n"),
        ("no headers", "GET /health HTTP/1.1\r\n\r\n"),
        ("two hosts", "GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"),
        ("the same host twice", "GET /health HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n"),
        ("a host with a space", "GET /health HTTP/1.1\r\nHost: a b\r\n\r\n"),
        ("a host with a path", "GET /health HTTP/1.1\r\nHost: a/b\r\n\r\n"),
        ("a host with a user", "GET /health HTTP/1.1\r\nHost: u@a\r\n\r\n"),
        ("two hosts in version 1.0", "GET /health HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n"),
        ("no version", "GET /health\r\nHost: a\r\n\r\n"),
        ("another version", "GET /health HTTP/2.0\r\nHost: a\r\n\r\n"),
        ("a version in small letters", "GET /health http/1.1\r\nHost: a\r\n\r\n"),
        ("two spaces before the target", "GET  /health HTTP/1.1\r\nHost: a\r\n\r\n"),
        ("two spaces before the version", "GET /health  HTTP/1.1\r\nHost: a\r\n\r\n"),
        ("a space behind the version", "GET /health HTTP/1.1 \r\nHost: a\r\n\r\n"),
        ("a tab in the request line", "GET\t/health HTTP/1.1\r\nHost: a\r\n\r\n"),
        ("a space in the target", "GET /health x HTTP/1.1\r\nHost: a\r\n\r\n"),
        ("a zero byte in the target", "GET /health\u{0}x HTTP/1.1\r\nHost: a\r\n\r\n"),
        ("a letter of Unicode in the target", "GET /health?\u{e9} HTTP/1.1\r\nHost: a\r\n\r\n"),
        ("a fragment", "GET /health#x HTTP/1.1\r\nHost: a\r\n\r\n"),
    ])
    func ambiguousRequestsAreRefused(_ name: String, _ request: String) throws {
        let front = try TestFront()
        let client = try HTTPClient(front.front.address)
        client.send(Array((request + "GET /ready HTTP/1.1\r\nHost: a\r\n\r\n").utf8))
        let text = String(decoding: client.rest(), as: UTF8.self)
        // Refused, or closed without a word. The library of Debian 12 sends the head of some of its own refusals twice.
        let statuses = text.ranges(of: "HTTP/1.1 ").map { text[$0.upperBound...].prefix(3) }
        #expect(statuses.allSatisfy { $0.hasPrefix("4") || $0 == "505" }, "\(name): \(text)")
        #expect(!text.contains("ready"), "\(name): \(text)")
        #expect(try HTTPClient(front.front.address).get("/health").status == 200)
    }

    /// One refusal of ours: the library answers by itself what it cannot read as a length, and twice.
    @Test(arguments: [
        "x", "", "-1", "+0", "0x0", "0 0", "0, 0", "1e3", "3;", "4294967296x", "\u{ff11}", "99999999999999999999",
        "0000000000000000000", "x\r\nContent-Length: 0", "0\r\nContent-Length: x",
    ])
    func `a length that is none gets one refusal, and the connection ends`(_ length: String) throws {
        let front = try TestFront()
        for line in ["POST /health", "GET /health", "PUT /nowhere"] {
            let client = try HTTPClient(front.front.address)
            let head = "\(line) HTTP/1.1\r\nHost: a\r\nContent-Length: \(length)\r\n\r\n"
            client.send(Array((head + "GET /ready HTTP/1.1\r\nHost: a\r\n\r\n").utf8))
            let text = String(decoding: client.rest(), as: UTF8.self)
            #expect(text.ranges(of: "HTTP/1").count == 1 && text.hasPrefix("HTTP/1.1 400 "), "\(text)")
            #expect(text.contains("HF400") && text.contains("Connection: close\r\n"), "\(text)")
        }
    }

    /// What the grammar allows is taken, and the connection continues.
    @Test(arguments: [
        ("the usual", "GET /health HTTP/1.1\r\nHost: a\r\n\r\n"),
        ("no space before a value", "GET /health HTTP/1.1\r\nHost:a\r\n\r\n"),
        ("much space around a value", "GET /health HTTP/1.1\r\nHost: \t a\t \r\nX:\t \ty \r\n\r\n"),
        ("an empty value", "GET /health HTTP/1.1\r\nHost: a\r\nX:\r\nY: \r\nZ: z\r\n\r\n"),
        ("an empty value at the end", "GET /health HTTP/1.1\r\nHost: a\r\nX:\r\n\r\n"),
        ("an empty host", "GET /health HTTP/1.1\r\nHost:\r\n\r\n"),
        ("a host with a port", "GET /health HTTP/1.1\r\nhOST: example.org:8443\r\n\r\n"),
        ("a host of version 6", "GET /health HTTP/1.1\r\nHost: [2001:db8::1]:8443\r\n\r\n"),
        ("a colon in a value", "GET /health HTTP/1.1\r\nHost: a\r\nX: y:z : w\r\n\r\n"),
        ("every letter of a name", "GET /health HTTP/1.1\r\nHost: a\r\n!#$%&'*+-.^_`|~09Az: y\r\n\r\n"),
        ("other letters in a value", "GET /health HTTP/1.1\r\nHost: a\r\nX: \u{e9}\u{4e2d}\r\n\r\n"),
        ("headers of one name", "GET /health HTTP/1.1\r\nHost: a\r\nX: y\r\nX: y\r\nX: z\r\n\r\n"),
        ("cookies", "GET /health HTTP/1.1\r\nHost: a\r\nCookie: a=b; c=\"d\"\r\nX: y\r\n\r\n"),
        ("an empty body", "POST /health HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"),
        ("a body", "POST /health HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"),
        ("space around a length", "POST /health HTTP/1.1\r\nHost: a\r\nContent-Length: \t 3 \t\r\n\r\nabc"),
        ("zeros before a length", "POST /health HTTP/1.1\r\nHost: a\r\nContent-Length: 0003\r\n\r\nabc"),
        ("an empty line in front", "\r\nGET /health HTTP/1.1\r\nHost: a\r\n\r\n"),
        ("a query", "GET /health?x=%00&y HTTP/1.1\r\nHost: a\r\n\r\n"),
        ("a length for nothing", "GET /health HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"),
        ("many headers", "GET /health HTTP/1.1\r\nHost: a\r\n\(String(repeating: "X: y\r\n", count: 60))\r\n"),
        (
            "a long header",
            "GET /health HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "y", count: 6000))\r\nY: z\r\n\r\n"
        ),
    ])
    func whatTheGrammarAllowsIsTaken(_ name: String, _ request: String) throws {
        let front = try TestFront()
        let client = try HTTPClient(front.front.address)
        for _ in 0..<2 {
            client.send(Array(request.utf8))
            let reply = try client.reply()
            #expect(reply.status == 200 && reply.text == "ok\n", "\(name): \(reply.text)")
        }
        // In pieces, and two at once.
        let size = max(1, request.utf8.count / 50)
        for start in stride(from: 0, to: request.utf8.count, by: size) {
            client.send(Array(request.utf8.dropFirst(start).prefix(size)))
        }
        #expect(try client.reply().status == 200, "\(name)")
        client.send(Array((request + request).utf8))
        #expect(try client.reply().status == 200, "\(name)")
        #expect(try client.reply().status == 200, "\(name)")
    }

    @Test func versionOneZeroNeedsNoHost() throws {
        let front = try TestFront()
        for head in ["GET /health HTTP/1.0\r\n\r\n", "GET /health HTTP/1.0\r\nX: y\r\n\r\n"] {
            let client = try HTTPClient(front.front.address)
            client.send(Array(head.utf8))
            #expect(try client.reply().status == 200)
        }
    }

    /// A path is the bytes that came, and no route has an escape in it.
    @Test(arguments: [
        "/metrics%00", "/metrics%00x", "/%6detrics", "/metrics%2f", "/metric%73", "/metrics/", "//metrics",
        "/x/../metrics",
        "/metrics;x", "/Metrics", "/metrics%", "/metrics%zz", "metrics", "http://a/metrics", "*",
    ])
    func escapesMatchNoRoute(_ path: String) throws {
        let front = try TestFront()
        let client = try HTTPClient(front.front.address)
        let reply = try client.get(path)
        #expect(reply.status == 404 && reply.text.contains("HF404"), "\(path): \(reply.status)")
        #expect(try client.get("/metrics").status == 200)
    }

    @Test func theRefusalsSayWhatIsWrong() throws {
        let front = try TestFront()
        let two = try HTTPClient(front.front.address)
        two.send(Array("GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n".utf8))
        let malformed = try two.reply()
        #expect(malformed.status == 400 && malformed.text.contains("HF400"))
        #expect(malformed.headers["connection"]?.lowercased() == "close" && two.isClosed())
        let chunked = try HTTPClient(front.front.address)
        chunked.send(
            Array("POST /device/rotate HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n".utf8))
        let unmeasured = try chunked.reply()
        #expect(unmeasured.status == 411 && unmeasured.text.contains("HF411"))
    }
}
