internal import BetterAuthVerification
internal import BetterAuthHTTP
internal import BetterAuthMessages
internal import BetterAuthPostgres
internal import BetterAuthServer

/// `holdfast-server app`: an application server in a process of its own.
struct AppCommand {
    private let arguments: Arguments

    init(_ words: [String]) throws(UsageError) {
        let own: Set<String> = [
            "keys", "trust", "access-key", "redis", "name", "response-keys-file", "access-window-seconds",
            "address-rate",
        ]
        arguments = try Arguments(words, valued: FrontOptions.valued.union(own))
    }

    func run() throws -> Int32 {
        Signals.hold()
        let log = try FrontOptions.log(arguments)
        let settings = try FrontOptions.settings(arguments)
        var verifierSettings = AccessVerifier.Settings()
        verifierSettings.window = .seconds(try arguments.number("access-window-seconds", 1...86_400, default: 30))
        let (nonces, revocations) = try shared()
        let verifier = AccessVerifier(
            keys: try keySource(), nonces: nonces, revocations: revocations, settings: verifierSettings)
        let keys =
            if let path = try arguments.text("response-keys-file") {
                try KeyFile(path).load(responseLifetime: Serve.responseLifetime, accessLifetime: 0)
            } else {
                try ServerKeys.fresh(Lifetimes())
            }
        let example = ExampleApp(
            verifier, name: try arguments.text("name") ?? "app",
            report: { log.write(.error, "access", ["reason": "\($0)"]) }, key: { keys.responseKey(now: $0) })
        let rate = Double(try arguments.number("address-rate", 0...1_000_000, default: 50))
        let service = AppService(example, keys, rate: rate, log: log)
        let front = try HTTPServer(listening: arguments.required("listen"), service, settings)
        FrontOptions.announce(
            front, settings, key: keys.responseKey(now: SystemClock().now).publicKey.description)
        while !Signals.wait(seconds: 3600) {}
        return front.stop() ? 0 : 1
    }

    private func shared() throws -> (any NonceStore, any RevocationList) {
        guard let text = try arguments.perhapsFromFile("redis") else {
            return (MemoryNonceStore(), MemoryRevocationList())
        }
        guard let location = RedisLocation(text) else { throw UsageError("--redis takes redis://HOST:PORT") }
        let shared = SharedAccess(location)
        return (shared, shared)
    }

    private func keySource() throws -> any ServerKeySource {
        let pinned = arguments.all("access-key")
        guard pinned.isEmpty else {
            return PinnedServerKeys(
                access: try pinned.map { text in
                    guard let key = PublicKeyText(text) else { throw UsageError("\(text) is no public key") }
                    return try VerificationKey(key)
                })
        }
        let url = try arguments.required("keys")
        guard let identity = DigestText(try arguments.required("trust")) else {
            throw UsageError("--trust takes the identity of a key chain")
        }
        guard let service = HTTPKeyService(url) else { throw UsageError("--keys takes http://HOST:PORT") }
        return EndorsedServerKeys(trusting: identity, from: service, window: EndorsedServerKeys.appServerWindow)
    }
}

extension ServerKeys {
    /// Keys for one run.
    static func fresh(_ lifetimes: Lifetimes) throws -> ServerKeys {
        ServerKeys(
            response: KeySchedule(try .generate(), lifetime: Serve.responseLifetime),
            access: KeySchedule(try .generate(), lifetime: lifetimes.refresh * 1000))
    }
}
