#if !canImport(CryptoKit)  // Apple systems have no libsodium
import SecretMemory
import TestSupport
import Testing

/// An answer of the reference implementation (argon2-cffi 21.1, libargon2 20171227; version 1.3, one lane).
private struct KnownAnswer: Sendable, CustomTestStringConvertible {
    let passcode: [UInt8]
    let salt: [UInt8]
    let passes: Int
    let memoryKiB: Int
    let output: String

    var testDescription: String {
        "\(passcode.count)-byte passcode, t=\(passes), m=\(memoryKiB), \(output.count / 2) bytes"
    }

    static let all = [
        KnownAnswer(
            passcode: Array("correct horse battery staple".utf8), salt: Array(0..<16), passes: 3, memoryKiB: 64,
            output: "bc240e180a205bd2e782cdc64983f247e76aeb8fb2133aec1570b70cccd68bff"),
        KnownAnswer(
            passcode: [], salt: Array(0..<16), passes: 1, memoryKiB: 8,
            output: "31ed41e2d73f27fdfe4eb4bec651341e58ba43477051c6fe4adad735d82ee08a"),
        KnownAnswer(
            passcode: Array(0...255) + Array(0...255), salt: [UInt8](repeating: 0xFF, count: 16), passes: 2,
            memoryKiB: 1024,
            output: "4b3829bb9f266f911cdbf91da9fd1ea45ff525f35569a78944ef9103d001e99d"
                + "d3606a229471982c8ee5c15bd40355ede0c8482b9c70041e4f879278495d61d7"),
        KnownAnswer(
            passcode: [0, 0x61, 0], salt: [UInt8](repeating: 0, count: 16), passes: 1, memoryKiB: 8,
            output: "e0460e35ec2b2a02dde553b1ae8c73d2"),
    ]
}

@Suite struct SodiumArgon2idTests {
    @Test("gives the reference's answer", arguments: KnownAnswer.all)
    private func knownAnswer(_ known: KnownAnswer) throws {
        let passcode = try known.passcode.secret()
        let key = try unsafe SodiumArgon2id.derive(
            passcode, salt: known.salt.span.bytes, passes: known.passes, memoryKiB: known.memoryKiB,
            count: known.output.count / 2)
        let bytes = key.revealed()
        let digits = Array("0123456789abcdef")
        #expect(String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }) == known.output)
    }

    @Test("refuses a salt of another size", arguments: [0, 8, 15, 17, 32])
    func salt(_ count: Int) throws {
        let passcode = try filler(8).secret()
        #expect(throws: SecretMemoryError.invalidSize(count)) {
            _ = try unsafe SodiumArgon2id.derive(
                passcode, salt: filler(count).span.bytes, passes: 1, memoryKiB: 8, count: 32)
        }
    }

    @Test(
        "refuses costs outside libsodium's", arguments: [(0, 8), (-1, 8), (1 << 33, 8), (1, 7), (1, -8), (1, 1 << 40)])
    func cost(_ passes: Int, _ memoryKiB: Int) throws {
        let passcode = try filler(8).secret()
        let error = #expect(throws: SecretMemoryError.self) {
            _ = try unsafe SodiumArgon2id.derive(
                passcode, salt: filler(16).span.bytes, passes: passes, memoryKiB: memoryKiB, count: 32)
        }
        guard case .invalidSize = error else {
            Issue.record("\(String(describing: error)) for passes \(passes), memory \(memoryKiB) KiB")
            return
        }
    }

    // RFC 9106 allows 4 bytes; libsodium begins at 16.
    @Test("refuses an output of too few bytes", arguments: [-1, 0, 1, 15])
    func output(_ count: Int) throws {
        let passcode = try filler(8).secret()
        #expect(throws: SecretMemoryError.self) {
            _ = try unsafe SodiumArgon2id.derive(
                passcode, salt: filler(16).span.bytes, passes: 1, memoryKiB: 8, count: count)
        }
    }
}
#endif
