import SystemCalls
import VaultCore

/// A vault in a process that may have little address space, as on a phone or under `ulimit -v`.
enum SmallSpace {
    /// Has as many megabytes more than the program has. Lines as of `write`, with `refused CODE` where a record did not
    /// fit, and `held` or `broken` for what is read afterwards.
    static func run(_ home: String, _ clock: FileClock, megabytes: Int) throws {
        let vault = try Vault.known(home, clock)
        try limit(to: addressSpace() + UInt64(megabytes) << 20)
        try vault.unlock(phrase: Known.phrase(0))
        var stored: [Place: Content] = [:]
        for number in 0..<(megabytes * 2) {
            let operation = Operation([
                .set(Place("space", "r\(number)"), Content(seed: UInt64(number), size: 900_000))
            ])
            guard perform(operation, in: vault) else { break }
            for change in operation.changes { change.apply(to: &stored) }
        }
        SmallDisk.check("everything is read again") {
            for (place, content) in stored where try vault.bytes(at: place) != content.bytes() { return false }
            return true
        }
        guard let first = stored.keys.min() else { return }
        _ = perform(Operation([.delete(first)]), in: vault)
        _ = perform(Operation([.set(first, Content(seed: 1, size: 500_000))]), in: vault)
        SmallDisk.check("the vault is intact") { try vault.verify().isIntact }
        Report.line("end")
    }

    private static func perform(_ operation: Operation, in vault: Vault) -> Bool {
        Report.line("begin 0 \(operation.text)")
        do {
            try vault.perform(operation)
        } catch {
            Report.line("refused \(Report.code(of: error))")
            return false
        }
        Report.line("done 0")
        return true
    }

    private static func limit(to bytes: UInt64) throws {
        var limit = rlimit(rlim_cur: rlim_t(bytes), rlim_max: rlim_t(bytes))
        guard unsafe setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0 else {
            throw SystemFailure(number: errno)
        }
    }

    private struct SystemFailure: Error { let number: Int32 }

    /// Bytes of address space that this process has.
    private static func addressSpace() -> UInt64 {
        let file = unsafe fopen("/proc/self/statm", "re")
        guard let file = unsafe file else { return 0 }
        defer { unsafe fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        guard unsafe fgets(&line, 256, file) != nil else { return 0 }
        return UInt64(unsafe strtoul(line, nil, 10)) * UInt64(sysconf(Int32(_SC_PAGESIZE)))
    }
}
