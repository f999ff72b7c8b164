/// Who calls: a connection to the bus, and the process that made it.
///
/// What somebody has opened is its connection's, and nobody else's. Shares are a process's, which may have as many
/// connections as it likes.
package struct SecretServiceClient: Sendable, Hashable {
    /// A process. Its number may be used again; together with its start it names one.
    package struct Process: Sendable, Hashable {
        package let number: Int32
        /// Ticks from the boot to its start.
        package let start: UInt64

        package init(_ number: Int32, start: UInt64) { (self.number, self.start) = (number, start) }
    }

    /// The unique name that the bus gave to its connection.
    package let name: String
    /// Nil where it is not known: all of those have one share.
    package let process: Process?

    package init(_ name: String, _ process: Process?) { (self.name, self.process) = (name, process) }
}

/// What the processes of the bus take of something.
struct SecretServiceShares {
    private var taken: [SecretServiceClient.Process?: Int] = [:]

    mutating func add(_ process: SecretServiceClient.Process?, _ amount: Int = 1) {
        taken[process, default: 0] += amount
    }

    subscript(process: SecretServiceClient.Process?) -> Int { taken[process] ?? 0 }

    /// Those that take the most, where that is more than a newcomer would with what it wants: they make room for it.
    /// Empty where the newcomer itself is among those with the most.
    func most(against newcomer: SecretServiceClient.Process?, with amount: Int = 1) -> Set<SecretServiceClient.Process?>
    {
        let most = taken.values.max() ?? 0
        guard most > self[newcomer] + amount else { return [] }
        return Set(taken.filter { $0.value == most }.keys)
    }
}
