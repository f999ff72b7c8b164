import BetterAuthVerification
import BetterAuthMessages
import Foundation
import TestSupport
import Testing

private struct TokenVectors: Decodable {
    struct Issued: Decodable {
        let token: String
        let signedText: String
        let serverAccessKey: String
    }
    struct Variant: Decodable {
        let name: String
        let token: String
        let expect: String
        let signatureVerifiesOverText: Bool
    }
    let issued: [Issued]
    let variants: [Variant]
}

@Suite(.seeded) struct TokenTests {
    @Test func issuedTokensOfTheVectors() throws {
        let all = try vectors("tokens", as: TokenVectors.self).issued
        #expect(all.count == 3)
        for vector in all {
            let token = try AccessToken(opening: TokenText(parsing: vector.token), with: gzip)
            #expect(token.signedBytes.text == vector.signedText)
            #expect(token.claims.encoded.text == vector.signedText)
            #expect(token.claims.serverIdentity.description == vector.serverAccessKey)
            #expect(token.withSignedBytes { verifies(token.signature, token.claims.serverIdentity, $0) })
        }
    }

    @Test func variantsOfTheVectors() throws {
        let file = try vectors("tokens", as: TokenVectors.self)
        let server = try #require(PublicKeyText(file.issued[0].serverAccessKey))
        #expect(file.variants.count == 17)
        for vector in file.variants {
            let token = try? AccessToken(opening: TokenText(parsing: vector.token), with: gzip)
            let isAuthentic = token.map { token in token.withSignedBytes { verifies(token.signature, server, $0) } }
            // Where implementations may differ (other order, unknown members), ours refuses.
            #expect((isAuthentic == true) == (vector.expect == "accept"), "\(vector.name)")
        }
        let changed = try #require(file.variants.first { $0.name.hasPrefix("claims changed") })
        let token = try AccessToken(opening: TokenText(parsing: changed.token), with: gzip)
        #expect(!token.withSignedBytes { verifies(token.signature, server, $0) })
    }

    @Test func refusalsNameTheirReason() throws {
        let variants = try vectors("tokens", as: TokenVectors.self).variants
        let expected: [String: MessageError.Reason] = [
            "padded base64 body": .invalidToken, "crc wrong": .invalidGzip, "length field wrong": .invalidGzip,
            "truncated gzip": .invalidGzip, "trailing garbage after gzip member": .tokenTooLarge,
            "two gzip members (empty second)": .invalidGzip, "signature prefix wrong": .invalidEncoding,
            "shorter than a signature": .invalidToken, "no body": .invalidToken,
            "fields reordered, signed as written": .missingMember,
            "unknown field, signed as written": .unknownMember,
        ]
        for (name, reason) in expected {
            let vector = try #require(variants.first { $0.name == name })
            let error = refusal { try AccessToken(opening: TokenText(parsing: vector.token), with: gzip) }
            let isExpected = error?.reason == reason || (name.hasPrefix("t") && error?.reason == .tokenTooLarge)
            #expect(isExpected, "\(name): \(String(describing: error))")
        }
    }

    @Test func claimsOfAnyKindReturn() throws {
        var random = SeededGenerator()
        for _ in 0..<100 {
            let claims = try Samples.claims(
                issuedAt: .random(in: 0...253_402_300_799_999, using: &random),
                expiry: .random(in: 0...253_402_300_799_999, using: &random),
                refreshExpiry: .random(in: 0...253_402_300_799_999, using: &random),
                attributes: JSONSample.value(&random, depth: 3).text)
            let token = AccessToken(claims) { _ in Samples.signature }
            let opened = try AccessToken(opening: token.text(gzip), with: gzip)
            #expect(opened == token && opened.claims == claims && opened.signedBytes == claims.encoded)
        }
    }

    /// 64 MiB of zeros, and every smaller bomb down to what a token may hold.
    @Test func bombsAreRefused() throws {
        for size in [64 << 20, 4 << 20, 1 << 20, 100_000, 16_385] {
            let bomb = try [UInt8](repeating: 0x30, count: size).lend { try gzip.deflate($0) }
            let text = Samples.signature.description + base64URL(bomb)
            let error = refusal { try AccessToken(opening: TokenText(parsing: text), with: gzip) }
            #expect(error?.reason == .tokenTooLarge, "\(size)")
            // Says of itself that it is small.
            let liar = bomb.dropLast(4) + [1, 0, 0, 0]
            let second = refusal {
                let text = Samples.signature.description + base64URL(Array(liar))
                return try AccessToken(opening: TokenText(parsing: text), with: gzip)
            }
            #expect(second?.reason == .tokenTooLarge, "\(size)")
        }
        // The largest that is decompressed at all.
        let most = try [UInt8](repeating: 0x30, count: 16_384).lend { try gzip.deflate($0) }
        let error = refusal {
            try AccessToken(opening: TokenText(parsing: Samples.signature.description + base64URL(most)), with: gzip)
        }
        #expect(error?.reason == .wrongType)
    }

    @Test func outputNeverGrowsBeyondTheLimit() throws {
        let bomb = try [UInt8](repeating: 0x30, count: 1 << 20).lend { try gzip.deflate($0) }
        for limit in [0, 1, 100, 1 << 20 - 1] {
            #expect(throws: TokenCompressionError.tooLarge) { try bomb.lend { try gzip.inflate($0, limit: limit) } }
        }
        let whole = try bomb.lend { try gzip.inflate($0, limit: 1 << 20) }
        #expect(whole.count == 1 << 20)
    }

