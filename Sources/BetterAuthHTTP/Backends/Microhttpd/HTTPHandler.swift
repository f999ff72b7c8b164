internal import BetterAuthMessages
internal import CMicrohttpd
internal import Synchronization
internal import SystemCalls

/// What the daemons' threads call: reads requests within their limits and sends replies.
final class HTTPHandler: Sendable {
    /// Bytes beyond the limit that are read and thrown away, so that the refusal is heard.
    private static let discarded = 1 << 20

    let peers: HTTPPeers
    private let service: any HTTPService
    private let settings: HTTPSettings
    /// Requests that have begun and were not answered; nil once no more may begin.
    private let underWay = Mutex<Int?>(0)
    private let isStopping = Atomic(false)
    private let claims: ProxyClaims

    init(_ service: any HTTPService, _ settings: HTTPSettings) {
        self.service = service
        claims = settings.claims
        self.settings = settings
        peers = HTTPPeers(perAddress: settings.connectionsPerAddress, settings.counters)
    }

    /// Lets no request begin any more, unless one is under way.
    /// - Returns: Whether none is: the daemons may end. A request that a resting connection sends in this very moment
    ///   would suspend it, and libmicrohttpd ends the process when a daemon stops with a suspended connection.
    func close() -> Bool {
        underWay.withLock { count in
            guard (count ?? 0) == 0 else { return false }
            count = nil
            return true
        }
    }

    /// From now on each reply ends its connection.
    func beginStopping() { isStopping.store(true, ordering: .relaxed) }

    @unsafe func opened(_ connection: OpaquePointer) -> HTTPPeer? {
        // After it is among the peers.
        defer { coming.subtract(1, ordering: .relaxed) }
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = unsafe Int(cmicrohttpd_address(connection, &bytes))
        guard let address = ClientAddress(bytes: Array(bytes.prefix(count))) else { return nil }
        let peer = unsafe HTTPPeer(
            address, cmicrohttpd_descriptor(connection),
            isLimited: !settings.trustedProxies.contains { $0.contains(address) }, now: MonotonicClock.seconds)
        peers.add(peer)
        return peer
    }

    /// Connections that were given to a daemon, which has not begun with them.
    private let coming = Atomic(0)
    /// When the last one was given, as its bits.
    private let given = Atomic(UInt64(0))
    /// Seconds after which it will not come: libmicrohttpd has dropped it, for its own limits for example.
    private static let patience = 5.0

    func expect(now: Double) {
        given.store(now.bitPattern, ordering: .relaxed)
        coming.add(1, ordering: .relaxed)
    }

    /// The daemon has refused the one that was expected.
    func expectNot() { coming.subtract(1, ordering: .relaxed) }

    /// Whether no connection is coming, and none was made or used within so many seconds.
    func isQuiet(for seconds: Double, now: Double) -> Bool {
        let isComing = coming.load(ordering: .relaxed) > 0
        let last = Double(bitPattern: given.load(ordering: .relaxed))
        if isComing && now - last < HTTPHandler.patience { return false }
        return peers.areQuiet(since: now - seconds)
    }

    func completed(_ exchange: HTTPExchange) { underWay.withLock { $0 = $0.map { $0 - 1 } } }

    private func mayBegin() -> Bool {
        underWay.withLock { count in
            count = count.map { $0 + 1 }
            return count != nil
        }
    }

