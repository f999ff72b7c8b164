internal import BetterAuthMessages
internal import CMicrohttpd

/// One thread of libmicrohttpd with the connections that were given to it.
@safe final class HTTPDaemon: @unchecked Sendable {  // libmicrohttpd takes connections from any thread
    private let daemon: OpaquePointer
    private let owner: UnsafeMutablePointer<cmicrohttpd_owner>
    private let handler: HTTPHandler

    /// Nil when libmicrohttpd cannot start, for the key and certificate do not fit for example.
    init?(_ handler: HTTPHandler, _ settings: HTTPSettings) {
        self.handler = handler
        unsafe owner = .allocate(capacity: 1)
        // The handler lives as long as this object, and that longer than the daemon.
        unsafe owner.initialize(
            to: cmicrohttpd_owner(
                context: Unmanaged.passUnretained(handler).toOpaque(),
                handle: { context, connection, method, version, data, count, slot in
                    guard let context = unsafe context, let connection = unsafe connection,
                        let method = unsafe method, let version = unsafe version, let count = unsafe count,
                        let slot = unsafe slot
                    else { return 0 }
                    let handler = unsafe Unmanaged<HTTPHandler>.fromOpaque(context).takeUnretainedValue()
                    return unsafe handler.handle(connection, method, version, data, count, slot) ? 1 : 0
                },
                target: { context, connection, target in
                    guard let context = unsafe context, let connection = unsafe connection else { return }
                    let handler = unsafe Unmanaged<HTTPHandler>.fromOpaque(context).takeUnretainedValue()
                    unsafe handler.aim(connection, target)
                },
                completed: { context, slot in
                    guard let context = unsafe context, let held = unsafe slot?.pointee else { return }
                    unsafe slot?.pointee = nil
                    let exchange = unsafe Unmanaged<HTTPExchange>.fromOpaque(held).takeRetainedValue()
                    unsafe Unmanaged<HTTPHandler>.fromOpaque(context).takeUnretainedValue().completed(exchange)
                },
                opened: { context, connection, slot in
                    guard let context = unsafe context, let connection = unsafe connection else { return }
                    let handler = unsafe Unmanaged<HTTPHandler>.fromOpaque(context).takeUnretainedValue()
                    guard let peer = unsafe handler.opened(connection) else { return }
                    unsafe slot?.pointee = Unmanaged.passRetained(peer).toOpaque()
                },
                closed: { context, slot in
                    guard let context = unsafe context, let held = unsafe slot?.pointee else { return }
                    unsafe slot?.pointee = nil
                    let peer = unsafe Unmanaged<HTTPPeer>.fromOpaque(held).takeRetainedValue()
                    unsafe Unmanaged<HTTPHandler>.fromOpaque(context).takeUnretainedValue().peers.remove(peer)
                }))
        let share = max(1, (settings.connections + settings.threads - 1) / max(settings.threads, 1))
        let started = unsafe cmicrohttpd_start(
            owner, UInt32(clamping: share), UInt32(clamping: settings.requestSeconds + 10), settings.memory,
            HTTPHeadLayout.isKnown ? 0 : 1, settings.key,
            settings.certificate)
        guard let started = unsafe started else {
            unsafe owner.deallocate()
            return nil
        }
        unsafe daemon = started
    }

    /// Takes over a connection, which is closed when there is no room.
    /// - Returns: Whether there was.
    @unsafe func add(_ client: Int32, _ address: UnsafeRawPointer, _ length: UInt32) -> Bool {
        unsafe cmicrohttpd_add(daemon, client, address, length) == 1
    }

    /// Ends the thread. No request may be under way, since a connection that rests cannot be closed.
    func stop() { unsafe MHD_stop_daemon(daemon) }

    deinit { unsafe owner.deallocate() }
}
