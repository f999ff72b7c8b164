import Foundation
import SecretMemory
import Testing

#if os(Linux) && !canImport(Darwin)
// Each in a process of its own: there nobody else takes the slot that was just freed, or the pages.
@Suite struct WipeTests {
    @Test func `a freed slot is wiped at once and reads zero when it is handed out again`() async {
        await #expect(processExitsWith: .success) {
            for size in [32, 64, 128, 256, 512, 1024, 2048, 4096] {
                for count in Set([1, 8, 9, size / 2 + 1, size - 1, size]).sorted() where count * 2 > size || size == 32
                {
                    let address = try fillAndDrop(count)
                    // The arena keeps its link in the first word of a free slot; that word is not the secret's.
                    let link = MemoryLayout<UInt>.size
                    for offset in link..<max(link, count) {
                        let byte = unsafe UnsafeRawPointer(bitPattern: address + UInt(offset))?.load(as: UInt8.self)
                        #expect(byte == 0, "byte \(offset) of a freed secret of \(count)")
                    }
                    let next = try SecretBytes(zeroed: size)
                    let (same, zero) = (next.address() == address, next.holds(zeros(size)))
                    #expect(same, "another slot than the one just freed")
                    #expect(zero, "after a secret of \(count)")
                }
            }
        }
    }

    @Test func `pages of a long-lived secret are given back`() async {
        await #expect(processExitsWith: .success) {
            let address = try fillAndDrop(5000, lifetime: .longLived)
            #expect(!Probe.isReadable(address))
            #expect(!Probe.isReadable(address + 4999))
        }
    }
}

/// Leaves behind only where the secret was.
private func fillAndDrop(_ count: Int, lifetime: SecretLifetime = .transient) throws -> UInt {
    let secret = try [UInt8](repeating: 0xA5, count: count).secret(lifetime: lifetime)
    return secret.address()
}
#endif
