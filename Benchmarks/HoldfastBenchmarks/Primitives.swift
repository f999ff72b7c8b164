import Cryptography
import SecretMemory

/// The parts with bounds of their own.
struct Primitives: Suite {
    static let figures = ["blake3-64-bytes", "blake3-1-mib", "secret-bytes", "forget", "forget-all"]

    static func measure(_ bench: Bench) throws -> [Figure] {
        let rounds = bench.options.count(31, quick: 11)
        let small = try Rounds(rounds, [{ _ in hash(size: 64, times: 20_000) }]).median(0)
        let large = try Rounds(rounds, [{ _ in hash(size: 1 << 20, times: 8) }]).median(0)
        let secret = try Rounds(rounds, [{ _ in try allocate(times: 50_000) }]).median(0)
        let forget = try Rounds(rounds, [{ _ in repeated(50_000) { WorkingMemory.wipe(.reading) } }]).median(0)
        let forgetAll = try Rounds(rounds, [{ _ in repeated(100) { WorkingMemory.wipeAll() } }]).median(0)
        return [
            Figure(name: "blake3-64-bytes", value: small, unit: "ns", bound: .atMost(100), detail: ""),
            Figure(
                name: "blake3-1-mib", value: Double(1 << 20) / large, unit: "GB/s", bound: .atLeast(1.2), detail: ""),
            Figure(
                name: "secret-bytes", value: secret, unit: "ns", bound: .atMost(100),
                detail: "64 bytes of locked memory reserved, wiped and returned"),
            Figure(
                name: "forget", value: forget, unit: "ns", bound: .atMost(150),
                detail: "a thread's registers and stack cleared after a read; part of the figures of get"),
            Figure(
                name: "forget-all", value: forgetAll / 1000, unit: "us", bound: .atMost(50),
                detail: "all of the stack that is in memory: at a lock, and with each long-lived key"),
        ]
    }

    private static func hash(size: Int, times: Int) -> Double {
        var input = [UInt8](repeating: 1, count: size)
        let taken = time {
            for _ in 0..<times {
                // Each input depends on the last digest, so that no call can be left out or run beside another.
                let digest = unsafe BLAKE3.hash(input.span.bytes)
                input[0] = digest.withBytes { unsafe $0.unsafeLoad(as: UInt8.self) }
            }
        }
        keep(UInt64(input[0]))
        return taken / Double(times)
    }

    private static func repeated(_ times: Int, _ body: () -> Void) -> Double {
        time { for _ in 0..<times { body() } } / Double(times)
    }

    private static func allocate(times: Int) throws -> Double {
        var sum: UInt64 = 0
        let taken = try time {
            for _ in 0..<times {
                let secret = try SecretBytes(zeroed: 64)
                sum &+= secret.withBytes { unsafe UInt64($0.unsafeLoad(as: UInt8.self)) }
            }
        }
        keep(sum)
        return taken / Double(times)
    }
}
