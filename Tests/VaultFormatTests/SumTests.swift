import TestSupport
import Testing
import VaultFormat

/// The root record's sum against a plain addition of digits.
@Suite(.seeded) struct SumTests {
    /// 32 digits of base 256, least significant first.
    private func add(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
        var carry = 0
        return zip(left, right).map { left, right in
            let digit = Int(left) + Int(right) + carry
            carry = digit >> 8
            return UInt8(digit & 0xFF)
        }
    }

    private func negated(_ value: [UInt8]) -> [UInt8] { add(value.map { ~$0 }, [1] + repeated(0, 31)) }

    private func sum(_ bytes: [UInt8]) -> Sum256 { bytes.lend { Sum256($0) } }

    /// Random numbers and those at which carries run furthest.
    private func operands(_ generator: inout SeededGenerator) -> [[UInt8]] {
        var all = (0..<24).map { _ in generator.bytes(32) }
        all += [repeated(0, 32), repeated(0xFF, 32), [1] + repeated(0, 31), repeated(0, 31) + [0x80]]
        for word in 0..<4 {
            all.append(repeated(0, 32).replacing(at: 8 * word, with: repeated(0xFF, 8)))
            all.append(repeated(0xFF, 32).replacing(at: 8 * word, with: repeated(0, 8)))
            all.append(repeated(0, 32).with(1, at: 8 * word))
        }
        return all
    }

    @Test func addsAndSubtractsLikeTheReference() {
        var generator = SeededGenerator()
        let numbers = operands(&generator)
        for left in numbers {
            for right in numbers {
                var total = sum(left)
                total.add(sum(right))
                #expect(total == sum(add(left, right)))
                var difference = sum(left)
                difference.subtract(sum(right))
                #expect(difference == sum(add(left, negated(right))))
            }
        }
    }

    @Test func orderDoesNotMatter() {
        var generator = SeededGenerator()
        let terms = (0..<200).map { _ in sum(generator.bytes(32)) }
        var first = Sum256()
        for term in terms { first.add(term) }
        var second = Sum256()
        for term in terms.shuffled(using: &generator) { second.add(term) }
        #expect(first == second && first != Sum256())
        for term in terms.shuffled(using: &generator) { first.subtract(term) }
        #expect(first == Sum256())
    }

    @Test func readsAndWritesLittleEndianBytes() {
        let bytes = Array(0..<32) as [UInt8]
        #expect(sum(bytes).words[0] == 0x0706_0504_0302_0100 && sum(bytes).words[3] == 0x1F1E_1D1C_1B1A_1918)
        #expect((repeated(9, 16) + bytes).lend { Sum256($0, at: 16) } == sum(bytes))
    }

    #if !os(iOS)
    @Test func `bytes that are missing end the process and are never zeros`() async {
        await #expect(processExitsWith: .failure) { _ = repeated(1, 31).lend { Sum256($0) } }
        await #expect(processExitsWith: .failure) {
            var written = repeated(0, SealedRecord.authenticatedSize)
            repeated(1, 31).lend { key in
                written.lendForWriting { SealedRecord.writeLookupKey(key, into: &$0) }
            }
        }
    }
    #endif
}
