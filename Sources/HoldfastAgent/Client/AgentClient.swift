package import AgentMessages
package import SecretMemory
package import VaultCore
package import VaultStorage
internal import SystemCalls
package import VaultFormat

/// A connection to the agent of a home. One request at a time; calls wait for the agent, but not for ever.
package struct AgentClient: ~Copyable {
    private let socket: Int32

    /// Seconds that the agent may take for an answer; an unlock has its turn and its key derivation to wait for.
    static let patience = 60
    static let unlockPatience = 600

    /// - Parameters:
    ///   - home: Path of the home.
    ///   - runtime: The user's runtime folder, where there is one.
    /// - Returns: Nil when no agent serves this home.
    /// - Throws: `agentUnavailable` when the place of the socket is not safe, or another user listens there.
    package init?(home: String, runtime: String?) throws(VaultError) {
        try self.init(home: home, runtime: runtime, name: nil)
    }

    /// - Parameter name: Of the socket; nil for that of the home's agent.
    private init?(home: String, runtime: String?, name: String?) throws(VaultError) {
        let folder = unsafe open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return nil }
        defer { close(folder) }
        let own = try Profile(home: folder).socketName
        let name = name ?? own
        var found: Int32?
        try SocketFolder.find(runtime: runtime, home: folder) { place throws(VaultError) in
            guard try place.holds(name) else { return false }
            found = try place.connect(name, patience: AgentClient.patience)
            return found != nil
        }
        guard let found else { return nil }
        // Secrets go there: it must be ours.
        guard let peer = LocalSocket.peer(found), peer.user == geteuid() else {
            close(found)
            throw .unavailable("another user owns the agent's socket")
        }
        socket = found
    }

    /// Connects to the socket that the service manager starts an agent for, where there is one, and waits until that
    /// agent serves: its own vault, whichever that is.
    /// - Returns: False where there is none, or it ended.
    /// - Throws: As ``init(home:runtime:)``.
    static func wake(home: String, runtime: String?) throws(VaultError) -> Bool {
        guard let client = try AgentClient(home: home, runtime: runtime, name: PassedSockets.agentName) else {
            return false
        }
        return (try? client.hello()) != nil
    }

    deinit { close(socket) }

    /// Whether the agent is still there. Between two requests it says nothing but that it closes this connection.
    package var isConnected: Bool {
        var waiting = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&waiting, 1, 0) == 0
    }

    /// Seconds that the agent may take from now on.
    borrowing func setPatience(_ seconds: Int) { LocalSocket.setPatience(socket, seconds: seconds) }

    /// What the agent says of itself.
    package borrowing func status() throws(VaultError) -> AgentStatus {
        try send(.connection(.status))
        guard case .status(let status) = try receiveReply() else { throw .unexpected }
        return status
    }

    /// How often it has locked while its vault is open; nil where it is locked, has ended or does not answer within
    /// some seconds.
    package var locksWhileOpen: UInt32? {
        setPatience(5)
        defer { setPatience(AgentClient.patience) }
        guard let status = try? status(), status.isUnlocked else { return nil }
        return status.locks
    }

    /// Version of the protocol, process and program of the agent.
    package borrowing func hello() throws(VaultError) -> (version: UInt8, process: UInt32, program: String) {
        try send(.connection(.hello(version: Frame.version)))
        guard case .welcome(let version, let process, let program) = try receiveReply() else { throw .unexpected }
        return (version, process, program)
    }

    /// Opens the vault.
    /// - Parameters:
    ///   - isRemembered: The vault may stay open only if its rules allow that: `busy` where they do not.
    ///   - handedOver: Called as soon as the agent may have some of the secret.
    /// - Returns: Milliseconds until it locks if idle; nil for never.
    /// - Throws: What unlocking throws, with what is left; `locked` if it was locked meanwhile.
    package borrowing func unlock(
        _ factor: UnlockSecret, _ secret: borrowing SecretBytes, isRemembered: Bool = false, idle: UInt32? = nil,
        timeout: UInt32? = nil, handedOver: () -> Void = {}
    ) throws(VaultError) -> UInt64? {
        LocalSocket.setPatience(socket, seconds: AgentClient.unlockPatience)
        defer { LocalSocket.setPatience(socket, seconds: AgentClient.patience) }
        let request = Request.lock(
            .unlock(
                factor, isRemembered: isRemembered, idle: idle, timeout: timeout, secret: 0..<secret.count))
        try secret.withBytes { bytes throws(VaultError) in
            try send(request, payload: bytes, handedOver: handedOver)
        }
        guard case .unlocked(let locksIn) = try receiveReply() else { throw .unexpected }
        return locksIn
    }

    /// Opens a vault that opens without asking.
    /// - Returns: As ``unlock(_:_:idle:timeout:)``.
    /// - Throws: What opening throws; `locked` if it was locked meanwhile.
    package borrowing func openUnasked(idle: UInt32? = nil, timeout: UInt32? = nil) throws(VaultError) -> UInt64? {
        LocalSocket.setPatience(socket, seconds: AgentClient.unlockPatience)
        defer { LocalSocket.setPatience(socket, seconds: AgentClient.patience) }
        try send(.lock(.open(idle: idle, timeout: timeout)))
        guard case .unlocked(let locksIn) = try receiveReply() else { throw .unexpected }
        return locksIn
    }

    /// What a client shows and answers while the owner is being confirmed.
    package struct Conversation {
        /// What a sensor says.
        package let show: (OwnerGuidance) -> Void
        /// What is asked; nil to turn away.
        package let ask: (OwnerPrompt) throws -> SecretBytes?

        package init(show: @escaping (OwnerGuidance) -> Void, ask: @escaping (OwnerPrompt) throws -> SecretBytes?) {
            self.show = show
            self.ask = ask
        }
    }

    /// Has the agent do something with the identity in its vault.
    /// - Parameters:
    ///   - json: What an app server is asked; empty otherwise.
    ///   - notify: Hears what became known on the way.
    /// - Throws: `locked`; what the operation throws, under the code of its error.
    package borrowing func identity(
        _ call: IdentityCall, json: [UInt8] = [], notify: (String) -> Void = { _ in }
    ) throws -> IdentityOutcome {
        LocalSocket.setPatience(socket, seconds: AgentClient.unlockPatience)
        defer { LocalSocket.setPatience(socket, seconds: AgentClient.patience) }
        try send(.identity(call), payload: unsafe json.span.bytes)
        var answer: [UInt8] = []
        while true {
            var outcome: IdentityOutcome?
            try receive { reply, bytes in
                switch reply {
                case .notice(let words): notify(words)
                case .identity(let report): outcome = .report(report)
                case .piece(let range):
                    answer += range.map { unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
                    guard answer.count <= Frame.longestPiece else { throw VaultError.unexpected }
                case .finished(let count):
                    guard count == UInt64(answer.count) else { throw VaultError.unexpected }
                    outcome = .answer(answer)
                default: throw VaultError.unexpected
                }
            }
            if let outcome { return outcome }
        }
    }

    /// Has the system confirm its owner, and opens the vault.
    /// - Returns: As ``unlock(_:_:idle:timeout:)``.
    /// - Throws: `passcodeNeeded`, `notConfirmed`, `cancelled`, `timedOut`, `ownerUnavailable` and its like.
    package borrowing func confirm(
        _ step: OwnerStep, idle: UInt32? = nil, timeout: UInt32? = nil, _ conversation: Conversation
    ) throws -> UInt64? {
        LocalSocket.setPatience(socket, seconds: AgentClient.unlockPatience)
        defer { LocalSocket.setPatience(socket, seconds: AgentClient.patience) }
        try send(.owner(.confirm(step, idle: idle, timeout: timeout)))
        while true {
            switch try receiveReply() {
            case .guidance(let guidance): conversation.show(guidance)
            case .prompt(let prompt):
                let answer = try conversation.ask(prompt)
                guard prompt.needsAnswer else { continue }
                switch consume answer {
                case .none: try send(.owner(.cancel))
                case .some(let secret):
                    try secret.withBytes { bytes throws(VaultError) in
                        try send(.owner(.answer(secret: 0..<bytes.byteCount)), payload: bytes)
                    }
                }
            case .unlocked(let locksIn): return locksIn
            default: throw VaultError.unexpected
            }
        }
    }

    /// What the agent knows of confirmations.
    package borrowing func owner() throws(VaultError) -> OwnerStatus {
        try send(.owner(.status))
        guard case .owner(let status) = try receiveReply() else { throw .unexpected }
        return status
    }

    /// Locks; the keys are gone when it returns.
    package borrowing func lock() throws(VaultError) { try expectDone(.lock(.lock)) }

    /// Locks and ends the agent.
    package borrowing func shutDown() throws(VaultError) { try expectDone(.lock(.shutDown)) }

    /// Asks for a sign of life.
    package borrowing func ping() throws(VaultError) { try expectDone(.connection(.ping)) }

    /// Begins a change of self-destruct, which the agent holds for as long as this connection lasts.
    /// - Parameter countdown: Seconds; the vault's rules may ask for more.
    /// - Throws: As ``AppLockCore/SelfDestructSwitch/begin(_:passcode:)``; `locked` while the agent is.
    package borrowing func begin(
        _ change: ChangeRequest.Change, countdown: UInt32?, passcode: borrowing SecretBytes
    ) throws(VaultError) -> PendingChange {
        let request = Request.change(.begin(change, countdown: countdown, secret: 0..<passcode.count))
        LocalSocket.setPatience(socket, seconds: AgentClient.unlockPatience)
        defer { LocalSocket.setPatience(socket, seconds: AgentClient.patience) }
        try passcode.withBytes { bytes throws(VaultError) in try send(request, payload: bytes) }
        guard case .change(let pending?) = try receiveReply() else { throw .unexpected }
        return pending
    }

    /// Starts its countdown.
    /// - Throws: `notPending` when it has ended meanwhile.
    package borrowing func confirmChange() throws(VaultError) { try expectDone(.change(.confirm)) }

    /// Authenticates again and writes it.
    /// - Throws: As ``AppLockCore/SelfDestructSwitch/finish(passcode:)``.
    package borrowing func finishChange(passcode: borrowing SecretBytes) throws(VaultError) {
        LocalSocket.setPatience(socket, seconds: AgentClient.unlockPatience)
        defer { LocalSocket.setPatience(socket, seconds: AgentClient.patience) }
        try passcode.withBytes { bytes throws(VaultError) in
            try send(.change(.finish(secret: 0..<bytes.byteCount)), payload: bytes)
        }
        guard case .done = try receiveReply() else { throw .unexpected }
    }

    /// Cancels the pending change, whichever client began it.
    /// - Throws: `notPending` when none is.
    package borrowing func cancelChange() throws(VaultError) { try expectDone(.change(.cancel)) }

    /// The change that is pending, nil when none is.
    package borrowing func pendingChange() throws(VaultError) -> PendingChange? {
        try send(.change(.pending))
        guard case .change(let pending) = try receiveReply() else { throw .unexpected }
        return pending
    }

    /// - Throws: As `ItemStore.rename`.
    package borrowing func move(_ path: RecordName, to target: RecordName) throws(VaultError) {
        try waiting { agent throws(VaultError) in try agent.expectDone(.records(.move(path, to: target))) }
    }

    /// - Throws: As `ItemStore.copy`.
    package borrowing func copy(_ path: RecordName, to target: RecordName) throws(VaultError) {
        try waiting { agent throws(VaultError) in try agent.expectDone(.records(.copy(path, to: target))) }
    }

    /// Removes a record.
    package borrowing func remove(_ path: RecordName) throws(VaultError) { try expectDone(.records(.remove(path))) }

    /// Lends a value piece by piece. After an error the pieces before are genuine, but not all there is.
    package borrowing func get(_ path: RecordName, _ body: (RawSpan) throws -> Void) throws {
        try waiting { agent throws in try agent.receiveAll(of: path, body) }
    }

    private borrowing func receiveAll(of path: RecordName, _ body: (RawSpan) throws -> Void) throws {
        try send(.records(.get(path)))
        var total: UInt64 = 0
        var isFinished = false
        while !isFinished {
            try receive { reply, bytes in
                switch reply {
                case .piece(let range):
                    total += UInt64(range.count)
                    try body(bytes.extracting(range))
                case .finished(let count):
                    guard count == total else { throw VaultError.unexpected }
                    isFinished = true
                default: throw VaultError.unexpected
                }
            }
        }
    }

    /// The value that a reference names; of a one-time code its text, of which the code is computed.
    /// - Throws: As `ItemStore.value(of:)`; `invalidName` for parts that no record has.
    package borrowing func value(of reference: SecretReference) throws -> SecretBytes {
        guard let path = RecordName(collection: reference.collection, name: reference.item) else {
            throw VaultError(.invalidName, "no entry has this name")
        }
        return try waiting { agent throws in
            try agent.send(.records(.value(path, label: reference.field, isCode: reference.isCode)))
            return try agent.receiveValue()
        }
    }

    /// Asks for, keeps or forgets a server's password.
    /// - Returns: The lines for git; empty for an action without an answer, and where nothing is stored.
    /// - Throws: As `CredentialStore`.
    package borrowing func credential(
        _ action: ProgramRequest.CredentialAction, collection: String, _ attributes: borrowing SecretBytes
    ) throws -> SecretBytes {
        try attributes.withBytes { bytes throws(VaultError) in
            let request = Request.programs(.credential(action, collection: collection, attributes: 0..<bytes.byteCount))
            try send(request, payload: bytes)
        }
        return try waiting { agent throws in try agent.receiveValue() }
    }

    /// Has the agent serve SSH programs.
    /// - Returns: The path of its socket, for `SSH_AUTH_SOCK`.
    package borrowing func serveSSH() throws(VaultError) -> String {
        try send(.programs(.serveSSH))
        return try receiveNotice()
    }

    /// Has the agent be the Secret Service of the user's session.
    package borrowing func serveSecrets() throws(VaultError) {
        try send(.programs(.serveSecrets))
        guard case .done = try receiveReply() else { throw .unexpected }
    }

    /// Has it give that up.
    package borrowing func stopSecrets() throws(VaultError) { try expectDone(.programs(.stopSecrets)) }

    /// Stores a private key as its file has it, and a certificate behind it.
    /// - Returns: The public key in one line.
    /// - Throws: As `SSHIdentities.add`.
    package borrowing func importSSH(
        _ path: RecordName, key: borrowing SecretBytes
    ) throws(VaultError) -> String {
        try key.withBytes { bytes throws(VaultError) in
            try send(.programs(.importSSH(path, key: 0..<bytes.byteCount)), payload: bytes)
        }
        return try receiveNotice()
    }

    /// Words, and that it is done.
    private borrowing func receiveNotice() throws(VaultError) -> String {
        guard case .notice(let words) = try receiveReply(), case .done = try receiveReply() else { throw .unexpected }
        return words
    }

    /// A value of one message at most.
    private borrowing func receiveValue() throws -> SecretBytes {
        var value = try secretMemory(SecretBytes(zeroed: 0))
        while true {
            var isFinished = false
            try receive { reply, bytes in
                switch reply {
                case .piece(let range):
                    guard value.count == 0 else { throw VaultError.unexpected }
                    value = try secretMemory(SecretBytes(copying: bytes.extracting(range)))
                case .finished(let count):
                    guard count == UInt64(value.count) else { throw VaultError.unexpected }
                    isFinished = true
                default: throw VaultError.unexpected
                }
            }
            if isFinished { return value }
        }
    }

    /// Stores a value of any size.
    /// - Parameter source: Fills the span it is given and returns how many bytes it wrote; 0 ends the value. Asked only
    ///   once the agent has agreed to take it.
    /// - Returns: Its bytes.
    package borrowing func put(
        _ path: RecordName, replacing: Bool, from source: (inout MutableRawSpan) throws -> Int
    ) throws -> UInt64 {
        try send(.records(.put(path, replacing: replacing)))
        var piece = try secretMemory(SecretBytes(zeroed: Frame.longestPiece))
        while true {
            guard case .ready = try receiveReply() else { throw VaultError.unexpected }
            let count = try piece.withMutableBytes { bytes in min(try source(&bytes), bytes.byteCount) }
            if count <= 0 { break }
            try piece.withBytes { bytes throws(VaultError) in
                try send(.transfer(.data(0..<count)), payload: bytes.extracting(0..<count))
            }
        }
        try send(.transfer(.end))
        guard case .finished(let total) = try receiveReply() else { throw VaultError.unexpected }
        return total
    }

    /// The records of one collection, or of all.
    package borrowing func list(_ collection: String?) throws(VaultError) -> [Vault.RecordInfo] {
        try send(.records(.list(collection: collection)))
        return try receiveRecords().map(AgentClient.info)
    }

    /// The records that have all words of a query, the best first, with what they are; all for an empty one.
    package borrowing func find(_ query: String, in collection: String?) throws(VaultError) -> [RecordEntry] {
        try send(.records(.find(query, collection: collection)))
        return try receiveRecords()
    }

    private borrowing func receiveRecords() throws(VaultError) -> [RecordEntry] {
        var records: [RecordEntry] = []
        while true {
            switch try receiveReply() {
            case .records(let entries):
                records += entries
            case .finished(let count):
                guard count == UInt64(records.count) else { throw .unexpected }
                return records
            default: throw .unexpected
            }
        }
    }

    package static func info(_ entry: RecordEntry) -> Vault.RecordInfo {
        Vault.RecordInfo(
            collection: entry.path.collection, name: entry.path.name, size: entry.size, created: entry.created,
            modified: entry.modified, isFile: entry.isFile, isItem: entry.isItem,
            origin: entry.isOpen ? .open : .protected, isSealed: false)
    }

    borrowing func expectDone(_ request: Request) throws(VaultError) {
        try send(request)
        guard case .done = try receiveReply() else { throw .unexpected }
    }
}

