internal import Synchronization

/// What a front counts of its connections.
package final class FrontCounters: Sendable {
    private let open = Atomic(0)
    private let made = Atomic(0)
    private let turnedAway = Atomic(0)

    package init() {}

    /// Connections at this moment.
    package var connections: Int { open.load(ordering: .relaxed) }

    /// Connections that there ever were.
    package var all: Int { made.load(ordering: .relaxed) }

    /// Connections that were ended since their address had too many.
    package var refused: Int { turnedAway.load(ordering: .relaxed) }

    func opened() {
        open.add(1, ordering: .relaxed)
        made.add(1, ordering: .relaxed)
    }

    func closed() { open.subtract(1, ordering: .relaxed) }

    func refuse() { turnedAway.add(1, ordering: .relaxed) }
}
