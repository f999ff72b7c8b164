/// The hosts that a connection to the agent leads through, each proved by its signature, and what a key that is for
/// certain hosts may do there. A value without any effect.
package struct SSHSessions: Sendable {
    /// One step: a session with a host.
    package struct Session: Sendable, Hashable {
        package let id: [UInt8]
        package let host: [UInt8]
        /// The agent is handed on to the host; otherwise the step is a login there, and the last one.
        package let isForwarded: Bool

        package init(id: [UInt8], host: [UInt8], isForwarded: Bool) {
            self.id = id
            self.host = host
            self.isForwarded = isForwarded
        }
    }

    /// Steps, at most.
    package static let most = 16
    /// Bytes of a session's identifier, at most.
    package static let longestID = 128

    private var steps: [Session] = []
    /// A step was told that could not be believed. What comes after it may come from anywhere, so it stays so.
    package private(set) var isBroken = false

    package init() {}

    /// Adds a step.
    /// - Parameters:
    ///   - session: As it was told; nil where it cannot be read.
    ///   - isProved: Whether the host has signed it; asked only about a step that is new.
    /// - Returns: Whether it is one of the steps now.
    package mutating func add(_ session: Session?, isProved: () -> Bool) -> Bool {
        guard !isBroken else { return false }
        guard let session, steps.allSatisfy(\.isForwarded) else { return breakOff() }
        if let known = steps.first(where: { $0.id == session.id }) {
            // ssh tells the same again for each channel of a connection. The same session is no login as well.
            return known == session ? true : breakOff()
        }
        guard steps.count < SSHSessions.most, isProved() else { return breakOff() }
        steps.append(session)
        return true
    }

    private mutating func breakOff() -> Bool {
        isBroken = true
        return false
    }

    /// The key of the host that the connection is a login at; nil where it leads on, and where that is not known.
    package var host: [UInt8]? {
        guard !isBroken, let last = steps.last, !last.isForwarded else { return nil }
        return last.host
    }

    /// Whether a key is shown. To a host that the agent was handed on to, only what can be used from there.
    /// - Parameter destinations: Empty for a key without a constraint.
    package func shows(_ destinations: [SSHDestination]) -> Bool {
        guard !destinations.isEmpty else { return true }
        guard !isBroken, reaches(destinations, nil) else { return false }
        guard let last = steps.last, last.isForwarded else { return true }
        return destinations.contains { $0.allows(from: last.host, to: nil, user: nil) }
    }

    /// Whether a key signs a login.
    /// - Parameter login: What is signed; nil where it is none, which no key with a constraint signs.
    package func allows(_ destinations: [SSHDestination], _ login: SSHLogin?) -> Bool {
        guard !destinations.isEmpty else { return true }
        guard !isBroken, let login, let last = steps.last, !last.isForwarded, login.session == last.id else {
            return false
        }
        // A host in between must not pass a login off as one of its own, so there the login names the host.
        guard login.host == last.host || login.host == nil && steps.count == 1 else { return false }
        return reaches(destinations, login.user)
    }

    /// Whether every step is allowed, and the user at the last one.
    private func reaches(_ destinations: [SSHDestination], _ user: [UInt8]?) -> Bool {
        var from: [UInt8]?
        for (number, step) in steps.enumerated() {
            let isLast = number == steps.count - 1
            guard isLast || step.isForwarded,
                destinations.contains(where: { $0.allows(from: from, to: step.host, user: isLast ? user : nil) })
            else { return false }
            from = step.host
        }
        return true
    }
}
