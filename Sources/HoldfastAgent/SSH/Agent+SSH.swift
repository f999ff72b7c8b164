internal import AgentMessages
internal import ProgramProtocols
internal import ProgramAccess
internal import Items
internal import SecretMemory
internal import VaultCore
internal import VaultFormat
internal import VaultStorage
internal import SystemCalls
internal import VaultHeader

extension Agent {
    /// Begins to serve SSH programs. Once it does, it does until it ends.
    /// - Returns: The path of the socket.
    /// - Throws: `agentUnavailable`.
    func serveSSH() throws(VaultError) -> String {
        if let ssh { return ssh.path }
        if let passed = settings.passed.ssh {
            guard let path = PassedSockets.path(passed) else {
                throw .unavailable("the SSH socket that the service manager passes has no path")
            }
            ssh = SSHEndpoint(listener: passed, path: path, socketName: nil)
            return path
        }
        let name = String(socketName.dropLast(4)) + "ssh"
        let parent = folder.shown.hasPrefix("/") ? folder.shown : settings.home + "/agent"
        // We reach it through a descriptor; SSH programs have to write it into an address.
        guard "\(parent)/\(name)".utf8.count < MemoryLayout<sockaddr_un>.size - 2 else {
            throw .unavailable(
                "the path of the SSH socket, \(parent)/\(name), is too long; it is short where XDG_RUNTIME_DIR is set")
        }
        if try folder.holds(name) { folder.remove(name) }
        let listener = try folder.listen(name)
        let endpoint = SSHEndpoint(listener: listener, path: "\(parent)/\(name)", socketName: name)
        ssh = endpoint
        return endpoint.path
    }

    func endSSH() {
        guard let ssh else { return }
        if let name = ssh.socketName { folder.remove(name) }
        self.ssh = nil
    }

    /// Sends, reads and accepts what can be.
    func runSSH() {
        guard let ssh else { return }
        let now = MonotonicClock.milliseconds
        ssh.expire(now: clock.now().milliseconds)
        for client in ssh.clients.values {
            let events = Int32(isReady(client.socket))
            if client.hasOutput, !client.flush() {
                ssh.clients[client.number] = nil
                continue
            }
            if events & (POLLIN | POLLHUP | POLLERR) != 0, client.isReading {
                read(client, ssh)
            } else if events & (POLLHUP | POLLERR | POLLNVAL) != 0 {
                ssh.clients[client.number] = nil
            }
            if let began = client.began, now > began, now - began >= settings.messagePatience {
                ssh.clients[client.number] = nil
            }
        }
        if isReady(ssh.listener) != 0 { accept(ssh) }
    }

    private func accept(_ ssh: SSHEndpoint) {
        for _ in 0..<64 {
            let socket = SystemCalls.accept(ssh.listener, nil, nil)
            guard socket >= 0 else {
                if errno == EMFILE || errno == ENFILE, makeRoom(ssh) { continue }
                return
            }
            _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
            LocalSocket.setNonBlocking(socket)
            guard let peer = Peer(socket), peer.isSameUser,
                ssh.clients.count < SSHEndpoint.connections || makeRoom(ssh)
            else {
                close(socket)
                continue
            }
            messages += 1
            let client = SSHConnection(socket, peer, number: nextConnection(), now: messages)
            ssh.clients[client.number] = client
            read(client, ssh)
        }
    }

    private func makeRoom(_ ssh: SSHEndpoint) -> Bool {
        guard let quiet = ssh.clients.values.nextToLeave else { return false }
        ssh.clients[quiet.number] = nil
        return true
    }

    private func read(_ client: SSHConnection, _ ssh: SSHEndpoint) {
        switch client.read() {
        case .unfinished: break
        case .ended: ssh.clients[client.number] = nil
        case .message(let body):
            messages += 1
            client.lastUsed = messages
            if let reason = lock.checkTime(clock.now()) { dropKeys(because: reason) }
            let request = body.bytes.withBytes { try? SSHAgentRequest(parsing: $0) }
            handle(request ?? .unknown, body, client, ssh)
        }
    }

