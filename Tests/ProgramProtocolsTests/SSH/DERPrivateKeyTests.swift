import ProgramProtocols
import TestSupport
import Testing

/// Private keys in DER whose lengths are right, and whose lengths lie.
@Suite(.seeded) struct DERPrivateKeyTests {
    private static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        let length: [UInt8] =
            count < 0x80
            ? [UInt8(count)]
            : count < 0x100 ? [0x81, UInt8(count)] : [0x82, UInt8(count >> 8), UInt8(count & 255)]
        return [tag] + length + content
    }

    private static func number(_ size: Int, last: UInt8 = 1) -> [UInt8] {
        value(2, [0] + [UInt8](repeating: 0x80, count: size - 1) + [last])
    }

    private static func numbers(_ modulus: [UInt8] = number(256), version: UInt8 = 0, more: [UInt8] = []) -> [UInt8] {
        let primes = (0..<5).flatMap { _ in number(128) }
        return value(0x30, value(2, [version]) + modulus + value(2, [1, 0, 1]) + number(250) + primes + more)
    }

    private static let rsaName: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]
    private static let curveName: [UInt8] = [0x2B, 0x81, 0x04, 0x00, 0x22]

    private static func wrapped(_ algorithm: [UInt8], _ key: [UInt8]) -> [UInt8] {
        value(0x30, value(2, [0]) + value(0x30, algorithm) + value(4, key))
    }

    private static let sec1 = value(
        0x30, value(2, [1]) + value(4, [UInt8](repeating: 7, count: 48)) + value(0xA0, value(6, curveName)))

    private func read(_ form: SSHPrivateFile, _ bytes: [UInt8]) throws(SSHError) -> DERPrivateKey {
        try unsafe DERPrivateKey(form, bytes.span.bytes)
    }

    @Test func `each form is read`() throws {
        let plain = try read(.pkcs1, Self.numbers())
        #expect(plain.kind == .rsa && plain.secrets.map(\.count) == [250, 128, 128, 128])
        #expect(plain.publicKey?.number.count == 256 && plain.publicKey?.exponent?.count == 3)
        let inner = Self.wrapped(Self.value(6, Self.rsaName) + Self.value(5, []), Self.numbers())
        #expect(try read(.pkcs8, inner).secrets.map(\.count) == [250, 128, 128, 128])
        let curve = try read(.sec1, Self.sec1)
        #expect(curve.kind == .p384 && curve.secrets.map(\.count) == [48])
    }

    @Test(
        arguments: [
            (.pkcs1, numbers(version: 1), .otherKey), (.pkcs1, numbers(number(255)), .unsafeKey),
            (.pkcs1, numbers(number(513)), .unsafeKey), (.pkcs1, numbers(more: [0]), .invalid),
            (.pkcs1, numbers(more: value(2, [1])), .invalid), (.pkcs1, numbers() + [0], .invalid),
            (.pkcs1, numbers(value(2, [0x80] + [UInt8](repeating: 1, count: 255))), .invalid),
            (.pkcs1, numbers(value(2, [0, 0x7F] + [UInt8](repeating: 1, count: 255))), .invalid),
            (.sec1, value(0x30, value(2, [1]) + value(4, [7])), .truncated), (.sec1, [], .truncated),
            (.pkcs8, wrapped(value(6, [1, 2, 3]), []), .otherKey), (.encrypted, sec1, .encrypted),
            (.openSSH, sec1, .invalid), (.sec1, [0x30, 0x81, 0x05] + sec1[2...].prefix(5), .invalid),
            (.sec1, [0x30, 0x83, 0, 0, 5] + sec1[2...].prefix(5), .invalid), (.sec1, [0x30, 0x80, 0, 0], .invalid),
        ] as [(SSHPrivateFile, [UInt8], SSHError)])
    func `what is none is refused`(form: SSHPrivateFile, bytes: [UInt8], error: SSHError) {
        #expect(throws: error) { try read(form, bytes) }
    }

    @Test func `no cut and no change of a byte is taken for something outside of the file`() {
        var generator = SeededGenerator()
        for (form, sample) in [(SSHPrivateFile.pkcs1, Self.numbers()), (.sec1, Self.sec1)] {
            for count in 0..<sample.count { #expect(throws: SSHError.self) { try read(form, Array(sample[..<count])) } }
            for _ in 0..<500 {
                var bytes = sample
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
                guard let key = try? read(form, bytes) else { continue }
                #expect(key.secrets.allSatisfy { $0.upperBound <= bytes.count && !$0.isEmpty })
            }
        }
    }
}
