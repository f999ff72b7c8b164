/// A number modulo the prime of P-256 (NIST SP 800-186, section 3.2.1.3). Only for public points: neither the time that
/// it takes nor what it leaves in memory is a secret's.
///
/// It is kept times 2^256, so that a product is reduced from its low end (P. Montgomery, Modular Multiplication Without
/// Trial Division). The prime makes that cheap: its lowest word is -1.
struct P256Number: Equatable {
    private typealias Words = (UInt64, UInt64, UInt64, UInt64)

    /// The lowest word first.
    private var words: Words

    private static let prime: Words = (.max, 0xffff_ffff, 0, 0xffff_ffff_0000_0001)
    /// 2^512, which brings a number into this form.
    private static let square = P256Number(words: (3, 0xffff_fffb_ffff_ffff, 0xffff_ffff_ffff_fffe, 0x4_ffff_fffd))
    private static let one = P256Number(words: (1, 0, 0, 0))
    /// The coefficient b of the curve.
    private static let coefficient =
        P256Number(
            words: (0x3bce_3c3e_27d2_604b, 0x651d_06b0_cc53_b0f6, 0xb3eb_bd55_7698_86bc, 0x5ac6_35d8_aa3a_93e7))
        * square

    private init(words: Words) { self.words = words }

    /// Takes 32 bytes, big endian; nil for the prime and what is above.
    init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == 32 else { return nil }
        var words: [UInt64] = [0, 0, 0, 0]
        for (index, byte) in bytes.enumerated() { words[index / 8] = words[index / 8] &<< 8 | UInt64(byte) }
        let plain = P256Number(words: (words[3], words[2], words[1], words[0]))
        guard P256Number.difference(plain.words, P256Number.prime).isNegative else { return nil }
        self = plain * P256Number.square
    }

    /// 32 bytes, big endian.
    var bytes: [UInt8] {
        let plain = (self * P256Number.one).words
        return [plain.3, plain.2, plain.1, plain.0].flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word &>> (56 - 8 * $0)) }
        }
    }

    /// The square of the y of a point with this x: x^3 - 3x + b.
    var squareOfY: P256Number { self * self * self - self - self - self + P256Number.coefficient }

    /// Its root, one of two; nil when it has none.
    var root: P256Number? {
        // The power (p + 1) / 4 = 2^254 - 2^222 + 2^190 + 2^94 (SEC 1, section 2.3.4): 32 ones, one, one and zeros.
        var ones = self
        for count in [1, 2, 4, 8, 16] { ones = ones.squared(count) * ones }
        let root = ((ones.squared(32) * self).squared(96) * self).squared(94)
        return root * root == self ? root : nil
    }

    var negative: P256Number { P256Number(words: (0, 0, 0, 0)) - self }

    static func == (left: P256Number, right: P256Number) -> Bool { left.words == right.words }

    static func + (left: P256Number, right: P256Number) -> P256Number {
        let (a, b) = (left.words, right.words)
        var sum = UInt128(a.0) &+ UInt128(b.0)
        let first = low(sum)
        sum = UInt128(a.1) &+ UInt128(b.1) &+ sum &>> 64
        let second = low(sum)
        sum = UInt128(a.2) &+ UInt128(b.2) &+ sum &>> 64
        let third = low(sum)
        sum = UInt128(a.3) &+ UInt128(b.3) &+ sum &>> 64
        return reduced((first, second, third, low(sum)), high(sum))
    }

    static func - (left: P256Number, right: P256Number) -> P256Number {
        let (difference, isNegative) = difference(left.words, right.words)
        // What is added to a negative one is again the prime, and the carry goes with the borrow.
        return isNegative
            ? P256Number(words: P256Number.difference(difference, negatedPrime).words)
            : P256Number(words: difference)
    }

    /// 2^256 less the prime: taking it away adds the prime.
    private static let negatedPrime: Words = (1, 0xffff_ffff_0000_0000, .max, 0xffff_fffe)

    @inline(__always)
    static func * (left: P256Number, right: P256Number) -> P256Number {
        var sum: (UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0)
        add(left.words.0, times: right.words, to: &sum)
        add(left.words.1, times: right.words, to: &sum)
        add(left.words.2, times: right.words, to: &sum)
        add(left.words.3, times: right.words, to: &sum)
        return reduced((sum.0, sum.1, sum.2, sum.3), sum.4)
    }

    /// Squared so many times.
    @inline(never)
    private func squared(_ count: Int) -> P256Number {
        var number = self
        for _ in 0..<count { number = number * number }
        return number
    }

    /// Adds a product, then as many times the prime as make the lowest word zero, and leaves that word away.
    @inline(__always)
    private static func add(
        _ word: UInt64, times number: Words, to sum: inout (UInt64, UInt64, UInt64, UInt64, UInt64)
    ) {
        var part = product(word, number.0) &+ UInt128(sum.0)
        let times = low(part)
        part = product(word, number.1) &+ UInt128(sum.1) &+ part &>> 64
        sum.1 = low(part)
        part = product(word, number.2) &+ UInt128(sum.2) &+ part &>> 64
        sum.2 = low(part)
        part = product(word, number.3) &+ UInt128(sum.3) &+ part &>> 64
        sum.3 = low(part)
        let top = UInt128(sum.4) &+ part &>> 64
        // The two lowest words of the prime are 2^96 - 1; the one above them is zero.
        part = UInt128(sum.1) &+ UInt128(times &<< 32)
        sum.0 = low(part)
        part = UInt128(sum.2) &+ UInt128(times &>> 32) &+ part &>> 64
        sum.1 = low(part)
        part = product(times, prime.3) &+ UInt128(sum.3) &+ part &>> 64
        sum.2 = low(part)
        part = top &+ part &>> 64
        (sum.3, sum.4) = (low(part), high(part))
    }

    /// Less than twice the prime, brought below it.
    @inline(__always)
    private static func reduced(_ words: Words, _ top: UInt64) -> P256Number {
        let (difference, isNegative) = difference(words, prime)
        return P256Number(words: top == 0 && isNegative ? words : difference)
    }

    @inline(__always)
    private static func difference(_ left: Words, _ right: Words) -> (words: Words, isNegative: Bool) {
        var borrow = false
        func word(_ left: UInt64, _ right: UInt64) -> UInt64 {
            let (less, first) = left.subtractingReportingOverflow(right)
            let (word, second) = less.subtractingReportingOverflow(borrow ? 1 : 0)
            borrow = first || second
            return word
        }
        let words = (
            word(left.0, right.0), word(left.1, right.1), word(left.2, right.2), word(left.3, right.3)
        )
        return (words, borrow)
    }

    @inline(__always)
    private static func product(_ left: UInt64, _ right: UInt64) -> UInt128 { UInt128(left) &* UInt128(right) }

    @inline(__always)
    private static func low(_ number: UInt128) -> UInt64 { UInt64(truncatingIfNeeded: number) }

    @inline(__always)
    private static func high(_ number: UInt128) -> UInt64 { UInt64(truncatingIfNeeded: number &>> 64) }
}