    private func handle(
        _ request: SSHAgentRequest, _ body: Body, _ client: SSHConnection, _ ssh: SSHEndpoint, hasWaited: Bool = false
    ) {
        let isOpen = lock.isUnlocked && dropReason == nil && endsAt == nil
        if case .bind(let binding) = request {
            return answer(bind(client, binding, body) ? SSHAgentReply.success : SSHAgentReply.failure, client)
        }
        if case .unlock(let passphrase) = request {
            // A host that guessed would spend the user's attempts.
            guard !client.isForwarded else { return answer(SSHAgentReply.failure, client) }
            let isRight = body.bytes.withBytes { ssh.unlock($0.extracting(passphrase)) }
            return answer(isRight ? SSHAgentReply.success : SSHAgentReply.failure, client)
        }
        if !isOpen, !ssh.isLocked, !hasWaited, !client.isForwarded,
            wait(request, client, { self.handle(request, body, client, $0, hasWaited: true) })
        {
            return
        }
        guard isOpen, !ssh.isLocked else {
            // A locked agent has no keys; that is what ssh expects of it.
            if case .identities = request { return answer(SSHAgentReply.identities([]), client) }
            return answer(SSHAgentReply.failure, client)
        }
        let added = ssh.keys(now: clock.now().milliseconds, for: client.sessions)
        let hidden = ssh.hidden(for: client.sessions)
        let (isForwarded, identities) = (client.isForwarded, SSHIdentities(items))
        switch request {
        case .identities:
            let host = client.sessions.host
            begin(client) { _, _ in
                let offer = try identities.offer(forwarded: isForwarded, at: host.flatMap { SSHHost($0) })
                return SSHAgentReply.identities(offer.list(with: added, hidden: hidden))
            }
        case .sign(let key, let data, let flags):
            let wanted = body.bytes.withBytes { $0.extracting(key).array }
            let plain = SSHPublicKey.plain(wanted)
            let isConfirmed = ssh.needsConfirmation(plain)
            let isAllowed = body.bytes.withBytes {
                ssh.allows(plain, named: wanted, to: $0.extracting(data), for: client.sessions)
            }
            guard isAllowed else { return answer(SSHAgentReply.failure, client) }
            begin(client) { gate, isForChip in
                // What an item says of a key holds for what was added too, and the other way round: the strictest of
                // all is asked.
                var closed: LeaseCheck.Needed?
                let item = try identities.key(wanted, forwarded: isForwarded) {
                    (item, name, collection) throws(VaultError) in
                    guard let path = RecordName(collection: collection, name: name) else { throw .noSuchRecord }
                    let next = LeaseCheck.Needed(item, path)
                    if closed.map({ next.rule.isStricter(than: $0.rule) }) ?? true { closed = next }
                }
                guard let found = added.first(where: { $0.listed == wanted }) ?? item,
                    let signature = found.kind.signature(flags: flags)
                else { return SSHAgentReply.failure }
                if isConfirmed {
                    let name = item?.comment ?? found.comment
                    closed = LeaseCheck.Needed(target: .sshKey(plain), rule: .eachTime, tags: [], name: name)
                }
                if let closed { try gate.pass(closed) }
                guard !found.isInChip || isForChip else { return nil }
                let bytes = try body.bytes.withBytes { try found.sign($0.extracting(data), as: signature) }
                return SSHAgentReply.signature(signature, bytes)
            }
        case .add(let layout, let constraints):
            let key = body.bytes.withBytes { try? SSHKey(layout, in: $0, lifetime: .longLived) }
            guard let key,
                ssh.add(
                    key, constraints, for: client.sessions, isForwarded: isForwarded, now: clock.now().milliseconds)
            else { return answer(SSHAgentReply.failure, client) }
            answer(SSHAgentReply.success, client)
        case .remove(let key):
            let named = body.bytes.withBytes { $0.extracting(key).array }
            let isGone = !hidden.contains(SSHPublicKey.plain(named)) && ssh.remove(named, isForwarded: isForwarded)
            answer(isGone ? SSHAgentReply.success : SSHAgentReply.failure, client)
        case .removeAll:
            ssh.removeAll(isForwarded: isForwarded)
            answer(SSHAgentReply.success, client)
        case .lock(let passphrase):
            let isShut = !isForwarded && body.bytes.withBytes { ssh.lock($0.extracting(passphrase)) }
            answer(isShut ? SSHAgentReply.success : SSHAgentReply.failure, client)
        case .bind, .unlock, .unknown: answer(SSHAgentReply.failure, client)
        }
    }

