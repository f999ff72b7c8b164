import Cryptography
import SecretMemory
import TestSupport
import Testing

/// Keys of the kinds that only SSH programs have.
@Suite struct SSHSigningTests {
    /// A key that ssh-keygen made for a public report; the signatures are Python's.
    private static let modulus = hexBytes(
        [
            "c09076205343b803719e48f0fea09a589d251839f947aeba1e007ded6d9a311a4cf9cadaa3a391699b5d04dbeffbd1ae",
            "08ecc109676f789c9f5b77fae78cbd454720cfa6f4d24902e633add4f01a7ab2a97e093eaf0b8052474f3c1aabe6a449",
            "94bbf7703df807024960b3fbbb1a9879c2dc8f83709943b028083c6001f3f38d1cbdc7040cdeb8f4d8859fc4aeaf6352",
            "628a9314003f6e0de9adcfdb7d4ce0f81ade31c717c10004cffef657782e8167cf72713068acf540db6e5d218a6a92fe",
            "86462fc40d4b0d37126db5bd7427df8642897e69360b253f9cb0941a2a35114bb1e9d350827b99e5c95db0dec0e709e2",
            "6fb8d110a522dd4fac3c71fefedb637b",
        ].joined())
    private static let privateExponent = hexBytes(
        [
            "0cdb72047bb78dff94dde47e179f0b8f30507bf16b001e11160755fabcf8e406055552c2a7a2053ae94e1c10bf517c6a",
            "c3c16312fbde6f4dc77082a1b4abc461d461c30ed4857ead491459118dac20898b53fb9a7072cc5798714bb7102e08c5",
            "b9bec8c2df96c222a52665fe0d091c298d1902f00f28c962677376ec8621a8523d730d62b084183eefa34267d42ae838",
            "08274c01f3ef036a70c9ba3aae66ddd728b0a63f50b601e618ffc167e8bc9c3ce40867e9117761446c751a19c1014b5c",
            "b77d95723ed2559bf2f9ea27f4152e68fb920887a83bd786deb2dc91ba1ad88d4621464c5fa8cc432878cd02ab57e97d",
            "dd5f88adbb0f63eb979eea3c925b7461",
        ].joined())
    private static let inverse = hexBytes(
        [
            "2928ed163199a7ab6b9162f012847c1dda984b9bc4e5256fc10b730dd364631021c3717107f9788669f951afdb2a252c",
            "5fe944153f87d811974ed49647dce3cdacf1c40b10906314652e425b4da1f6b8297397d61ef441c9e064367ea46c05ec",
            "1fdc4fe3e81a7ecc92edda6a423c2014029640277e407ea0470a2b02ca154513",
        ].joined())
    private static let first = hexBytes(
        [
            "e31c720a133c48f21c06c6935ae6e9839d2562ca7980eb86dc71c1fa11f8fdcac1e63e2807bf316fa404b2d1509b914a",
            "fd329ddc827bb67e235af5ce645ea0cdca7963ab1cce5c5aa82354d963e0198d9cbf78bacaf72cf33cd7f63ff4881ea6",
            "1630a76583be7cb7113673b2bb36091b26373035a50631cdcd7766cff152ab51",
        ].joined())
    private static let second = hexBytes(
        [
            "d90f0c2a92f030e82bb908964e589527e5a5887bfbb7dde830da7b1e30e2ba3022e927662a14adfd745de8233d75831a",
            "502db15533073557618da7b8e750f87318d3965db3571e3903f9c9b3b0c86dd1f7579b5106782d5ac3c936e8febb083d",
            "4aa6edb0d253103280a5c105f3677f40bc9e3bcae7619c9a03211702165dd70b",
        ].joined())
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
        .modulus: modulus, .exponent: [1, 0, 1], .privateExponent: privateExponent, .inverse: inverse, .first: first,
        .second: second,
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
        (swapped[.first], swapped[.second]) = (SSHSigningTests.second, SSHSigningTests.first)
        #expect(try !isKey(swapped))
        // The modulus as a prime of its own.
        (swapped[.first], swapped[.second]) = (SSHSigningTests.modulus, [1])
        #expect(try !isKey(swapped))
        (swapped[.first], swapped[.second]) = ([1], SSHSigningTests.modulus)
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
