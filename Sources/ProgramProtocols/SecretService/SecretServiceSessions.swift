/// The sessions of the Secret Service: each is one client's, and no other client can use it or end it. A value without
/// any effect.
///
/// Where there are as many as there may be, one of the process with the most makes room, the one that was not used for
/// the longest: a program that keeps many, over however many connections, ends its own.
package struct SecretServiceSessions<Key> {
    /// Sessions at once, and of one client.
    package static var most: Int { 64 }
    package static var mostOfClient: Int { 16 }

    private var sessions: [UInt64: (client: SecretServiceClient, key: Key, used: UInt64)] = [:]
    private var last: UInt64 = 0
    private var uses: UInt64 = 0

    package init() {}

    /// Opens one.
    /// - Returns: Its number, which no session had before; nil when this client has too many.
    package mutating func open(_ client: SecretServiceClient, _ key: Key) -> UInt64? {
        guard hasRoom(for: client.name) else { return nil }
        if sessions.count >= SecretServiceSessions.most { makeRoom(for: client.process) }
        last += 1
        uses += 1
        sessions[last] = (client, key, uses)
        return last
    }

    private mutating func makeRoom(for process: SecretServiceClient.Process?) {
        var shares = SecretServiceShares()
        for session in sessions.values { shares.add(session.client.process) }
        let most = shares.most(against: process)
        var leaving = sessions.filter { most.contains($0.value.client.process) }
        if leaving.isEmpty { leaving = sessions.filter { $0.value.client.process == process } }
        // So many processes with one each: the last one to come has the user in front of it.
        if leaving.isEmpty { leaving = sessions }
        if let oldest = leaving.min(by: { $0.value.used < $1.value.used }) { sessions[oldest.key] = nil }
    }

    /// Whether a client may open another one.
    package func hasRoom(for client: String) -> Bool {
        sessions.values.count { $0.client.name == client } < SecretServiceSessions.mostOfClient
    }

    /// What a session encrypts with; nil for one that is not this client's.
    package mutating func key(_ number: UInt64, of client: String) -> Key? {
        guard let session = sessions[number], session.client.name == client else { return nil }
        uses += 1
        sessions[number]?.used = uses
        return session.key
    }

    /// - Returns: False for a session that is not this client's.
    package mutating func close(_ number: UInt64, of client: String) -> Bool {
        guard key(number, of: client) != nil else { return false }
        sessions[number] = nil
        return true
    }

    /// The clients that have one.
    package var clients: Set<String> { Set(sessions.values.map(\.client.name)) }  // because: ASCII of the bus

    /// Ends all sessions of a client that has left the bus.
    package mutating func leave(_ client: String) {
        sessions = sessions.filter { $0.value.client.name != client }
    }

    package var isEmpty: Bool { sessions.isEmpty }
}