    /// Has an SSH program of this machine wait for the vault. A host does not: it could not open a vault that opens
    /// without asking, and what it writes is where the user would be asked.
    private func wait(
        _ request: SSHAgentRequest, _ client: SSHConnection, _ then: @escaping (SSHEndpoint) -> Void
    ) -> Bool {
        // Only what uses a key is worth a question.
        switch request {
        case .identities, .sign: break
        default: guard unasked != nil else { return false }
        }
        client.isWorking = true
        let refusal = awaitUnlock(client.number, .ssh, client.peer, for: .sshKeys) { _ in
            guard let ssh = self.ssh, ssh.clients[client.number] === client else { return }
            client.isWorking = false
            then(ssh)
        }
        if refusal != nil { client.isWorking = false }
        return refusal == nil
    }

    /// Notes where the connection leads. That it is forwarded is believed without a proof: that only takes away.
    private func bind(_ client: SSHConnection, _ binding: SSHBinding?, _ body: Body) -> Bool {
        guard let binding else {
            client.isForwarded = true
            return client.sessions.add(nil) { false }
        }
        client.isForwarded = client.isForwarded || binding.isForwarded
        return body.bytes.withBytes { bytes in
            let isShort = binding.session.count <= SSHSessions.longestID
            let session = SSHSessions.Session(
                id: isShort ? bytes.extracting(binding.session).array : [],
                host: bytes.extracting(binding.host).array, isForwarded: binding.isForwarded)
            return client.sessions.add(isShort ? session : nil) { binding.isProved(in: bytes) }
        }
    }

    /// Has a thread work for an SSH program, while the lock is open.
    private func begin(_ client: SSHConnection, _ body: @escaping SSHConnection.Answer) {
        client.asking = SSHConnection.Asking(body: body)
        begin(client, LeaseCheck(nil), body)
    }

    /// - Parameter isForChip: Whether a chip may be needed; then others do not wait for the threads that read and
    ///   write.
    func begin(
        _ client: SSHConnection, _ gate: LeaseCheck, _ body: @escaping SSHConnection.Answer, isForChip: Bool = false
    ) {
        if let reason = lock.visit(clock.now()) { dropKeys(because: reason) }
        client.isWorking = true
        let (number, vault, unused) = (client.number, vault, lock.unused(clock.now()))
        let isTaken =
            lock.isUnlocked
            && (isForChip ? signing : work).submit {
                var message: [UInt8]?
                let outcome = Work.run(vault, unused: unused) {
                    message = try Work.behind(gate) { try body(gate, isForChip) }
                    return (try message.map { [try Agent.packet($0)] } ?? [], .rest)
                }
                if case .done = outcome, message == nil { return .sshForChip(number, gate) }
                return .ssh(number, outcome)
            }
        if !isTaken { refuse(client) }
    }

    /// The key is in a chip. What was read of it is gone; it is read again when its turn has come, and a lock before
    /// that ends it.
    func signInChip(_ number: UInt64, _ gate: LeaseCheck) {
        guard let client = ssh?.clients[number] else { return }
        guard lock.isUnlocked, dropReason == nil, let asking = client.asking else { return refuse(client) }
        begin(client, gate, asking.body, isForChip: true)
    }

    /// Ends what it asked for without an answer to it.
    func refuse(_ client: SSHConnection) {
        client.isWorking = false
        client.asking = nil
        answer(SSHAgentReply.failure, client)
    }

    /// What a thread has finished for an SSH program.
    func finishSSH(_ number: UInt64, _ outcome: Completion.Outcome) {
        if let reason = lock.visit(clock.now()) { dropKeys(because: reason) }
        if case .headerChanged(let error) = outcome {
            lock.lock(clock.now())
            dropKeys(because: .requested)
            if error?.endsAgent ?? false { end() }
        }
        guard let ssh, let client = ssh.clients[number] else { return }
        guard lock.isUnlocked, dropReason == nil else { return refuse(client) }
        if case .stopped(let closed) = outcome { return decide(closed, for: AskingClient(client)) }
        guard case .done(let packets, _) = outcome else { return refuse(client) }
        client.isWorking = false
        client.asking = nil
        for packet in packets { client.append(packet) }
        if !client.flush() { ssh.clients[number] = nil }
    }

    private func answer(_ message: [UInt8], _ client: SSHConnection) {
        guard let packet = try? Agent.packet(message) else {
            ssh?.clients[client.number] = nil
            return
        }
        client.append(packet)
        if !client.flush() { ssh?.clients[client.number] = nil }
    }

    private static func packet(_ message: [UInt8]) throws(VaultError) -> Packet {
        var writer = SSHWriter()
        writer.string(message)
        return try Packet(writer.bytes)
    }
}

extension RawSpan {
    fileprivate var array: [UInt8] { unsafe withUnsafeBytes { unsafe Array($0) } }
}
