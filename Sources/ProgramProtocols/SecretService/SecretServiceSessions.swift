/// The sessions of the Secret Service: each is one client's, and no other client can use it or end it. A value without
/// any effect.
///
/// Where there are as many as there may be, one of the client with the most makes room, the one that was not used for
/// the longest: a client that keeps many cannot keep others out.
package struct SecretServiceSessions<Key> {
    /// Sessions at once, and of one client.
    package static var most: Int { 64 }
    package static var mostOfClient: Int { 16 }

    private var sessions: [UInt64: (client: String, key: Key, used: UInt64)] = [:]
    private var last: UInt64 = 0
    private var uses: UInt64 = 0

    package init() {}

    /// Opens one.
    /// - Parameter client: The unique name that the bus gave to it.
    /// - Returns: Its number, which no session had before; nil when this client has too many.
    package mutating func open(_ client: String, _ key: Key) -> UInt64? {
        guard hasRoom(for: client) else { return nil }
        if sessions.count >= SecretServiceSessions.most { makeRoom() }
        last += 1
        uses += 1
        sessions[last] = (client, key, uses)
        return last
    }

    private mutating func makeRoom() {
        var counts: [String: Int] = [:]  // because: the bus makes these names, of ASCII
        for session in sessions.values { counts[session.client, default: 0] += 1 }
        let most = counts.values.max()
        let oldest = sessions.filter { counts[$0.value.client] == most }.min { $0.value.used < $1.value.used }
        if let oldest { sessions[oldest.key] = nil }
    }

    /// Whether a client may open another one.
    package func hasRoom(for client: String) -> Bool {
        sessions.values.count { $0.client == client } < SecretServiceSessions.mostOfClient
    }

    /// What a session encrypts with; nil for one that is not this client's.
    package mutating func key(_ number: UInt64, of client: String) -> Key? {
        guard let session = sessions[number], session.client == client else { return nil }
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
    package var clients: Set<String> { Set(sessions.values.map(\.client)) }  // because: as above

    /// Ends all sessions of a client that has left the bus.
    package mutating func leave(_ client: String) {
        sessions = sessions.filter { $0.value.client != client }
    }

    package var isEmpty: Bool { sessions.isEmpty }
}
