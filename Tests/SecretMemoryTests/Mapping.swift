import Foundation
import SecretMemory

/// One entry of `/proc/self/smaps`.
struct Mapping {
    let range: Range<UInt>
    let name: String
    /// The kernel's two-letter words: `lo` locked, `dd` not dumped, `dc` not given to a forked child.
    let flags: Set<String>

    /// The mapping of this process that holds `address`.
    static func containing(_ address: UInt) throws -> Mapping? {
        let text = try wholeFile("/proc/self/smaps")
        var head: (range: Range<UInt>, name: String)?
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if let range = range(words[0]) {
                head = range.contains(address) ? (range, words.dropFirst(5).joined(separator: " ")) : nil
            } else if words[0] == "VmFlags:", let head {
                return Mapping(range: head.range, name: head.name, flags: Set(words.dropFirst().map(String.init)))
            }
        }
        return nil
    }

    /// Reads to the end; Foundation stops at the size that the file states, and these state none.
    private static func wholeFile(_ path: String) throws -> String {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw POSIXError(.ENOENT) }
        defer { close(descriptor) }
        var text: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe read(descriptor, &chunk, chunk.count)
            guard count > 0 else { return String(decoding: text, as: UTF8.self) }
            text += chunk.prefix(count)
        }
    }

    private static func range(_ word: Substring) -> Range<UInt>? {
        let ends = word.split(separator: "-").compactMap { UInt($0, radix: 16) }
        return ends.count == 2 ? ends[0]..<ends[1] : nil
    }
}

/// Asks the kernel whether a byte can be read and written; it answers EFAULT where a program would fault.
enum Probe {
    static func isReadable(_ address: UInt) -> Bool {
        withPipe { _, writing in unsafe write(writing, UnsafeRawPointer(bitPattern: address), 1) == 1 }
    }

    /// Overwrites the byte with zero where it can.
    static func isWritable(_ address: UInt) -> Bool {
        withPipe { reading, writing in
            var zero: UInt8 = 0
            guard unsafe write(writing, &zero, 1) == 1 else { return false }
            return unsafe read(reading, UnsafeMutableRawPointer(bitPattern: address), 1) == 1
        }
    }

    private static func withPipe(_ body: (_ reading: CInt, _ writing: CInt) -> Bool) -> Bool {
        var ends: [CInt] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return false }
        defer { for end in ends { close(end) } }
        return body(ends[0], ends[1])
    }
}

#if canImport(Glibc) && !canImport(Darwin)
/// What only a process of its own can try: limits, users and signals.
enum Child {
    /// Sets both ends of a limit.
    static func limit(_ resource: __rlimit_resource, soft: rlim_t, hard: rlim_t) -> Bool {
        var limit = rlimit(rlim_cur: soft, rlim_max: hard)
        return unsafe setrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0
    }

    static func limit(_ resource: __rlimit_resource) -> rlimit? {
        var limit = rlimit()
        return unsafe getrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0 ? limit : nil
    }

    /// Lets this process lock so many bytes and no more. Root may lock without limit, so become nobody.
    static func limitLockedMemory(_ bytes: rlim_t) -> Bool {
        guard getuid() != 0 || setuid(65534) == 0 else { return false }
        return limit(__RLIMIT_MEMLOCK, soft: bytes, hard: bytes)
    }

    /// Takes `memfd_secret` away: there is no descriptor to be had while the kernel is asked for it, and the answer is
    /// kept for the life of the process.
    static func goWithoutHiddenMemory() -> Bool {
        guard let open = limit(RLIMIT_NOFILE), limit(RLIMIT_NOFILE, soft: 0, hard: open.rlim_max) else { return false }
        let protection = ProcessHardening.memoryProtection
        return limit(RLIMIT_NOFILE, soft: open.rlim_cur, hard: open.rlim_max) && protection.hasPrefix("locked pages")
    }
}
#endif