extension AgentClient {
    /// - Parameter handedOver: Called where any byte has gone.
    borrowing func send(
        _ request: Request, payload: RawSpan = RawSpan(), handedOver: () -> Void = {}
    ) throws(VaultError) {
        let packet = try Packet(request.head(payload: payload.byteCount), payload: payload)
        let outcome = packet.send(to: socket)
        if packet.sent > 0 { handedOver() }
        switch outcome {
        case true: return
        case false: throw .silent
        // It may have said why before it closed.
        case nil: throw (try failure()) ?? .goneAway
        }
    }

    private borrowing func failure() throws(VaultError) -> VaultError? {
        _ = try receiveReply()
        return nil
    }

    /// An answer that carries no value.
    borrowing func receiveReply() throws(VaultError) -> Reply {
        do {
            return try receive { reply, _ in reply }
        } catch { throw VaultError(any: error) }
    }

    /// Lends an answer and its body. An answer that tells of a failure is thrown.
    borrowing func receive<R>(_ body: (Reply, RawSpan) throws -> R) throws -> R {
        var head = try secretMemory(SecretBytes(zeroed: Frame.size))
        try fill(&head)
        let frame = try head.withBytes { bytes throws(VaultError) in
            do throws(MessageError) {
                let frame = try Frame(parsing: bytes)
                try frame.expectReply()
                return frame
            } catch { throw VaultError(error) }
        }
        var content = try secretMemory(SecretBytes(zeroed: frame.bodySize))
        try fill(&content)
        return try content.withBytes { bytes in
            let reply: Reply
            do throws(MessageError) { reply = try Reply(frame, body: bytes) } catch { throw VaultError(error) }
            if case .failure(let failure) = reply { throw VaultError(failure) }
            return try body(reply, bytes)
        }
    }

    private borrowing func fill(_ bytes: inout SecretBytes) throws(VaultError) {
        let socket = socket
        try bytes.withMutableBytes { bytes throws(VaultError) in
            var count = 0
            while count < bytes.byteCount {
                let outcome = bytes.withPart(count..<bytes.byteCount) { LocalSocket.receive(socket, into: &$0) }
                switch outcome {
                case .moved(let more): count += more
                case .wouldBlock: throw .silent
                case .ended, .noMemory: throw .goneAway
                }
            }
        }
    }
}

extension VaultError {
    static let unexpected = VaultError(.agentProtocol, "the agent gave an unexpected answer")
    static let silent = VaultError.unavailable("the agent is not responding")
    static let goneAway = VaultError.unavailable("the agent has ended")
}
