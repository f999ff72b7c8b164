/// Work that threads wait for, in the order in which it came.
package final class WaitingQueue<Item: Sendable>: Sendable {
    private struct State {
        var items: [Item] = []
        var isClosed = false

        mutating func take() -> [Item] {
            defer { items = [] }
            return items
        }
    }

    private let monitor = Monitor(State())
    private let capacity: Int

    /// - Parameter capacity: Most items that wait.
    package init(capacity: Int = .max) { self.capacity = capacity }

    /// Items that wait at this moment.
    package var count: Int { monitor.withLock { $0.items.count } }

    /// Adds an item; false when the queue is full or closed.
    package func add(_ item: Item) -> Bool {
        let isAdded = monitor.withLock { queue in
            guard !queue.isClosed, queue.items.count < capacity else { return false }
            queue.items.append(item)
            return true
        }
        if isAdded { monitor.wakeOne() }
        return isAdded
    }

    /// Everything that waits, once something does; nil when the queue is closed and empty.
    package func takeAll() -> [Item]? {
        monitor.withLock(when: { !$0.items.isEmpty || $0.isClosed }) { $0.items.isEmpty ? nil : $0.take() }
    }

    /// Everything that waits now.
    package func takeWaiting() -> [Item] { monitor.withLock { $0.take() } }

    /// The first item, once there is one; nil when the queue is closed and empty.
    package func takeFirst() -> Item? {
        monitor.withLock(when: { !$0.items.isEmpty || $0.isClosed }) { $0.items.isEmpty ? nil : $0.items.removeFirst() }
    }

    /// Lets nothing more in; what waits is still taken.
    package func close() {
        monitor.withLock { $0.isClosed = true }
        monitor.wakeAll()
    }
}
