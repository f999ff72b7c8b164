import BetterAuth
import Testing

/// What an answer says of itself is shown to people, so it is a media type or nothing.
@Suite struct TransportReplyTests {
    @Test(arguments: [
        ("text/html", "text/html"), ("Text/HTML; charset=utf-8", "text/html"),
        ("application/json ", "application/json"),
        ("application/problem+json;x", "application/problem+json"),
    ])
    func mediaTypes(_ header: String, _ expected: String) {
        #expect(TransportReply(status: 200, body: [], contentType: header).contentType == expected)
    }

    @Test(arguments: [
        "", "text", "/", "a/", "/b", "a/b/c", "\u{1b}[2J/x", "text/\u{202e}lmth", "text/<b>", "tëxt/html",
        "text/" + String(repeating: "a", count: 64),
    ])
    func nothingElse(_ header: String) {
        #expect(TransportReply(status: 200, body: [], contentType: header).contentType == nil)
    }
}
