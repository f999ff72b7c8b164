internal import AgentMessages
internal import SecretMemory
internal import VaultCore
internal import VaultStorage
internal import SystemCalls

/// One client: what of its message was read, what of its answer is not sent yet, and what it is in the middle of. Used
/// by the agent's own thread alone; a client that is slow costs what stands here and keeps no thread.
final class Connection: SocketClient {
    let number: UInt64
    let socket: Int32
    /// Kept for leases, which name a client by its process and the start of it.
    let peer: Peer
    /// What it says of itself.
    var introduction: Introduction?
    /// Its work that may have to be asked for.
    var asking: Asking?
    var stage = Stage.resting
    /// Counts the agent's messages: the connection that was silent longest is closed first if there are too many.
    var lastUsed: UInt64
    /// Nothing more is read; it is closed when its answer has gone.
    var isEnding = false
    /// When the client must have taken what it is in the middle of; ms of the `MonotonicClock`.
    private(set) var takesUntil: UInt64?
    private var output: [Packet] = []

    private var head = [UInt8](repeating: 0, count: Frame.size)
    private var headCount = 0
    private var frame: Frame?
    private var body: SecretBytes?
    private var bodyCount = 0
    /// When the first byte of an unfinished message came; ms of the `MonotonicClock`.
    private(set) var began: UInt64?

    /// What a client is in the middle of.
    enum Stage {
        /// Its next message is a request.
        case resting
        /// A thread works for it, or it waits for one.
        case working
        /// It takes a value; so many bytes have been read.
        case giving(ValueReader, UInt64)
        /// It gives a value.
        case taking(ValueWriter)
        /// It gives an item.
        case takingItem(ComingItem)
        /// The owner is being confirmed for it.
        case confirming
        /// It takes a list; so many of these have gone.
        case listing([RecordEntry], Int)
    }

    /// Work that stops before what the user must be asked for, and is done again then.
    struct Asking {
        let body: @Sendable (Vault, LeaseCheck) throws -> ([Packet], Completion.Next)
        /// Seconds that the client wants a lease for.
        var wanted: UInt32?
        var closed: LeaseCheck.Needed?
        /// Whether it may stop at several items: then an error says which one was refused.
        var isOfSeveral = false
        /// What was decided on for it: work on several items stops at one after the other.
        var allowed: [LeaseCheck.Needed] = []
    }

    init(_ socket: Int32, _ peer: Peer, number: UInt64, now: UInt64) {
        self.number = number
        self.socket = socket
        self.peer = peer
        lastUsed = now
    }

    deinit { close(socket) }

    var isWorking: Bool {
        if case .working = stage { return true }
        return false
    }

    /// Whether it can be told something while a thread works for it.
    var hears: Bool {
        switch stage {
        case .working, .confirming: true
        case .resting, .giving, .taking, .takingItem, .listing: false
        }
    }

    /// Whether a value or a list is under way, which a lock ends.
    var isStreaming: Bool {
        switch stage {
        case .resting, .working, .confirming: false
        case .giving, .taking, .takingItem, .listing: true
        }
    }

    /// Whether there is more to send than what the client is waiting for.
    var isContinuing: Bool {
        switch stage {
        case .resting, .working, .taking, .takingItem, .confirming: false
        case .giving, .listing: true
        }
    }

    /// Whether a value or an item is being given to the agent.
    private var takesData: Bool {
        switch stage {
        case .taking, .takingItem: true
        case .resting, .working, .giving, .confirming, .listing: false
        }
    }

    var hasOutput: Bool { !output.isEmpty }

    /// Whether it may send its next message.
    var isReading: Bool {
        guard !isEnding, output.isEmpty else { return false }
        switch stage {
        case .resting, .taking, .takingItem, .confirming: return true
        case .working, .giving, .listing: return false
        }
    }

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
        takesUntil = nil
        return true
    }

    /// Forgets what of the vault has not been sent. One message that is on its way already is ended, or the client
    /// could not understand what follows; it has `patience` milliseconds to take that.
    /// - Returns: Whether there was any.
    func takeBack(patience: UInt64) -> Bool {
        guard let first = output.firstIndex(where: \.isOfVault) else { return false }
        let isOnItsWay = output[first].sent > 0
        output.removeSubrange((isOnItsWay ? first + 1 : first)...)
        takesUntil = MonotonicClock.milliseconds + patience
        return true
    }

    /// The outcome of reading.
    enum Reading {
        case message(Request, Body)
        /// Not all of it has come.
        case unfinished
        /// The other side has gone.
        case ended
        case refused(VaultError)
    }

    /// Reads no byte behind the message: what follows may be another's secret or data.
    func read() -> Reading {
        do throws(VaultError) {
            if frame == nil {
                let outcome = receiveHead()
                guard try advance(&headCount, outcome) else { return isGone(outcome) ? .ended : .unfinished }
                guard headCount == Frame.size else { return .unfinished }
                try begin()
            }
            guard let frame else { return .unfinished }
            if bodyCount < frame.bodySize, var part = body.take() {
                let count = bodyCount
                let outcome = part.withMutableBytes { bytes in
                    bytes.withPart(count..<bytes.byteCount) { LocalSocket.receive(socket, into: &$0) }
                }
                body = consume part
                guard try advance(&bodyCount, outcome) else { return isGone(outcome) ? .ended : .unfinished }
            }
            guard bodyCount == frame.bodySize else { return .unfinished }
            return try finish(frame)
        } catch { return .refused(error) }
    }

    private func receiveHead() -> LocalSocket.Transfer {
        let (start, socket) = (headCount, socket)
        return unsafe head.withUnsafeMutableBytes { head in
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: head[start...])
            var bytes = unsafe MutableRawSpan(_unsafeBytes: rest)
            return LocalSocket.receive(socket, into: &bytes)
        }
    }

    private func isGone(_ outcome: LocalSocket.Transfer) -> Bool {
        if case .ended = outcome { return true }
        return false
    }

    private func advance(_ count: inout Int, _ outcome: LocalSocket.Transfer) throws(VaultError) -> Bool {
        guard case .moved(let more) = outcome, more > 0 else { return false }
        count += more
        if began == nil { began = MonotonicClock.milliseconds }
        return true
    }

    /// Memory is set aside only for a message whose length is allowed, and for a piece of a value only while one is
    /// taken.
    private func begin() throws(VaultError) {
        let parsed: Frame
        do throws(MessageError) {
            parsed = try unsafe Frame(parsing: head.span.bytes)
            try parsed.expectRequest()
        } catch { throw VaultError(error) }
        if !takesData, parsed.kind == TransferRequest.Kind.data.rawValue {
            throw VaultError(.agentProtocol, "a piece of a value that nobody takes")
        }
        body = try secretMemory(SecretBytes(zeroed: parsed.bodySize))
        frame = parsed
    }

    private func finish(_ frame: Frame) throws(VaultError) -> Reading {
        self.frame = nil
        headCount = 0
        bodyCount = 0
        began = nil
        switch body.take() {
        case .none: return .unfinished
        case .some(let body):
            let request: Request
            do throws(MessageError) {
                request = try body.withBytes { bytes throws(MessageError) in try Request(frame, body: bytes) }
            } catch { throw VaultError(error) }
            return .message(request, Body(body))
        }
    }
}
