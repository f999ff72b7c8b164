import ProgramProtocols
import TestSupport
import Testing

/// Prompts of the Secret Service, and secrets that a pinentry program says.
@Suite(.seeded) struct SecretServicePromptTests {
    /// The one letter is its process too.
    private func client(_ name: String) -> SecretServiceClient {
        SecretServiceClient(name, SecretServiceClient.Process(1, start: UInt64(name.utf8.last ?? 0)))
    }

    @Test func `a prompt is one client's, is shown once, and ends with its client`() {
        var prompts = SecretServicePrompts()
        let areOpen = prompts.open(1, client("a"), ["x"]) && prompts.open(2, client("b"), [])
        #expect(areOpen)
        let shown = [(1, "b"), (3, "a"), (1, "a"), (1, "a")].map { prompts.show($0.0, of: $0.1) }
        #expect(shown == [false, false, true, false])
        #expect(prompts.numbers(isShown: true) == [1] && prompts.numbers(isShown: false) == [1, 2])
        prompts.leave("a")
        let closed = prompts.close(1)
        #expect(prompts[1] == nil && closed == nil && prompts[2]?.client.name == "b")
    }

    @Test func `prompts and what they are for have limits`() {
        var prompts = SecretServicePrompts()
        func open(_ number: UInt64, _ client: String, _ objects: Int = 0) -> Bool {
            prompts.open(number, self.client(client), [String](repeating: "", count: objects))
        }
        #expect(!open(1, "a", 65))
        for number in 0..<UInt64(4) { #expect(open(number, "a", 64)) }
        #expect(!open(4, "a"))
        for number in 4..<UInt64(16) { #expect(open(number, "c\(number / 4)")) }
        #expect(!open(16, "z"))
        let closed = prompts.close(0)
        #expect(closed != nil && open(16, "z"))
    }

    private func entry(_ text: String) -> PinentryEntry { unsafe PinentryEntry(Array(text.utf8).span.bytes) }

    private func secret(_ text: String) -> String? {
        let bytes = Array(text.utf8)
        guard case .entered(let pieces) = entry(text) else { return nil }
        var secret: [UInt8] = []
        for piece in pieces {
            let isWhole = unsafe PinentryEntry.decode(bytes.span.bytes, piece) {
                secret.append($0)
                return true
            }
            guard isWhole else { return nil }
        }
        return String(decoding: secret, as: UTF8.self)
    }

    @Test(arguments: [
        ("OK\n", ""), ("D abc\nOK\n", "abc"), ("# x\nS PIN_REPEATED\nD a b\nD c\nOK done\n", "a bc"),
        ("D 100%25%0A%c3%BC\r\nOK\r\n", "100%\nü"), ("D \nOK\n", ""),
    ])
    func `a secret is what stands behind D`(said: String, secret: String) {
        #expect(self.secret(said) == secret)
        for end in 1..<said.utf8.count { #expect(entry(String(said.utf8.prefix(end))!) == .wait) }
    }

    @Test(arguments: [
        ("ERR 83886179 Operation cancelled <Pinentry>\n", PinentryDialog.Outcome.refused), ("ERR 62\n", .timedOut),
        ("D a\nERR 1\n", .failed), ("ERR x\n", .hostile), ("hello\n", .hostile), ("OK\nOK\n", .hostile),
        ("Dabc\n", .hostile),
        ("D " + String(repeating: "a", count: 1000) + "\nOK\n", .hostile),
        (String(repeating: "#\n", count: 5000), .hostile), (String(repeating: "a", count: 9000), .hostile),
    ])
    func `what is no secret ends it`(said: String, outcome: PinentryDialog.Outcome) {
        #expect(entry(said) == .ended(outcome))
    }

    @Test(arguments: ["D %\nOK\n", "D %4\nOK\n", "D %GG\nOK\n"])
    func `an escape that is none is no secret`(said: String) { #expect(secret(said) == nil) }
}
