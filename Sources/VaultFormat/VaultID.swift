/// 16 random bytes that name a vault; part of the authenticated data of everything in it.
public struct VaultID: Sendable, Hashable, CustomStringConvertible {
    /// The 16 bytes.
    package let bytes: [UInt8]

    /// Takes 16 bytes; nil for any other size.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// 32 lower-case hexadecimal digits.
    public var description: String { Hexadecimal.encode(bytes) }
}

/// Base 16, lower case.
package enum Hexadecimal {
    private static let digits = Array("0123456789abcdef".utf8)

    package static func encode(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// The bytes of an even number of lower-case digits; nil for anything else.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let text = Array(text.utf8)
        guard text.count % 2 == 0 else { return nil }
        var result: [UInt8] = []
        for pair in stride(from: 0, to: text.count, by: 2) {
            guard let high = digits.firstIndex(of: text[pair]), let low = digits.firstIndex(of: text[pair + 1])
            else { return nil }
            result.append(UInt8(high << 4 | low))
        }
        return result
    }
}
