import Testing

@testable import SecretMemory

/// Memory for more than a user may lock.
@Suite(.serialized) struct BulkMemoryTests {
    private func within<R>(_ isAllowed: Bool, _ body: () throws -> R) throws -> R {
        let outer = BulkMemory.begin(isAllowed: isAllowed)
        defer { BulkMemory.end(outer) }
        return try body()
    }

    private func isLocked(_ count: Int, _ lifetime: SecretLifetime = .transient) throws -> Bool {
        try SecretBytes(zeroed: count, lifetime: lifetime).isLocked
    }

    @Test func `beyond its limit a large secret is not locked, and keys always are`() throws {
        try within(true) { () throws in
            let most = try SecretBytes(zeroed: 3 << 20)
            var more = try SecretBytes(zeroed: 2 << 20)
            let states = (most.isLocked, more.isLocked)
            #expect(states.0 && !states.1)
            more.withMutableBytes { $0.storeBytes(of: 7, toByteOffset: (2 << 20) - 1, as: UInt8.self) }
            let last = more.withBytes { unsafe $0.unsafeLoad(fromByteOffset: (2 << 20) - 1, as: UInt8.self) }
            #expect(last == 7)
            #expect(try isLocked(32, .longLived))
            try within(false) { () throws in #expect(try isLocked(32) && isLocked(64 << 10)) }
            #expect(try !isLocked(32))
        }
        // What was locked for it is given back.
        try within(true) { () throws in #expect(try isLocked(3 << 20)) }
        #expect(try isLocked(32) && isLocked(5000))
    }
}
