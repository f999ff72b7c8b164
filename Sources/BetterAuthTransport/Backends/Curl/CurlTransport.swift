public import BetterAuthVerification
internal import CCurl
internal import SystemCalls

/// HTTP by libcurl: one connection for each request, in a thread of its own.
///
/// Certificates and host names are verified with what the system trusts, TLS 1.2 at least; redirects are not followed;
/// the answer, head and body, is bounded in size and time; nothing is decompressed.
public struct CurlTransport: Transport {
    /// Bounds in time.
    public struct Patience: Sendable, Hashable {
        /// Until there is a connection.
        public var connect = Duration.seconds(10)
        /// For all of it.
        package var total = Duration.seconds(30)

        /// 10 and 30 seconds.
        public init() {}
    }

    private let patience: Patience
    private let authorities: String?

    /// - Parameters:
    ///   - patience: How long is waited.
    ///   - authorities: A file with the certificates to trust, in PEM; nil for what the system trusts.
    public init(patience: Patience = Patience(), authorities: String? = nil) {
        self.patience = patience
        self.authorities = authorities
    }

    /// Sends one request and waits for the answer, whatever its status is.
    /// - Throws: ``BetterAuthVerification/TransportError``. The request may still have arrived.
    public func send(_ request: TransportRequest) async throws(TransportError) -> TransportReply {
        let result = await withCheckedContinuation { (continuation: CheckedContinuation<Outcome, Never>) in
            if !DetachedThread.start({ continuation.resume(returning: perform(request)) }) {
                continuation.resume(returning: .failure(.broken("no thread could be started")))
            }
        }
        return try result.get()
    }

    private typealias Outcome = Result<TransportReply, TransportError>

    private func perform(_ request: TransportRequest) -> Outcome {
        guard let library = CurlLibrary.shared else {
            return .failure(.unreachable("libcurl (libcurl.so.4) is not installed"))
        }
        guard ServerAddress.isPath(request.path) else { return .failure(.unreachable("the path is not one")) }
        switch library.makeRequest() {
        case .none: return .failure(.broken("no memory"))
        case .some(var handle):
            configure(&handle, request)
            let answer = CurlAnswer(limit: request.limit)
            let code = handle.perform(into: answer)
            if answer.isTooLong { return .failure(.tooLarge) }
            guard code == CURLE_OK else { return .failure(failure(code, handle.words(code))) }
            return .success(
                TransportReply(status: handle.status(), body: answer.body, contentType: handle.contentType()))
        }
    }

    /// At least one and at most a day's: libcurl takes 0 for no bound at all.
    private static func milliseconds(_ duration: Duration) -> Int {
        let (seconds, attoseconds) = duration.components
        guard seconds < 86_400 else { return 86_400_000 }
        return max(1, Int(max(0, seconds)) * 1000 + Int(attoseconds / 1_000_000_000_000_000))
    }

    private func configure(_ handle: inout CurlRequest, _ request: TransportRequest) {
        handle.set(CURLOPT_URL, request.server.description + request.path)
        handle.set(CURLOPT_PROTOCOLS_STR, request.server.isEncrypted ? "https" : "http")
        handle.set(CURLOPT_FOLLOWLOCATION, 0)
        handle.set(CURLOPT_NOSIGNAL, 1)  // a signal handler is the process's business
        handle.set(CURLOPT_CONNECTTIMEOUT_MS, CurlTransport.milliseconds(patience.connect))
        handle.set(CURLOPT_TIMEOUT_MS, CurlTransport.milliseconds(patience.total))
        handle.set(CURLOPT_SSL_VERIFYPEER, 1)
        handle.set(CURLOPT_SSL_VERIFYHOST, 2)
        handle.set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        handle.set(CURLOPT_MAXFILESIZE, request.limit)  // where the answer announces its size
        if let authorities { handle.set(CURLOPT_CAINFO, authorities) }
        // What goes to this machine goes through no proxy.
        if !request.server.isEncrypted { handle.set(CURLOPT_NOPROXY, "*") }
        var headers = ["Accept: application/json", "User-Agent: holdfast"]
        if let body = request.body {
            headers += ["Content-Type: application/json", "Expect:"]
            handle.set(CURLOPT_POST, 1)
            handle.setBody(body)
        }
        handle.setHeaders(headers)
    }

    private func failure(_ code: CURLcode, _ words: String) -> TransportError {
        switch code {
        case CURLE_OPERATION_TIMEDOUT: .timedOut
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT: .unreachable(words)
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR,
            CURLE_SSL_CONNECT_ERROR:
            .untrusted(words)
        case CURLE_FILESIZE_EXCEEDED: .tooLarge
        default: .broken(words)
        }
    }
}
