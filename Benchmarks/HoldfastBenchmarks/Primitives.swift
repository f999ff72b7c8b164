import CRawLoops
import SecretMemory

/// Locked memory, and forgetting.
struct Primitives: Suite {
    static let figures = ["secret-bytes", "forget", "forget-all"]

    static func measure(_ bench: Bench) throws -> [Figure] {
        let rounds = bench.options.count(31, quick: 11)
        let secret = try Rounds(
            rounds,
            [{ _ in try allocate(times: 50_000) }, { _ in time { keep(raw_allocate(50_000)) } / 50_000 }])
        let forget = try Rounds(rounds, [{ _ in repeated(50_000) { WorkingMemory.wipe(.reading) } }]).median(0)
        let forgetAll = try Rounds(rounds, [{ _ in repeated(100) { WorkingMemory.wipeAll() } }]).median(0)
        return [
            Figure(
                name: "secret-bytes", value: secret.ratio(0, to: 1), unit: "x",
                absolute: .init(secret.median(0), "ns"), bound: .atMost(3.5),
                detail: "64 bytes of locked memory reserved, wiped and returned; malloc, two memsets and free take "
                    + "\(number(secret.median(1))) ns"),
            Figure(
                name: "forget", absolute: .init(forget, "ns"),
                detail: "a thread's registers and stack cleared after a read; part of the figures of get"),
            Figure(
                name: "forget-all", absolute: .init(forgetAll / 1000, "us"),
                detail: "all of the stack that is in memory: at a lock, and with each long-lived key"),
        ]
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
