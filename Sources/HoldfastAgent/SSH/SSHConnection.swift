internal import ProgramProtocols
internal import SecretMemory
internal import VaultCore
internal import VaultStorage
internal import SystemCalls

/// An SSH program at the agent's second socket. As ``Connection``: used by the agent's own thread alone, one request at
/// a time, and a client that is slow costs what stands here.
final class SSHConnection: SocketClient {
    let number: UInt64
    let socket: Int32
    let peer: Peer
    /// As ``Connection/asking``.
    var asking: Asking?
    /// A thread works for it.
    var isWorking = false
    /// The other end of it is a host that this agent was handed on to. It stays so: what comes through may be the
    /// host's.
    var isForwarded = false
    /// The hosts that it leads through, as ssh told and they proved.
    var sessions = SSHSessions()
    var lastUsed: UInt64
    private var output: [Packet] = []
    private var head: [UInt8] = [0, 0, 0, 0]
    private var headCount = 0
    private var body: SecretBytes?
    private var bodySize = 0
    private var bodyCount = 0
    /// As ``Connection/began``.
    private(set) var began: UInt64?

    /// Makes the answer, told whether a chip may be used; nil where it needs one and may not.
    typealias Answer = @Sendable (LeaseCheck, Bool) throws -> [UInt8]?

    /// As ``Connection/Asking``.
    struct Asking {
        let body: SSHConnection.Answer
        var closed: LeaseCheck.Needed?
    }

    init(_ socket: Int32, _ peer: Peer, number: UInt64, now: UInt64) {
        self.socket = socket
        self.peer = peer
        self.number = number
        lastUsed = now
    }

    deinit { close(socket) }

    var hasOutput: Bool { !output.isEmpty }
    var isReading: Bool { !isWorking && output.isEmpty }

    func append(_ packet: Packet) { output.append(packet) }

    /// - Returns: False when the other side has gone.
    func flush() -> Bool {
        while let packet = output.first {
            switch packet.send(to: socket) {
            case true: output.removeFirst()
            case false: return true
            case nil: return false
            }
        }
        return true
    }

    /// The outcome of reading.
    enum Reading {
        case message(Body)
        case unfinished
        /// The other side has gone, or sends what is no message.
        case ended
    }

    func read() -> Reading {
        if headCount < 4 {
            let (start, socket) = (headCount, socket)
            let outcome = unsafe head.withUnsafeMutableBytes { head in
                let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: head[start...])
                var bytes = unsafe MutableRawSpan(_unsafeBytes: rest)
                return LocalSocket.receive(socket, into: &bytes)
            }
            guard advance(&headCount, outcome) else { return isGone(outcome) ? .ended : .unfinished }
            guard headCount == 4 else { return .unfinished }
            bodySize = head.reduce(0) { $0 << 8 | Int($1) }
            // The limit is checked before memory is set aside.
            guard (1...SSHAgentRequest.longest).contains(bodySize), let memory = try? SecretBytes(zeroed: bodySize)
            else {
                return .ended
            }
            body = consume memory
        }
        if bodyCount < bodySize, var part = body.take() {
            let (count, socket) = (bodyCount, socket)
            let outcome = part.withMutableBytes { bytes in
                bytes.withPart(count..<bytes.byteCount) { LocalSocket.receive(socket, into: &$0) }
            }
            body = consume part
            guard advance(&bodyCount, outcome) else { return isGone(outcome) ? .ended : .unfinished }
        }
        guard bodyCount == bodySize else { return .unfinished }
        headCount = 0
        bodyCount = 0
        began = nil
        switch body.take() {
        case .none: return .ended
        case .some(let body): return .message(Body(body))
        }
    }

    private func advance(_ count: inout Int, _ outcome: LocalSocket.Transfer) -> Bool {
        guard case .moved(let more) = outcome, more > 0 else { return false }
        count += more
        if began == nil { began = MonotonicClock.milliseconds }
        return true
    }

    private func isGone(_ outcome: LocalSocket.Transfer) -> Bool {
        if case .ended = outcome { return true }
        return false
    }
}