    /// Called when the request line is there.
    @unsafe func aim(_ connection: OpaquePointer, _ target: UnsafePointer<CChar>?) {
        guard let held = unsafe cmicrohttpd_slot(connection) else { return }
        let peer = unsafe Unmanaged<HTTPPeer>.fromOpaque(held).takeUnretainedValue()
        let aimed = unsafe target.map { unsafe HTTPTarget(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
        peer.target.withLock { $0 = aimed }
    }

    /// Called when the first lines are there, for each part of the body, at its end, and after a rest. False ends the
    /// connection.
    @unsafe func handle(
        _ connection: OpaquePointer, _ method: UnsafePointer<CChar>, _ version: UnsafePointer<CChar>,
        _ data: UnsafePointer<CChar>?, _ count: UnsafeMutablePointer<Int>,
        _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    ) -> Bool {
        guard let held = unsafe slot.pointee else { return unsafe begin(connection, method, version, slot) }
        let exchange = unsafe Unmanaged<HTTPExchange>.fromOpaque(held).takeUnretainedValue()
        if unsafe count.pointee > 0, exchange.refusal != nil {
            unsafe count.pointee = 0
            return true
        }
        if unsafe count.pointee > 0 {
            let room = settings.maximumBody - exchange.body.count
            if unsafe count.pointee <= room, !exchange.isTooLarge, let data = unsafe data {
                unsafe exchange.body.append(contentsOf: UnsafeRawBufferPointer(start: data, count: count.pointee))
            } else {
                exchange.isTooLarge = true
                exchange.body = []
            }
            unsafe count.pointee = 0
            return true
        }
        if exchange.isHandled {
            guard let reply = exchange.takeReply() else { return false }
            return unsafe send(reply, exchange, connection)
        }
        if let refusal = exchange.refusal {
            exchange.isHandled = true
            return unsafe send(refusal, exchange, connection)
        }
        if exchange.isTooLarge {
            exchange.isHandled = true
            return unsafe send(HTTPReply(.plain(.tooLarge)), exchange, connection, closes: true)
        }
        // However long the store takes, the connection is not a slow one.
        unsafe rest(connection, since: .infinity)
        guard let reply = exchange.handle() else { return true }
        return unsafe send(reply, exchange, connection)
    }

    private func begin(
        _ connection: OpaquePointer, _ method: UnsafePointer<CChar>, _ version: UnsafePointer<CChar>,
        _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    ) -> Bool {
        guard let held = unsafe cmicrohttpd_slot(connection) else { return false }
        guard mayBegin() else { return false }
        let peer = unsafe Unmanaged<HTTPPeer>.fromOpaque(held).takeUnretainedValue()
        let target = peer.target.withLock { $0.take() }
        let (fault, head) = unsafe read(connection, method, version, target)
        let origin = RequestOrigin(
            peer: peer.address, forwarded: head.forwarded, isMarked: head.isMarked, trusting: settings.trustedProxies)
        let now = MonotonicClock.seconds
        if claims.note(origin, now: now) { settings.onUntrustedProxy(origin.peer) }
        let path = target?.path ?? ""
        let word = unsafe String(cString: method)
        // What answers GET answers HEAD (RFC 9110, section 9.3.2); libmicrohttpd leaves the body out.
        let known = word == "HEAD" ? .get : HTTPRequest.Method(rawValue: word)
        let exchange = unsafe HTTPExchange(
            connection, method: known ?? .get, path: path, service.endpoint(path), origin: origin,
            isLocal: peer.address.isLoopback && origin.way == .direct && !claims.areLocal(now: now),
            authorization: header("Authorization", connection),
            trace: RequestTrace(head.trace, isTrusted: origin.isTrusted), start: now)
        unsafe slot.pointee = Unmanaged.passRetained(exchange).toOpaque()
        if let fault {
            // Where it ends is not sure, so nothing more is read of this connection.
            exchange.isHandled = true
            return unsafe send(HTTPReply(.plain(fault)), exchange, connection, closes: true)
        }
        // The body of a refused request is discarded, but read to its end, because the connection would otherwise have
        // to be closed.
        exchange.refusal = exchange.endpoint.refusal(known, origin.address)
        // A body that announces itself as far too large is not even read.
        if let announced = head.length, announced > settings.maximumBody {
            exchange.isTooLarge = true
            if announced > settings.maximumBody + HTTPHandler.discarded {
                exchange.isHandled = true
                return unsafe send(HTTPReply(.plain(.tooLarge)), exchange, connection, closes: true)
            }
        }
        return true
    }

    /// What makes a head one that others may read otherwise, and the head.
    private func read(
        _ connection: OpaquePointer, _ method: UnsafePointer<CChar>, _ version: UnsafePointer<CChar>,
        _ target: HTTPTarget?
    ) -> (fault: ErrorCode?, head: HTTPHead) {
        guard let target else { return (.malformedRequest, HTTPHead()) }
        let method = unsafe UnsafeRawBufferPointer(start: method, count: strlen(method))
        let version = unsafe UnsafeRawBufferPointer(start: version, count: strlen(version))
        var reading = unsafe HeadReading(layout: HTTPHeadLayout(method: method, target, version: version))
        unsafe withUnsafeMutablePointer(to: &reading) { pointer in
            unsafe cmicrohttpd_read(connection, pointer) { context, name, nameCount, value, valueCount in
                guard let reading = unsafe context?.assumingMemoryBound(to: HeadReading.self) else { return }
                let name = unsafe UnsafeRawBufferPointer(start: name, count: nameCount)
                let value = unsafe UnsafeRawBufferPointer(start: value, count: valueCount)
                unsafe reading.pointee.head.read(name: name, value: value)
                unsafe reading.pointee.layout.read(name: name, value: value)
            }
        }
        let size = unsafe cmicrohttpd_head_size(connection)
        if unsafe HTTPHeadLayout.isKnown && !reading.layout.isWhole(from: method, size: size) {
            return (.malformedRequest, reading.head)
        }
        return (
            unsafe reading.head.fault(version, target) ?? (size > settings.maximumHead ? .tooLarge : nil), reading.head
        )
    }

    private struct HeadReading {
        var head = HTTPHead()
        var layout: HTTPHeadLayout
    }

    private func rest(_ connection: OpaquePointer, since moment: Double) {
        guard let held = unsafe cmicrohttpd_slot(connection) else { return }
        let peer = unsafe Unmanaged<HTTPPeer>.fromOpaque(held).takeUnretainedValue()
        peer.restingSince.withLock { $0 = moment }
    }

    @unsafe private func header(_ name: String, _ connection: OpaquePointer) -> String? {
        unsafe cmicrohttpd_header(connection, name).map { unsafe String(cString: $0) }
    }

    @unsafe private func send(
        _ reply: HTTPReply, _ exchange: HTTPExchange, _ connection: OpaquePointer, closes: Bool = false
    ) -> Bool {
        unsafe rest(connection, since: MonotonicClock.seconds)
        let ends = closes || isStopping.load(ordering: .relaxed)
        let isQueued = unsafe reply.body.withUnsafeBytes { body in
            reply.type.header.withUTF8Buffer { type in
                guard let type = type.baseAddress else { return false }
                return unsafe cmicrohttpd_reply(
                    connection, exchange.trace.id, exchange.trace.parent, UInt32(clamping: reply.status),
                    UnsafeRawPointer(type).assumingMemoryBound(to: CChar.self),
                    body.baseAddress, body.count, ends ? 1 : 0, UInt32(clamping: reply.retrySeconds),
                    reply.allowed.map { unsafe UnsafeRawPointer($0.utf8Start).assumingMemoryBound(to: CChar.self) })
                    == 1
            }
        }
        let duration = Int((MonotonicClock.seconds - exchange.start) * 1_000_000)
        exchange.endpoint.sent(
            reply, AnsweredRequest(address: exchange.origin.address, trace: exchange.trace, duration: duration))
        return isQueued
    }
}
