internal import AgentMessages
internal import Items
internal import VaultCore
internal import VaultHeader
internal import VaultFormat
internal import VaultStorage

/// A client whose work stopped at something that the user is asked for.
struct AskingClient {
    let number: UInt64
    let peer: Peer
    let asker: LeaseAsker
    let isForwarded: Bool
    /// Seconds that it wants a lease for; nil for what the rule says.
    let wanted: UInt32?

    /// A client of the session bus.
    init(number: UInt64, peer: Peer, asker: LeaseAsker) {
        (self.number, self.peer, self.asker) = (number, peer, asker)
        isForwarded = false
        wanted = nil
    }

    init(_ connection: Connection) {
        number = connection.number
        peer = connection.peer
        isForwarded = false
        wanted = connection.asking?.wanted
        let claimed = connection.introduction?.program.map { ProgramFile(device: $0.device, inode: $0.inode) }
        asker = peer.asker(connection.socket, claimed: claimed, isForwarded: false)
    }

    init(_ client: SSHConnection) {
        number = client.number
        peer = client.peer
        isForwarded = client.isForwarded
        wanted = nil
        asker = peer.asker(client.socket, claimed: nil, isForwarded: client.isForwarded)
    }
}

extension Agent {
    /// As ``begin(_:on:_:)``, for work that may meet something that the user is asked for.
    func begin(
        _ connection: Connection, wanted: UInt32? = nil, isOfSeveral: Bool = false,
        behind body: @escaping @Sendable (Vault, LeaseCheck) throws -> ([Packet], Completion.Next)
    ) {
        connection.asking = Connection.Asking(body: body, wanted: wanted, isOfSeveral: isOfSeveral)
        begin(connection, LeaseCheck(nil), body)
    }

    private func begin(
        _ connection: Connection, _ gate: LeaseCheck,
        _ body: @escaping @Sendable (Vault, LeaseCheck) throws -> ([Packet], Completion.Next)
    ) {
        begin(connection) { vault in try Work.behind(gate) { try body(vault, gate) } }
    }

    /// Does again what stopped, now that it is allowed.
    func resume(_ number: UInt64, with closed: LeaseCheck.Needed) {
        if let connection = connections[number] {
            guard var asking = connection.asking else { return fail(connection, .lockedMeanwhile) }
            asking.allowed.append(closed)
            connection.asking = asking
            begin(connection, LeaseCheck(asking.allowed, asks: true), asking.body)
        } else if let client = ssh?.clients[number] {
            guard let asking = client.asking else { return turnAway(number, .lockedMeanwhile) }
            begin(client, LeaseCheck(closed), asking.body)
        } else {
            resume(secretCall: number, with: closed)
        }
    }

    /// Ends what stopped.
    func turnAway(_ number: UInt64, _ error: VaultError) {
        if let connection = connections[number] {
            let asking = connection.asking
            let name = asking?.isOfSeveral ?? false && error.code == .notAllowed ? asking?.closed?.written : nil
            fail(connection, name.map { VaultError(.notAllowed, "\($0): \(error.reason)") } ?? error)
        }
        if let client = ssh?.clients[number] { refuse(client) }
        turnAway(secretCall: number, error)
    }

    func handle(_ request: LeasingRequest, _ connection: Connection) {
        switch request {
        case .lease(.item(let path), let seconds):
            begin(connection, wanted: seconds) { [items] _, gate in
                let item = try items.item(path.name, in: path.collection)
                guard item.askRule != .eachTime else {
                    throw VaultError.notAllowed("this entry is asked for each time, so there is no lease for it")
                }
                try gate.pass(item, path)
                return ([try Packet(.done)], .rest)
            }
        case .lease(.tag(let tag), let seconds):
            begin(connection, wanted: seconds) { _, gate in
                try gate.pass(LeaseCheck.Needed(target: .tag(tag), rule: .untilLock, tags: [], name: tag))
                return ([try Packet(.done)], .rest)
            }
        case .list:
            let now = clock.now()
            leases.expire(now)
            guard let packets = try? Work.packets(of: leases.leases.compactMap { LeaseEntry($0, now) }) else {
                return drop(connection)
            }
            for packet in packets { connection.append(packet) }
            flush(connection)
        case .revoke(let number): send(.finished(UInt64(leases.revoke(number, clock.now()))), to: connection)
        }
    }
}

extension LeaseEntry {
    /// Nil for what is no lease of a client's.
    fileprivate init?(_ lease: Lease, _ now: BootInstant) {
        let target: LeasedName
        switch lease.target {
        case .item(let path, _): target = .item(path)
        case .tag(let tag): target = .tag(tag)
        case .sshKey: return nil
        }
        self.init(
            number: lease.number, session: UInt32(bitPattern: lease.client.session.process), program: lease.program,
            target: target, remaining: lease.remaining(now))
    }
}
