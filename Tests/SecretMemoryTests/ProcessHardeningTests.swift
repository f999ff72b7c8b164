import Foundation
import SecretMemory
import Testing

#if os(Linux) && !canImport(Darwin)
private let fatalSignals = [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGQUIT]

@Suite struct ProcessHardeningTests {
    @Test func `leaves no core file, no way in for other processes, and no crash report`() async {
        await #expect(processExitsWith: .success) {
            // The opposite of what is wanted, first.
            _ = Child.limit(RLIMIT_CORE, soft: 1 << 20, hard: 1 << 20)
            for fatal in fatalSignals { signal(fatal) { _ in _exit(3) } }
            #expect(try dumpable() == 1)

            let missed = ProcessHardening.apply()
            #expect(missed == [])
            #expect(try dumpable() == 0)
            let core = try #require(Child.limit(RLIMIT_CORE))
            #expect(core.rlim_cur == 0 && core.rlim_max == 0)
            for fatal in fatalSignals {
                var now = sigaction()
                let status = unsafe sigaction(fatal, nil, &now)
                #expect(status == 0)
                let handler = unsafe unsafeBitCast(now.__sigaction_handler.sa_handler, to: Int.self)
                #expect(handler == 0, "signal \(fatal) still has a handler")
            }
        }
    }

    @Test func `a fatal signal ends a hardened process by itself`() async {
        await #expect(processExitsWith: .signal(SIGABRT)) {
            signal(SIGABRT) { _ in _exit(3) }
            ProcessHardening.apply()
            abort()
        }
    }

    @Test func `can be applied twice`() async {
        await #expect(processExitsWith: .success) {
            #expect(ProcessHardening.apply() == [])
            #expect(ProcessHardening.apply() == [])
        }
    }
}

/// `prctl(PR_GET_DUMPABLE)`; variadic, so it has to be looked up.
private func dumpable() throws -> CInt {
    typealias Control = @convention(c) (CInt, CUnsignedLong, CUnsignedLong, CUnsignedLong, CUnsignedLong) -> CInt
    let symbol = try unsafe #require(dlsym(dlopen(nil, RTLD_NOW), "prctl"))
    let getDumpable: CInt = 3
    return unsafe unsafeBitCast(symbol, to: Control.self)(getDumpable, 0, 0, 0, 0)
}
#endif
