internal import Synchronization

/// Ends the tasks of a model with it.
final class TaskBag: Sendable {
    private let tasks = Mutex<[Task<Void, Never>]>([])

    func add(_ task: Task<Void, Never>) { tasks.withLock { $0.append(task) } }

    deinit { tasks.withLock { tasks in tasks.forEach { $0.cancel() } } }
}

/// One task that the next one ends.
final class OneTask: Sendable {
    private let task = Mutex<Task<Void, Never>?>(nil)

    func replace(with next: Task<Void, Never>?) {
        let last = task.withLock { task in
            let last = task
            task = next
            return last
        }
        last?.cancel()
    }

    /// Does it after a while, unless another one comes before.
    func replace(after wait: Duration, _ body: @escaping @MainActor () -> Void) {
        replace(
            with: Task { @MainActor in
                try? await Task.sleep(for: wait)
                guard !Task.isCancelled else { return }
                body()
            })
    }

    deinit { task.withLock { $0?.cancel() } }
}

/// Whether its owner gave something up, from any thread.
final class CancelFlag: Sendable {
    private let isSet = Mutex(false)

    func set() { isSet.withLock { $0 = true } }
    func check() throws(CancellationError) {
        if isSet.withLock({ $0 }) { throw CancellationError() }
    }
}
