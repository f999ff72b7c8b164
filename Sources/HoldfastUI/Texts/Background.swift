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

/// Does long work away from the screen, and shows the newest of its steps meanwhile; those that nobody saw are left
/// out.
/// - Parameters:
///   - show: Shows a step.
///   - work: Tells its steps to what it is given.
@MainActor
func showingSteps<Step: Sendable, Result: Sendable>(
    _ show: @escaping @MainActor (Step) -> Void,
    of work: @MainActor (AsyncStream<Step>.Continuation) async -> Result
) async -> Result {
    let (steps, telling) = AsyncStream.makeStream(of: Step.self, bufferingPolicy: .bufferingNewest(1))
    let watching = Task { for await step in steps { show(step) } }
    let result = await work(telling)
    telling.finish()
    watching.cancel()
    return result
}
