import SecretMemory
import TestSupport
import Testing

@Suite(.seeded) struct ConcurrencyTests {
    @Test func `secrets of many tasks stay apart`() async {
        let seed = TestRun.seed
        let rounds = TestRun.isSoak ? 100_000 : 4_000
        await withTaskGroup(of: String?.self) { group in
            for task in 0..<8 {
                group.addTask { mixed(task: task, seed: seed &+ UInt64(task), rounds: rounds) }
            }
            for await wrong in group {
                #expect(wrong == nil)
            }
        }
    }
}

/// Fills, replaces and drops secrets of every size class; says which one did not hold what was written into it.
private func mixed(task: Int, seed: UInt64, rounds: Int) -> String? {
    var generator = SeededGenerator(seed: seed)
    var held: [(secret: Held, byte: UInt8)?] = .init(repeating: nil, count: 24)
    do throws(SecretMemoryError) {
        for round in 0..<rounds {
            let place = Int.random(in: held.indices, using: &generator)
            if let old = held[place], !isFilled(old.secret, with: old.byte) { return "task \(task), round \(round)" }
            held[place] = nil
            // Mostly small; now and then pages of its own.
            let count = 1 << Int.random(in: 0...12, using: &generator) + Int.random(in: 0...1, using: &generator)
            let lifetime: SecretLifetime = Int.random(in: 0..<50, using: &generator) == 0 ? .longLived : .transient
            let byte = UInt8.random(in: 1...255, using: &generator)
            let fresh = try SecretBytes(zeroed: count, lifetime: lifetime)
            guard fresh.withBytes({ allBytes($0, are: 0) }) else { return "task \(task), round \(round): not zero" }
            held[place] = (try Held([UInt8](repeating: byte, count: count), lifetime: lifetime), byte)
        }
    } catch {
        return "task \(task): \(error)"
    }
    return held.compactMap { $0 }.allSatisfy { isFilled($0.secret, with: $0.byte) } ? nil : "task \(task), at the end"
}

private func isFilled(_ held: Held, with byte: UInt8) -> Bool {
    held.secret.withBytes { allBytes($0, are: byte) }
}

private func allBytes(_ bytes: RawSpan, are byte: UInt8) -> Bool {
    var different: UInt8 = 0
    for offset in 0..<bytes.byteCount { different |= bytes[offset] ^ byte }
    return different == 0
}
