internal import SystemCalls

/// A point in time that no change of the wall clock moves: milliseconds since one boot, sleep included.
public struct BootInstant: Sendable, Hashable {
    /// 16 bytes that name the boot.
    package let bootID: [UInt8]
    /// Milliseconds since that boot.
    package let milliseconds: UInt64

    /// The instant `milliseconds` after the boot named by 16 bytes.
    package init(bootID: [UInt8], milliseconds: UInt64) {
        self.bootID = bootID
        self.milliseconds = milliseconds
    }
}

extension BootInstant {
    /// Now, by the kernel's clock that counts sleep.
    package static var now: BootInstant { SystemBootClock().now() }
}

/// Where delays get the time from; a parameter, so that decisions can be tested without waiting.
package protocol BootClock: Sendable {
    func now() -> BootInstant
}

/// The kernel's clock that counts sleep.
package struct SystemBootClock: BootClock {
    package init() {}

    package func now() -> BootInstant {
        BootInstant(bootID: SystemBootClock.bootID, milliseconds: SuspendAwareClock.milliseconds)
    }

    /// Unknown boots are all alike: zeros. A delay then continues only if the clock does not jump back.
    private static let bootID: [UInt8] = {
        #if os(Linux) && !canImport(Darwin)
        let file = unsafe open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return [UInt8](repeating: 0, count: 16) }
        defer { close(file) }
        var text = [UInt8](repeating: 0, count: 64)
        let count = unsafe text.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress!, $0.count) }
        return parse(Array(text.prefix(max(0, count))))
        #else
        var text = [UInt8](repeating: 0, count: 64)
        var size = text.count
        let status = unsafe text.withUnsafeMutableBytes {
            unsafe sysctlbyname("kern.bootsessionuuid", $0.baseAddress!, &size, nil, 0)
        }
        return parse(status == 0 ? Array(text.prefix(size)) : [])
        #endif
    }()

    /// The 16 bytes of a UUID's text.
    package static func parse(_ text: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var high: UInt8?
        for character in text {
            guard let digit = Character(UnicodeScalar(character)).hexDigitValue.map(UInt8.init) else { continue }
            if let first = high {
                result.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        return result.count == 16 ? result : [UInt8](repeating: 0, count: 16)
    }
}
