import BetterAuthVerification
import BetterAuthHTTP
import BetterAuthMessages
import BetterAuthServer
import Foundation
import Testing

@testable import HoldfastServer

/// The example application in this process, beside a server whose accounts it asks.
final class TestApp {
    let server: TestServer
    let front: HTTPServer

    init() throws {
        let server = try TestServer()
        self.server = server
        let keys = server.server.keys
        let app = ExampleApp(
            AccessVerifier(
                keys: try PinnedServerKeys(access: [VerificationKey(server.accessKey.publicKey)]),
                nonces: MemoryNonceStore(),
                revocations: StoreRevocations(store: server.server.store)),
            clock: server.clock, name: "test", key: { keys.responseKey(now: $0) })
        front = try HTTPServer(
            listening: "127.0.0.1:0", AppService(app, keys, rate: 0, log: ServerLog(.error)), HTTPSettings())
    }

    deinit { front.stop() }
}

/// The accounts themselves.
private struct StoreRevocations: RevocationList {
    let store: any ServerStore

    func isRevoked(_ claims: AccessClaims, now: Timestamp) async throws -> Bool {
        try store.isVoid(claims.device, of: claims.identity, issuedAt: claims.issuedAt)
    }
}

/// Of protocol.md 3, 12 and 13, what is about access requests, over the wire: what a published peer takes and must
/// not, and what it refuses and must not.
@Suite struct AccessRefusalTests {
    private let front: TestApp
    private let client: HTTPClient
    private let session: TestSession

    init() throws {
        front = try TestApp()
        client = try HTTPClient(front.front.address)
        session = try TestSession(TestAccount(on: front.server).device, on: front.server)
    }

    private var now: String { front.server.clock.now.description }