    #if os(Linux) && !canImport(Darwin)
    /// However large it would become, a process of its own grows by less than a megabyte.
    @Test(.enabled(if: !Sanitizer.isPresent, "what is freed stays in memory under a sanitizer"))
    func aBombsOutputIsBounded() async {
        await #expect(processExitsWith: .success) {
            let sizes = [16_385, 2 << 20, 64 << 20]
            let texts = try sizes.map { size in
                let bomb = try [UInt8](repeating: 0x30, count: size).lend { try gzip.deflate($0) }
                // Says of itself that it is small, so that it is begun.
                return Samples.signature.description + base64URL(bomb.dropLast(4) + [1, 0, 0, 0])
            }
            func refuseAll() {
                for text in texts { #expect(throws: MessageError.self) { try open(text) } }
            }
            func open(_ text: String) throws(MessageError) {
                _ = try AccessToken(opening: TokenText(parsing: text), with: gzip)
            }
            refuseAll()  // what is made once and kept
            let before = try ProcessMemory()
            try "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
            try #require(ProcessMemory().peak < before.peak, "the peak does not start anew")
            refuseAll()
            let grown = try ProcessMemory().peak - before.resident
            #expect(grown < 1000, "\(grown) kB")
        }
    }
    #endif

    @Test func gzipIsTakenWholeOrNotAtAll() throws {
        let text = Array("some text that is long enough to be compressed compressed compressed".utf8)
        let member = try text.lend { try gzip.deflate($0) }
        #expect(try member.lend { try gzip.inflate($0, limit: 1000) } == text)
        for count in 0..<member.count {
            let error = #expect(throws: TokenCompressionError.self) {
                try Array(member.prefix(count)).lend { try gzip.inflate($0, limit: 1000) }
            }
            #expect(error == .damaged, "\(count)")
        }
        for more in [[0], [0x1F], member] as [[UInt8]] {
            #expect(throws: TokenCompressionError.damaged) {
                try (member + more).lend { try gzip.inflate($0, limit: 1000) }
            }
        }
        // A changed bit is found, or is one that means nothing: it never changes the text.
        var harmless = 0
        for place in member.indices {
            for bit in 0..<8 {
                var changed = member
                changed[place] ^= 1 << bit
                guard let out = try? changed.lend({ try gzip.inflate($0, limit: 1000) }) else { continue }
                #expect(out == text)
                harmless += 1
            }
        }
        // Time, extra flags, system, the mark for text, and what fills the last byte of the data.
        #expect((49...56).contains(harmless), "\(harmless)")
    }

    @Test func headersWithOptionalFieldsAreRefused() throws {
        let token = AccessToken(try Samples.claims(issuedAt: 0, expiry: 1, refreshExpiry: 2)) { _ in Samples.signature }
        var member = try token.signedBytes.lend { try gzip.deflate($0) }
        // A name, as command line tools write it.
        member[3] = 8
        member.insert(contentsOf: Array("name\0".utf8), at: 10)
        #expect(try member.lend { try gzip.inflate($0, limit: 16_384) } == token.signedBytes)
        let text = Samples.signature.description + base64URL(member)
        #expect(refusal { try AccessToken(opening: TokenText(parsing: text), with: gzip) }?.reason == .invalidGzip)
    }

    @Test func tokensBeyondTheLimitAreNotIssued() throws {
        var random = SeededGenerator(seed: 1)
        let noise = #"{"a":""# + base64URL(random.bytes(6000)) + #""}"#
        let token = AccessToken(
            try Samples.claims(issuedAt: 0, expiry: 1, refreshExpiry: 2, attributes: noise)
        ) { _ in Samples.signature }
        #expect(throws: TokenCompressionError.tooLarge) { try token.text(gzip) }
        let long = #"{"a":""# + String(repeating: "x", count: 17_000) + #""}"#
        let second = AccessToken(
            try Samples.claims(issuedAt: 0, expiry: 1, refreshExpiry: 2, attributes: long)
        ) { _ in Samples.signature }
        #expect(throws: TokenCompressionError.tooLarge) { try second.text(gzip) }
    }

    @Test func truncatedTokensAreRefusedAtEveryByte() throws {
        let bytes = Samples.token.bytes
        for count in 0..<bytes.count {
            let error = refusal {
                try Array(bytes.prefix(count)).lend { try AccessToken(opening: TokenText(parsing: $0), with: gzip) }
            }
            #expect(error != nil, "\(count)")
        }
        let stray = bytes + Array("A".utf8)
        #expect(refusal { try stray.lend { try AccessToken(opening: TokenText(parsing: $0), with: gzip) } } != nil)
    }

    /// Two texts of one value would be two keys of a cache.
    @Test func strayBitsBehindTheEndAreRefused() throws {
        for length in 19...24 {
            let body = base64URL((0..<length).map { UInt8($0) })
            let good = Samples.signature.description + body
            #expect(throws: Never.self) { try TokenText(parsing: good) }
            guard length % 3 != 0 else { continue }
            let last = try #require(body.utf8.last)
            let changed = Samples.signature.description + body.dropLast() + String(UnicodeScalar(last + 1))
            #expect(refusal { try TokenText(parsing: changed) }?.reason == .invalidToken, "\(length)")
        }
    }
}

func base64URL(_ bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString().replacingOccurrences(of: "+", with: "-")
        .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
}
