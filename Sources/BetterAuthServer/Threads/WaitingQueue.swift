internal import SystemCalls

/// Work that threads wait for, in the order in which it came.
@safe package final class WaitingQueue<Item: Sendable>: @unchecked Sendable {  // everything is under the lock
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var items: [Item] = []
    private var isClosed = false
    private let capacity: Int

    /// - Parameter capacity: Most items that wait.
    package init(capacity: Int = .max) {
        self.capacity = capacity
        unsafe lock.initialize(to: pthread_mutex_t())
        unsafe changed.initialize(to: pthread_cond_t())
        unsafe pthread_mutex_init(lock, nil)
        unsafe pthread_cond_init(changed, nil)
    }

    deinit {
        unsafe pthread_cond_destroy(changed)
        unsafe pthread_mutex_destroy(lock)
        unsafe lock.deallocate()
        unsafe changed.deallocate()
    }

    private func locked<R>(_ body: () -> R) -> R {
        unsafe pthread_mutex_lock(lock)
        defer { unsafe pthread_mutex_unlock(lock) }
        return body()
    }

    /// Adds an item; false when the queue is full or closed.
    package func add(_ item: Item) -> Bool {
        locked {
            guard !isClosed, items.count < capacity else { return false }
            items.append(item)
            unsafe pthread_cond_signal(changed)
            return true
        }
    }

    /// Everything that waits, once something does; nil when the queue is closed and empty.
    package func takeAll() -> [Item]? {
        locked {
            while items.isEmpty && !isClosed { unsafe pthread_cond_wait(changed, lock) }
            guard !items.isEmpty else { return nil }
            defer { items = [] }
            return items
        }
    }

    /// Everything that waits now.
    package func takeWaiting() -> [Item] {
        locked {
            defer { items = [] }
            return items
        }
    }

    /// The first item, once there is one; nil when the queue is closed and empty.
    package func takeFirst() -> Item? {
        locked {
            while items.isEmpty && !isClosed { unsafe pthread_cond_wait(changed, lock) }
            return items.isEmpty ? nil : items.removeFirst()
        }
    }

    /// Lets nothing more in; what waits is still taken.
    package func close() {
        locked {
            isClosed = true
            unsafe pthread_cond_broadcast(changed)
        }
    }
}
