import Cryptography
import SecretMemory
import TestSupport
import Testing

/// Keys of the kinds that only SSH programs have.
@Suite struct SSHSigningTests {
    /// The signatures are Python's.
    private static let ofSHA256 = hexBytes(
        [
            "8b1120d4add878a5b5f981b24c34181f626526470dcd21f653344f7b12c9785f41a266e5a2920dced7c194d06c41cd45",
            "bf71f77b6ec67d8455479c4ed8d06450248a58541b69e0651658bc91873301026f60eb010161fdb9da9e858d40d270fd",
            "2c0ed65a12719444933861df6925b771cc362e9f26bfa4988a43331338caeba9c532d23414251e009b75486e89842c32",
            "0647fde7bb261d60f0bbdb445971677908aa7baf95ccb890ea205e9923d2a2f839172b72240e77a294a2cb1ebacd9235",
            "a91e2c8a2f43c95b39f52ae789087cb5a53e83e8a8452bf93cb0adc1e18ba276a8cf8a00072c5a58a677fec0ac2dff6e",
            "e331bca3eac42fad98248f8006e21c9b",
        ].joined())
    private static let ofSHA512 = hexBytes(
        [
            "0ae18a15a5e8cf9b4f38fd55e29ae3d3b2869fe8c250253978504bf79e8e31cae4e02914b61c793b543075a5afc0d20f",
            "1db1224b025400850bee127cabd894fe920bfc4a3b5f2957b106533ad030abd4cb5d820c1deff2f3309908adf4418a93",
            "70827193a80b77b465511447e8ee6c22a6bc1557343ed2abc56d84ce6da4d4140efc57bdac295a885bd73db98d74c3a1",
            "214046d4eaf961903abc71167e583f5edad9b0571e3d5eb37ed555903dfe17cdb7a4157dbeb492bedb5c11ef9d4b54e4",
            "ad4a27f1baa50dde238761e87ac59b5e5d8cb690e4474c2b5eda30f793bb21cab7a37b5d2ab3084466b9df1866372558",
            "32cdcea864718fcf5412c02ce3876290",
        ].joined())

    private enum Number: CaseIterable { case modulus, exponent, privateExponent, inverse, first, second }

    private static let numbers: [Number: [UInt8]] = [
        .modulus: RSANumbers.modulus, .exponent: [1, 0, 1], .privateExponent: RSANumbers.privateExponent,
        .inverse: RSANumbers.inverse, .first: RSANumbers.first, .second: RSANumbers.second,
    ]

    private func key(_ numbers: [Number: [UInt8]]) throws -> RSAPrivateKey? {
        let (modulus, exponent) = (numbers[.modulus] ?? [], numbers[.exponent] ?? [])
        let (own, inverse) = (numbers[.privateExponent] ?? [], numbers[.inverse] ?? [])
        let (first, second) = (numbers[.first] ?? [], numbers[.second] ?? [])
        return try unsafe RSAPrivateKey(
            modulus: modulus.span.bytes, exponent: exponent.span.bytes, privateExponent: own.span.bytes,
            inverse: inverse.span.bytes, first: first.span.bytes, second: second.span.bytes)
    }

    private func isKey(_ numbers: [Number: [UInt8]]) throws -> Bool {
        switch try key(numbers) {
        case .some: return true
        case .none: return false
        }
    }

    @Test func `RSA signs as others do`() throws {
        guard let key = try key(SSHSigningTests.numbers) else {
            Issue.record("this is a key")
            return
        }
        let data = Array("data".utf8)
        let short = try unsafe key.sign(data.span.bytes, .sha256)
        let long = try unsafe key.sign(data.span.bytes, .sha512)
        #expect(short == SSHSigningTests.ofSHA256 && long == SSHSigningTests.ofSHA512)
    }

    @Test func `numbers that do not belong together are no key`() throws {
        #expect(try isKey(SSHSigningTests.numbers))
        for which in Number.allCases {
            var numbers = SSHSigningTests.numbers
            // Even numbers, too; and one that is smaller or larger than all.
            for change in [
                { $0[$0.count - 1] ^= 2 }, { $0[0] ^= 0x80 }, { $0[$0.count - 1] ^= 1 }, { $0 = [0] }, { $0 = [1] },
            ]
                as [(inout [UInt8]) -> Void]
            {
                var number = SSHSigningTests.numbers[which] ?? []
                change(&number)
                numbers[which] = number
                #expect(try !isKey(numbers), "\(which)")
            }
        }
        var swapped = SSHSigningTests.numbers
        (swapped[.first], swapped[.second]) = (RSANumbers.second, RSANumbers.first)
        #expect(try !isKey(swapped))
        // The modulus as a prime of its own.
        (swapped[.first], swapped[.second]) = (RSANumbers.modulus, [1])
        #expect(try !isKey(swapped))
        (swapped[.first], swapped[.second]) = ([1], RSANumbers.modulus)
        #expect(try !isKey(swapped))
    }

    @Test(arguments: [(ECDSAPrivateKey.Curve.p384, 48), (.p521, 66)])
    func `a scalar of a larger curve has one point, and signs`(_ curve: ECDSAPrivateKey.Curve, _ size: Int) throws {
        let one = [UInt8](repeating: 0, count: size - 1) + [1]
        let generator: [UInt8]
        switch curve {
        case .p384:
            generator = hexBytes(
                "04aa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a385502f25dbf55296c3a545e3872760ab7"
                    + "3617de4a96262c6f5d9e98bf9292dc29f8f41dbd289a147ce9da3113b5f0b8c00a60b1ce1d7e819d7a431d7c90ea0e5f"
            )
        case .p521:
            generator = hexBytes(
                "0400c6858e06b70404e9cd9e3ecb662395b4429c648139053fb521f828af606b4d3dbaa14b5e77efe75928fe1dc127a2ff"
                    + "a8de3348b3c1856a429bf97e7e31c2e5bd66011839296a789a3bc0045c8a5fb42c7d1bd998f54449579b446817afbd17"
                    + "273e662c97ee72995ef42640c550b9013fad0761353c7086a272c24088be94769fd16650")
        }
        let key = try ECDSAPrivateKey(curve, scalar: secret(one))
        let point = key.publicPoint
        #expect(point == generator)
        let data = Array("data".utf8)
        let first = try unsafe key.sign(data.span.bytes)
        let second = try unsafe key.sign(data.span.bytes)
        #expect(first.count == 2 * size && second.count == 2 * size && first != second)
        for wrong in [[UInt8](repeating: 0, count: size), [UInt8](repeating: 255, count: size)] {
            #expect(throws: CryptographyError.scalarOutOfRange) {
                _ = try ECDSAPrivateKey(curve, scalar: secret(wrong))
            }
        }
        for count in [size - 1, size + 1] {
            #expect(throws: CryptographyError.invalidSize) {
                _ = try ECDSAPrivateKey(curve, scalar: secret([UInt8](repeating: 1, count: count)))
            }
        }
    }

    private func secret(_ bytes: [UInt8]) throws -> SecretBytes { try unsafe SecretBytes(copying: bytes.span.bytes) }
}
