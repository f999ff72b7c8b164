package import BetterAuthMessages
package import BetterAuthServer
package import BetterAuthVerification

/// The application of the protocol's examples: says back what it was told (protocol.md 4.2).
package struct ExampleApp: Sendable {
    package enum Path: String, Sendable, CaseIterable {
        case echo = "/foo/bar"
        /// Answers with a nonce that the request did not contain, to test clients.
        case badNonce = "/bad/nonce"
    }

    private let verifier: AccessVerifier
    private let key: @Sendable (Timestamp) -> ServerKey
    private let clock: any ServerClock
    private let name: String?
    private let report: @Sendable (any Error) -> Void

    /// - Parameters:
    ///   - key: Signs replies.
    ///   - name: Said in replies; nil for none.
    ///   - report: Told why a store or key source failed, which clients are not.
    package init(
        _ verifier: AccessVerifier, clock: any ServerClock = SystemClock(), name: String? = nil,
        report: @escaping @Sendable (any Error) -> Void = { _ in },
        key: @escaping @Sendable (Timestamp) -> ServerKey
    ) {
        self.verifier = verifier
        self.clock = clock
        self.name = name
        self.report = report
        self.key = key
    }

    /// - Parameter answer: Called before this returns, unless a store or the key service has to be waited for.
    package func handle(_ path: Path, _ body: [UInt8], _ answer: @escaping @Sendable (HTTPReply) -> Void) {
        // Begins on this thread, and ends on it where nothing is waited for: no hop for what is in memory.
        _ = Task.immediate { answer(await reply(path, body)) }
    }

    private func reply(_ path: Path, _ body: [UInt8]) async -> HTTPReply {
        let now = clock.now
        let access: VerifiedAccess
        do throws(AccessRefusal) {
            access = try await verifier.verify(body, now: now)
        } catch {
            if let failure = error.failure {
                report(failure)
                return HTTPReply(.plain(.unavailable))
            }
            return HTTPReply(error.reply)
        }
        return sign(path, access, now)
    }

    private func sign(_ path: Path, _ access: VerifiedAccess, _ now: Timestamp) -> HTTPReply {
        guard let members = access.request.body.members(), let foo = members["foo"], let bar = members["bar"],
            let said = echo(foo, bar), let wrong = NonceText("0AAAAAAAAAAAAAAAAAAAAAAA")
        else { return HTTPReply(.plain(.invalidMessage)) }
        let key = key(now)
        let response = Response<Access>(
            nonce: path == .badNonce ? wrong : access.request.nonce, serverIdentity: key.publicKey, body: said)
        guard let message = try? SignedMessage(response, sign: { try key.sign($0) }) else {
            return HTTPReply(.plain(.base))
        }
        return HTTPReply(.json, message.bytes)
    }

    private func echo(_ foo: ApplicationData, _ bar: ApplicationData) -> ApplicationData? {
        var text = Array(#"{"wasFoo":"#.utf8) + foo.bytes + Array(#","wasBar":"#.utf8) + bar.bytes
        if let name { text += Array(",\"serverName\":\(ServerLog.quoted(name))".utf8) }
        text.append(UInt8(ascii: "}"))
        return unsafe try? ApplicationData(json: text.span.bytes)
    }
}
