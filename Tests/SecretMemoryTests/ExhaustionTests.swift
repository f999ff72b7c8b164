import Foundation
import SecretMemory
import TestSupport
import Testing

#if os(Linux) && !canImport(Darwin)
@Suite struct ExhaustionTests {
    @Test func `the end of locked memory is an error, and what was freed can be had again`() async {
        await #expect(processExitsWith: .success) {
            try #require(Child.limitLockedMemory(64 << 10))

            #expect(throws: SecretMemoryError.lockedMemoryExhausted(bytes: 1 << 20)) {
                _ = try SecretBytes(zeroed: 1 << 20)
            }
            #expect(throws: SecretMemoryError.lockedMemoryExhausted(bytes: 1 << 20)) {
                _ = try SecretBytes(zeroed: 1 << 20, lifetime: .longLived)
            }

            let (pages, first) = fill(count: 32, lifetime: .longLived)
            #expect(pages.count == 16, "a page each in 64 KiB")
            #expect(first == .lockedMemoryExhausted(bytes: 32))
            let small = #expect(throws: SecretMemoryError.self) { _ = try SecretBytes(zeroed: 32) }
            guard case .lockedMemoryExhausted = small else {
                return #expect(Bool(false), "\(String(describing: small))")
            }
            for (salt, page) in pages.enumerated() {
                #expect(page.holds(filler(32, salt: UInt8(salt))), "secret \(salt) changed")
            }
        }
    }

    @Test(.enabled(if: !TestRun.isSanitized, "the sanitizers turn mlock(2) into nothing"))
    func `without memfd_secret the end of locked memory is an error too`() async {
        await #expect(processExitsWith: .success) {
            try #require(Child.goWithoutHiddenMemory())
            try #require(Child.limitLockedMemory(64 << 10))
            // In this order: the arena keeps its slabs.
            for lifetime in [SecretLifetime.longLived, .transient] {
                #expect(throws: SecretMemoryError.lockedMemoryExhausted(bytes: 1 << 20)) {
                    _ = try SecretBytes(zeroed: 1 << 20, lifetime: lifetime)
                }
                let (held, error) = fill(count: 4096, lifetime: lifetime)
                guard case .lockedMemoryExhausted = error else {
                    return #expect(Bool(false), "\(String(describing: error)) after \(held.count)")
                }
                #expect(held.count >= 4 && held.count <= 16, "\(held.count) pages of 16")
                for (salt, page) in held.enumerated() {
                    let mapping = try #require(try Mapping.containing(page.secret.address()))
                    #expect(mapping.flags.contains("lo"), "\(mapping)")
                    #expect(page.holds(filler(4096, salt: UInt8(salt))), "secret \(salt) changed")
                }
            }
        }
    }

    @Test func `freed pages do not count against the limit`() async {
        await #expect(processExitsWith: .success) {
            try #require(Child.limitLockedMemory(64 << 10))
            for round in 0..<1000 {
                let large = try SecretBytes(zeroed: 40_000)
                let guarded = try SecretBytes(zeroed: 32, lifetime: .longLived)
                let sizes = [large.count, guarded.count]
                try #require(sizes == [40_000, 32], "round \(round)")
            }
        }
    }

    @Test func `the arena ends with an error, and its slots can be had again`() async {
        await #expect(processExitsWith: .success) {
            try #require(Child.limitLockedMemory(64 << 10))
            var (slots, error) = fill(count: 1024, lifetime: .transient)
            #expect(slots.count >= 32 && slots.count <= 64, "\(slots.count) KiB of 64")
            guard case .lockedMemoryExhausted = error else {
                return #expect(Bool(false), "\(String(describing: error))")
            }
            for (salt, slot) in slots.enumerated() {
                #expect(slot.holds(filler(1024, salt: UInt8(salt))), "slot \(salt) changed")
            }
            let count = slots.count
            slots = []
            let (again, _) = fill(count: 1024, lifetime: .transient)
            #expect(again.count == count)
        }
    }
}

/// Allocates until that fails, 256 times at most; secret n holds pattern n.
private func fill(count: Int, lifetime: SecretLifetime) -> ([Held], SecretMemoryError?) {
    var held: [Held] = []
    do throws(SecretMemoryError) {
        for salt in UInt8.min...UInt8.max { held.append(try Held(filler(count, salt: salt), lifetime: lifetime)) }
    } catch {
        return (held, error)
    }
    return (held, nil)
}
#endif
