/// The sessions of the Secret Service: each is one client's, and no other client can use it or end it. A value without any effect.
package struct SecretServiceSessions<Key> {
    /// Sessions at once, and of one client.
    package static var most: Int { 64 }
    package static var mostOfClient: Int { 16 }

    private var sessions: [UInt64: (client: String, key: Key)] = [:]
    private var last: UInt64 = 0

    package init() {}

    /// Opens one.
    /// - Parameter client: The unique name that the bus gave to it.
    /// - Returns: Its number, which no session had before; nil when there are too many.
    package mutating func open(_ client: String, _ key: Key) -> UInt64? {
        guard hasRoom(for: client) else { return nil }
        last += 1
        sessions[last] = (client, key)
        return last
    }

    /// Whether a client may open another one.
    package func hasRoom(for client: String) -> Bool {
        sessions.count < SecretServiceSessions.most
            && sessions.values.count { $0.client == client } < SecretServiceSessions.mostOfClient
    }

    /// What a session encrypts with; nil for one that is not this client's.
    package func key(_ number: UInt64, of client: String) -> Key? {
        guard let session = sessions[number], session.client == client else { return nil }
        return session.key
    }

    /// - Returns: False for a session that is not this client's.
    package mutating func close(_ number: UInt64, of client: String) -> Bool {
        guard key(number, of: client) != nil else { return false }
        sessions[number] = nil
        return true
    }

    /// Ends all sessions of a client that has left the bus.
    package mutating func leave(_ client: String) {
        sessions = sessions.filter { $0.value.client != client }
    }

    /// Ends them all.
    package mutating func endAll() { sessions = [:] }

    package var isEmpty: Bool { sessions.isEmpty }
}