    /// A request as any client may spell it; what stands for the members is JSON and goes in as it is.
    private func request(
        nonce: String, timestamp: String, token: String? = nil, body: String = #"{"foo":1,"bar":2}"#
    ) throws -> [UInt8] {
        let access = #"{"nonce":\#(nonce),"timestamp":\#(timestamp),"token":"\#(token ?? session.token.description)"}"#
        let payload = Array(#"{"access":\#(access),"request":\#(body)}"#.utf8)
        let signature = try unsafe session.current.sign(payload.span.bytes)
        return Array(#"{"payload":"#.utf8) + payload + Array(#","signature":"\#(signature)"}"#.utf8)
    }

    private func quoted(_ text: String) -> String { "\"\(text)\"" }

    /// What peers spell anew before they verify, so that the signature no longer fits: `<>&` and U+2028 in Go,
    /// everything beyond ASCII in Python, the slashes of the Swift client and numbers in all of them.
    @Test func theSignatureCoversTheBytesAsTheyCame() throws {
        for text in [
            #""<b>&</b>""#, "\"\u{2028}\u{2029}\"", #""é😀\u007f""#, #""\/""#, #""\u003c\u2028\ud83d\ude00""#,
            #""\u0041\u000a""#, "1e3", "1.50", "-0", "9007199254740993", #"{"b":1,"a":{"<":null}}"#,
        ] {
            let body = #"{"foo":\#(text),"bar":[\#(text)]}"#
            let reply = try client.post(
                "/foo/bar", request(nonce: quoted(freshNonce().description), timestamp: quoted(now), body: body))
            #expect(reply.status == 200, "\(text)")
            #expect(reply.text.contains(#"{"wasFoo":\#(text),"wasBar":[\#(text)],"serverName":"test"}"#), "\(text)")
        }
    }

    /// The same text in another spelling is another message.
    @Test func anotherSpellingIsNotSigned() throws {
        let spellings: [(String, String)] = [
            (#""<""#, #""\u003c""#), (#""\u003C""#, #""<""#), ("\"\u{2028}\"", #""\u2028""#), (#""\/""#, #""/""#),
            (#""é""#, #""\u00e9""#), ("1.0", "1"), (#"{"a":1,"b":2}"#, #"{"b":2,"a":1}"#),
        ]
        for (signed, sent) in spellings {
            let (nonce, end) = (try freshNonce(), quoted(now))
            let whole = try request(
                nonce: quoted(nonce.description), timestamp: end, body: #"{"foo":\#(signed),"bar":2}"#)
            let text = String(decoding: whole, as: UTF8.self)
            let other = text.replacing(#""foo":\#(signed)"#, with: #""foo":\#(sent)"#)
            #expect(other != text)
            let reply = try client.post("/foo/bar", Array(other.utf8))
            #expect(reply.status == 401 && reply.text.contains("HF401"), "\(sent)")
            #expect(try client.post("/foo/bar", whole).status == 200, "\(signed)")
        }
    }

    /// Old peers write nine digits; what is below a millisecond is cut off.
    @Test func timesOfNineDigitsAreRead() throws {
        let clock = front.server.clock
        let start = now.dropLast()
        func send(_ time: String) throws -> String {
            try client.post("/foo/bar", request(nonce: quoted(freshNonce().description), timestamp: quoted(time))).text
        }
        for digits in ["000000", "000001", "999999"] {
            #expect(try send("\(start)\(digits)Z").hasPrefix(#"{"payload""#), "\(digits)")
        }
        clock.advance(seconds: 30)
        #expect(try send("\(start)999999Z").hasPrefix(#"{"payload""#))
        clock.advance(milliseconds: 1)
        #expect(try send("\(start)999999Z").contains("BA501"))
        let ahead = try #require(clock.now.adding(milliseconds: 1)).description.dropLast()
        #expect(try send("\(ahead)000000Z").contains("BA502"))
    }

    /// A token with such times is verified over its own text, for access and for a refresh.
    @Test func tokensWithTimesOfNineDigitsAreTaken() throws {
        let claims = try session.claims
        var text = String(decoding: claims.encoded, as: UTF8.self)
        for time in Set([claims.issuedAt, claims.expiry, claims.refreshExpiry]) {
            text = text.replacing(time.description, with: time.description.dropLast() + "000000Z")
        }
        let bytes = Array(text.utf8)
        let member = try unsafe ZlibTokenCompression().deflate(bytes.span.bytes)
        let signature = try unsafe front.server.accessKey.sign(bytes.span.bytes)
        var old = session
        old.token = try TokenText(parsing: signature.description + base64URL(member))
        #expect(old.token != session.token)
        let access = try accessRequest(old, #"{"foo":1,"bar":2}"#, now: front.server.clock.now)
        #expect(try client.post("/foo/bar", access.bytes).status == 200)
        #expect(try front.server.refresh(old).1 == nil)
    }

    /// A time that cannot be read is never one that is not stale (item 14), and its nonce stays free.
    @Test func timesThatCannotBeReadAreRefused() throws {
        let time = now
        let nonce = quoted(try freshNonce().description)
        let start = String(time.dropLast())
        let texts: [String] = [
            "", "0", "now", "Invalid Date", start, "\(start.dropLast(4))Z", "\(start)000Z", "\(start)0000000Z",
            "\(start)+00:00", time.lowercased(), " \(time)", "\(time)Z", time.replacing("T", with: " "),
            "2026-02-30T00:00:00.000Z", "2026-01-02T24:00:00.000Z", "\(front.server.clock.now.milliseconds)",
        ]
        for text in texts.map(quoted) + ["null", "0", "1767323045678", "[]", "{}", "true"] {
            let reply = try client.post("/foo/bar", request(nonce: nonce, timestamp: text))
            #expect(reply.status == 400 && reply.text.contains("BA101"), "\(text)")
        }
        let missing = String(decoding: try request(nonce: nonce, timestamp: quoted(time)), as: UTF8.self)
            .replacing(#","timestamp":\#(quoted(time))"#, with: "")
        #expect(try client.post("/foo/bar", Array(missing.utf8)).text.contains("BA101"))
        #expect(try client.post("/foo/bar", request(nonce: nonce, timestamp: quoted(time))).status == 200)
    }

    /// Nonces have one form, so that none is remembered under another name or is not remembered at all (item 15).
    @Test func noncesHaveOneForm() throws {
        let nonce = try freshNonce().description
        let texts: [String] = [
            "", "0A", "0A0123456789", "\(nonce.dropLast())", "\(nonce)A", "\(nonce)=", " \(nonce)",
            "0B\(nonce.dropFirst(2))", "0AE\(nonce.dropFirst(3))", "\(nonce.dropLast())\\u0041",
            String(repeating: nonce, count: 2000),
        ]
        for text in texts.map(quoted) + ["null", "0", "[]"] {
            let reply = try client.post("/foo/bar", request(nonce: text, timestamp: quoted(now)))
            #expect(reply.status == 400 && reply.text.contains("BA101"), "\(text.prefix(40))")
        }
        #expect(try client.post("/foo/bar", request(nonce: quoted(nonce), timestamp: quoted(now))).status == 200)
    }

    /// The path is not signed: a body is good once, on whichever path it comes (item 12).
    @Test func aRequestIsGoodOnceOnAllPaths() throws {
        let body = try request(nonce: quoted(freshNonce().description), timestamp: quoted(now))
        #expect(try client.post("/bad/nonce", body).status == 200)
        #expect(try client.post("/foo/bar", body).text.contains("HF410"))
    }
}
