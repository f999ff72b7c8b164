import Foundation
import SecretMemory
import TestSupport
import Testing

#if os(Linux) && !canImport(Darwin)
private let page = UInt(sysconf(CInt(_SC_PAGESIZE)))
private let hidden = ProcessHardening.memoryProtection.hasPrefix("memfd_secret")

@Suite(.serialized) struct LockedMemoryTests {
    @Test("lies in locked pages", arguments: [1, 32, 4096, 4097, 1 << 20], [SecretLifetime.transient, .longLived])
    func locked(_ count: Int, _ lifetime: SecretLifetime) throws {
        let secret = try filler(count).secret(lifetime: lifetime)
        let first = secret.address()
        for address in [first, first + UInt(count) - 1] {
            let mapping = try #require(try Mapping.containing(address))
            #expect(mapping.flags.contains("lo"), "swappable: \(mapping)")
            #expect(mapping.flags.contains("dd"), "in core files: \(mapping)")
            if hidden {
                #expect(mapping.name.contains("secretmem"), "\(mapping)")
                #expect(mapping.flags.contains("dc"), "inherited by a forked child: \(mapping)")
            }
        }
        withExtendedLifetime(secret) {}
    }

    @Test("a long-lived secret stands alone between guards", arguments: [0, 1, 15, 16, 17, 4095, 4096, 4097, 1 << 20])
    func guards(_ count: Int) throws {
        let secret = try filler(count).secret(lifetime: .longLived)
        let first = secret.address()
        let end = first + UInt(count)
        // The upper guard begins at the next page border, at most 15 bytes (alignment) after the end.
        let upper = (end + page - 1) / page * page
        #expect(upper - end < 16)
        #expect(!Probe.isReadable(upper))
        #expect(!Probe.isWritable(upper))
        // One page further there may be anything, so only the nearest byte of each guard counts.
        let lower = (count == 0 ? upper - page : first / page * page) - 1
        #expect(!Probe.isReadable(lower))
        #expect(!Probe.isWritable(lower))
        if count > 0 {
            #expect(Probe.isReadable(first))
            #expect(Probe.isReadable(end - 1))
        }
        let intact = secret.holds(filler(count))
        #expect(intact)
    }

    @Test func `two long-lived secrets share no page`() throws {
        let secrets = try (0..<8).map { try Held(filler(32, salt: UInt8($0)), lifetime: .longLived) }
        #expect(Set(secrets.map { $0.secret.address() / page }).count == secrets.count)
    }

    @Test func `a write past a long-lived secret faults at the guard`() async {
        await #expect(processExitsWith: .exitCode(77)) {
            var action = sigaction()
            action.sa_flags = SA_SIGINFO
            // Only a fault at the very border is the one looked for; any other ends the process with another code.
            unsafe action.__sigaction_handler.sa_sigaction = { _, info, _ in
                let place = unsafe UInt(bitPattern: info?.pointee._sifields._sigfault.si_addr)
                _exit(unsafe place == expectedFault ? 77 : 78)
            }
            guard unsafe sigaction(SIGSEGV, &action, nil) == 0 else { exit(1) }
            let secret = try filler(4096).secret(lifetime: .longLived)
            let end = secret.address() + 4096
            unsafe expectedFault = end
            unsafe UnsafeMutableRawPointer(bitPattern: end - 1)?.storeBytes(of: 0, as: UInt8.self)
            unsafe UnsafeMutableRawPointer(bitPattern: end)?.storeBytes(of: 0, as: UInt8.self)
            withExtendedLifetime(secret) {}
            exit(2)
        }
    }

    @Test(.enabled(if: !TestRun.isSanitized, "the sanitizers turn mlock(2) into nothing"))
    func `without memfd_secret the pages are locked all the same`() async {
        await #expect(processExitsWith: .success) {
            try #require(Child.goWithoutHiddenMemory())
            for lifetime in [SecretLifetime.transient, .longLived] {
                for count in [1, 32, 4096, 4097, 100_000] {
                    let secret = try filler(count).secret(lifetime: lifetime)
                    let mapping = try #require(try Mapping.containing(secret.address()))
                    #expect(mapping.flags.isSuperset(of: ["lo", "dd"]), "\(mapping)")
                    #expect(!mapping.name.contains("secretmem"))
                    let fresh = try SecretBytes(zeroed: count, lifetime: lifetime)
                    let (intact, zero) = (secret.holds(filler(count)), fresh.holds(zeros(count)))
                    #expect(intact)
                    #expect(zero)
                    if lifetime == .longLived || count > 4096 {
                        let end = secret.address() + UInt(count)
                        #expect(!Probe.isWritable((end + page - 1) / page * page))
                    }
                }
            }
        }
    }
}

/// Set before the fault in a process with one thread.
nonisolated(unsafe) private var expectedFault: UInt = 0
#endif
