import VaultStorage
import SystemCalls
import VaultCore
import VaultSync

/// What the subject tells its test: whole lines, each in one `write(2)`, so that a kill cannot take back what was said.
enum Report {
    static func line(_ text: String) {
        let bytes = Array((text + "\n").utf8)
        let written = unsafe bytes.withUnsafeBytes { unsafe write(1, $0.baseAddress, $0.count) }
        guard written == bytes.count else { _exit(4) }
    }

    /// Tells that something begins, does it, and tells how it ended. The call has returned before it is acknowledged.
    @discardableResult
    static func step(_ what: String, _ body: () throws -> Void) -> Bool {
        line("begin \(what)")
        do {
            try body()
            line("done")
            return true
        } catch {
            line("failed \(code(of: error))")
            return false
        }
    }

    static func code(of error: any Error) -> String {
        switch error {
        case let error as VaultError: "\(error.code)"
        case let error as RoadError: error.code
        case SyncError.vault(let error): "\(error.code)"
        case SyncError.folder(let error): error.code
        default: "untyped(\(error))"
        }
    }
}

/// The processes' only wish for standard input: when it ends, the test is gone and so are they.
enum Parent {
    static func endWithIt() {
        var thread = pthread_t()
        let started = unsafe pthread_create(
            &thread, nil,
            { _ in
                while readLine() != nil {}
                _exit(3)
            }, nil)
        guard started == 0 else { _exit(4) }
        pthread_detach(thread)
    }
}

/// Threads of the subject; joined at the end.
package enum Threads {
    private final class Work {
        let body: (Int) -> Void
        let number: Int
        init(_ number: Int, _ body: @escaping (Int) -> Void) {
            self.number = number
            self.body = body
        }
    }

    /// Runs `body` on `count` threads at once and returns when all have ended.
    package static func run(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        var threads: [pthread_t] = []
        for number in 0..<count {
            let work = unsafe Unmanaged.passRetained(Work(number, body)).toOpaque()
            var thread = pthread_t()
            let started = unsafe pthread_create(
                &thread, nil,
                { argument in
                    if let argument = unsafe argument {
                        let work = unsafe Unmanaged<Work>.fromOpaque(argument).takeRetainedValue()
                        work.body(work.number)
                    }
                    return nil
                }, work)
            guard started == 0 else { _exit(4) }
            threads.append(thread)
        }
        for thread in threads { pthread_join(thread, nil) }
    }
}
