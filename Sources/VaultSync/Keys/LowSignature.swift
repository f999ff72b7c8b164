/// The one form of a P-256 signature that travels: with the lower of the two numbers s and n - s.
///
/// Both verify. The hash of an entry is over its signature too, so anybody could make a second entry out of one, with
/// another hash, and with it a fork of the stream.
enum LowSignature {
    /// n, the order of P-256, big endian.
    private static let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]

    /// n - s, for an s below n.
    private static func complement(_ s: ArraySlice<UInt8>) -> [UInt8] {
        var (result, borrow) = ([UInt8](repeating: 0, count: order.count), 0)
        for (index, byte) in s.enumerated().reversed() {
            let difference = Int(order[index]) - Int(byte) - borrow
            result[index] = UInt8(truncatingIfNeeded: difference)
            borrow = difference < 0 ? 1 : 0
        }
        return result
    }

    /// Whether s is not above n - s. Signatures are public: nothing here need take the same time.
    static func isLow(_ signature: [UInt8]) -> Bool {
        let s = signature.suffix(order.count)
        guard signature.count == 2 * order.count, s.lexicographicallyPrecedes(order) else { return false }
        return !complement(s).lexicographicallyPrecedes(s)
    }

    /// The low form of a valid signature.
    static func low(_ signature: [UInt8]) -> [UInt8] {
        isLow(signature) ? signature : signature.prefix(order.count) + complement(signature.suffix(order.count))
    }
}
