/// Costs of Argon2id (RFC 9106) as written in a slot.
package struct DerivationParameters: Sendable, Hashable {
    /// Time cost: passes over the memory.
    package let passes: UInt32
    /// Memory cost in KiB.
    package let memoryKiB: UInt32
    /// Degree of parallelism; 1 in every slot that Holdfast writes.
    package let lanes: UInt32

    package init(passes: UInt32, memoryKiB: UInt32, lanes: UInt32 = 1) {
        self.passes = passes
        self.memoryKiB = memoryKiB
        self.lanes = lanes
    }
}

/// The costs that a reader accepts. Weaker ones would help an attacker who swaps the header; costlier ones would let
/// them stall or starve the machine, so both ends are checked before the work.
package struct DerivationLimits: Sendable, Hashable {
    package let passes: ClosedRange<UInt32>
    package let memoryKiB: ClosedRange<UInt32>

    /// What every shipped executable uses: 3 passes and 64 MiB at least, 64 passes and 2 GiB at most.
    package static let shipped = DerivationLimits(passes: 3...64, memoryKiB: 64 << 10...2 << 20)

    /// One pass over 64 KiB is enough: for tests, whose time the derivation would take.
    package static let forTests = DerivationLimits(passes: 1...64, memoryKiB: 64...2 << 20)

    /// What this executable uses. Only the builds of `make test` define the condition (checked by
    /// scripts/check-layout), and what they write ``shipped`` refuses.
    package static let standard: DerivationLimits = {
        #if HOLDFAST_TEST_COSTS
        forTests
        #else
        shipped
        #endif
    }()

    /// The cheapest that is accepted.
    package var floor: DerivationParameters {
        DerivationParameters(passes: passes.lowerBound, memoryKiB: memoryKiB.lowerBound)
    }

    /// - Throws: ``FormatError/derivationCostOutOfRange``.
    package func check(_ parameters: DerivationParameters) throws(FormatError) {
        guard passes.contains(parameters.passes), memoryKiB.contains(parameters.memoryKiB), parameters.lanes == 1
        else { throw .derivationCostOutOfRange }
    }
}
