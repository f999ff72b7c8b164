internal import Synchronization
internal import SystemCalls

/// Waits for work of the concurrency runtime, on a thread outside the concurrency pool.
enum Blocking {
    static func run<R: Sendable>(_ body: @escaping @Sendable () async throws -> R) throws(CommandError) -> R {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw .failure(.failure, "no pipe: \(SystemError.last)") }
        let (reading, writing) = (ends[0], ends[1])
        defer { close(reading) }
        let outcome = Outcome<R>()
        Task.detached {
            let result: Result<R, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            outcome.value.withLock { $0 = result }
            close(writing)  // the reader finds the end
        }
        var byte: UInt8 = 0
        while unsafe read(reading, &byte, 1) < 0 && errno == EINTR {}
        guard let result = outcome.value.withLock({ $0 }) else { throw .failure(.failure, "nothing came of it") }
        do { return try result.get() } catch { throw CommandError(error) }
    }

    private final class Outcome<R: Sendable>: Sendable {
        let value = Mutex<Result<R, any Error>?>(nil)
    }
}
