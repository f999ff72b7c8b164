import Foundation
import MemorySearch
import SecretMemory
import TestSupport
import Testing

@testable import VaultCore
@testable import VaultStorage

/// What a read leaves on the stack is cleared down to where it reached, however it ended.
@Suite(.serialized) struct ReadStackTests {
    /// By what has changed of a stack that was marked before: the lowest of it must be what was cleared, or the read
    /// has reached below that.
    @Test(
        .enabled(if: !Sanitizer.isPresent, "a sanitizer has more on the stack"),
        arguments: [nil, .damaged, .recordNotFound] as [VaultError.Code?])
    func `the stack is cleared as far down as a read reaches`(failure: VaultError.Code?) throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        if failure != .recordNotFound { try vault.put(pattern(200), "name") }
        if failure == .damaged { try vault.damage("name") }
        // The first time the linker and the runtime's tables of types reach further down.
        for _ in 0..<2 { #expect(code { _ = try vault.get("name") } == failure) }
        let extent = withoutThrowHandlers { Self.extent(of: vault) }
        #expect(extent.reached > WorkingMemory.Depth.reading.rawValue, "nothing was cleared")
        // What is called after the clearing may use the upper part of it again.
        #expect(extent.cleared > WorkingMemory.Depth.reading.rawValue / 2, "of \(extent.reached) bytes")
    }

    private func code(_ body: () throws -> Void) -> VaultError.Code? {
        do { try body() } catch { return (error as? VaultError)?.code }
        return nil
    }

    @inline(never)
    private static func extent(of vault: Vault) -> memory_stack_extent {
        memory_stack_mark()
        try? vault.withValue(for: "name") { _ in }
        return memory_stack_look()
    }

    /// The testing library walks the stack where an error is thrown, in frames of its own.
    private func withoutThrowHandlers<R>(_ body: () -> R) -> R {
        let handlers = exchangeThrowHandlers([0, 0])
        defer { _ = exchangeThrowHandlers(handlers) }
        return body()
    }

    private func exchangeThrowHandlers(_ handlers: [Int]) -> [Int] {
        zip(["_swift_willThrow", "_swift_willThrowTypedImpl"], handlers).map { name, new in
            guard let place = unsafe dlsym(nil, name) else { return 0 }
            let old = unsafe place.load(as: Int.self)
            unsafe place.storeBytes(of: new, as: Int.self)
            return old
        }
    }
}
