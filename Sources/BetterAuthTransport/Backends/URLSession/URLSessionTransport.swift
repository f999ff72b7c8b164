#if canImport(Security)
public import BetterAuthVerification
internal import Foundation
internal import Synchronization

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// HTTP by URLSession: an ephemeral session for each request, without cookies, caches or stored passwords.
///
/// Certificates and host names are verified with what the system trusts, TLS 1.2 at least; redirects are not followed;
/// the answer is bounded in size and time. Which addresses may be plain is decided where they are made
/// (``BetterAuthVerification/ServerAddress``); this refuses what is neither.
public struct URLSessionTransport: Transport {
    /// Bounds in time.
    public struct Patience: Sendable, Hashable {
        /// Without a sign of the server.
        public var silence = Duration.seconds(10)
        /// For all of it.
        public var total = Duration.seconds(30)

        /// 10 and 30 seconds.
        public init() {}
    }

    private let patience: Patience

    /// A transport with these bounds.
    public init(patience: Patience = Patience()) { self.patience = patience }

    /// Sends one request and waits for the answer, whatever its status is.
    /// - Throws: ``BetterAuthVerification/TransportError``. The request may still have arrived.
    public func send(_ request: TransportRequest) async throws(TransportError) -> TransportReply {
        guard ServerAddress.isPath(request.path),
            let url = URL(string: request.server.description + request.path),
            url.scheme == (request.server.isEncrypted ? "https" : "http")
        else { throw .unreachable("the path is not one") }
        let exchange = URLSessionExchange(limit: request.limit)
        let session = URLSession(configuration: configuration, delegate: exchange, delegateQueue: nil)
        // The session keeps its delegate until then.
        defer { session.finishTasksAndInvalidate() }
        let task = session.dataTask(with: urlRequest(request, url))
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                exchange.begin(continuation)
                task.resume()
            }
        } onCancel: {
            task.cancel()
        }
        return try result.get()
    }

    private var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = patience.silence / .seconds(1)
        configuration.timeoutIntervalForResource = patience.total / .seconds(1)
        configuration.httpShouldSetCookies = false
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpCookieStorage = nil
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        #if !canImport(FoundationNetworking)
        configuration.tlsMinimumSupportedProtocolVersion = .TLSv12
        configuration.waitsForConnectivity = false
        #endif
        return configuration
    }

    private func urlRequest(_ request: TransportRequest, _ url: URL) -> URLRequest {
        var built = URLRequest(url: url)
        built.timeoutInterval = patience.silence / .seconds(1)
        built.httpShouldHandleCookies = false
        built.setValue("application/json", forHTTPHeaderField: "Accept")
        built.setValue("holdfast", forHTTPHeaderField: "User-Agent")
        // Nothing is decompressed: the bound is on what is read.
        built.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        if let body = request.body {
            built.httpMethod = "POST"
            built.setValue("application/json", forHTTPHeaderField: "Content-Type")
            built.httpBody = Data(body)
        }
        return built
    }
}

/// What happens to one request. Its session calls it from a queue of its own, one call after the other.
private final class URLSessionExchange: NSObject, URLSessionDataDelegate, Sendable {
    private typealias Outcome = Result<TransportReply, TransportError>

    private struct State {
        var continuation: CheckedContinuation<Result<TransportReply, TransportError>, Never>?
        var status: Int?
        var contentType: String?
        var body: [UInt8] = []
        var isTooLong = false
    }

    private let limit: Int
    private let state = Mutex(State())

    init(limit: Int) { self.limit = limit }

    func begin(_ continuation: CheckedContinuation<Result<TransportReply, TransportError>, Never>) {
        state.withLock { $0.continuation = continuation }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)  // the redirect itself is the answer
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let head = response as? HTTPURLResponse
        let status = head?.statusCode
        let contentType = head?.value(forHTTPHeaderField: "Content-Type")
        let isTooLong = response.expectedContentLength > Int64(limit)
        state.withLock { state in
            state.status = status
            state.contentType = contentType
            if isTooLong { state.isTooLong = true }
        }
        completionHandler(isTooLong || status == nil ? .cancel : .allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isTooLong = state.withLock { state in
            if data.count > limit - state.body.count {
                state.isTooLong = true
            } else {
                state.body.append(contentsOf: data)
            }
            return state.isTooLong
        }
        if isTooLong { dataTask.cancel() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let (continuation, outcome) = state.withLock { state in
            let outcome: Outcome
            if state.isTooLong {
                outcome = .failure(.tooLarge)
            } else if let error {
                outcome = .failure(TransportError(error as NSError))
            } else if let status = state.status {
                outcome = .success(
                    TransportReply(status: status, body: state.body, contentType: state.contentType))
            } else {
                outcome = .failure(.broken("the answer is not HTTP"))
            }
            return (state.continuation.take(), outcome)
        }
        continuation?.resume(returning: outcome)
    }
}

extension TransportError {
    /// What an error of URLSession means.
    fileprivate init(_ error: NSError) {
        let words = error.localizedDescription
        guard error.domain == NSURLErrorDomain else {
            self = .broken(words)
            return
        }
        switch error.code {
        case NSURLErrorTimedOut: self = .timedOut
        case NSURLErrorCannotFindHost, NSURLErrorCannotConnectToHost, NSURLErrorDNSLookupFailed,
            NSURLErrorNotConnectedToInternet, NSURLErrorInternationalRoamingOff, NSURLErrorDataNotAllowed,
            NSURLErrorCallIsActive:
            self = .unreachable(words)
        // No plain connections are allowed by the app's own settings.
        case NSURLErrorAppTransportSecurityRequiresSecureConnection: self = .unreachable(words)
        case NSURLErrorSecureConnectionFailed, NSURLErrorServerCertificateHasBadDate,
            NSURLErrorServerCertificateUntrusted, NSURLErrorServerCertificateHasUnknownRoot,
            NSURLErrorServerCertificateNotYetValid, NSURLErrorClientCertificateRejected,
            NSURLErrorClientCertificateRequired:
            self = .untrusted(words)
        case NSURLErrorDataLengthExceedsMaximum: self = .tooLarge
        default: self = .broken(words)
        }
    }
}
#endif
