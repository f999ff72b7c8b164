import Cryptography
import SecretMemory
import TestSupport
import Testing

/// A raw output of the Argon2 reference implementation's own test file (version 1.3, "argon2id").
struct Argon2Vector: Sendable, CustomTestStringConvertible {
    var passes: Int
    var memoryKiB: Int
    var lanes: Int
    var password: String
    var salt: String
    var output: String
    var testDescription: String { "t=\(passes) m=\(memoryKiB) p=\(lanes) \(password)/\(salt)" }

    static let reference = [
        Argon2Vector(
            passes: 2, memoryKiB: 256, lanes: 1, password: "password", salt: "somesalt",
            output: "9dfeb910e80bad0311fee20f9c0e2b12c17987b4cac90c2ef54d5b3021c68bfe"),
        Argon2Vector(
            passes: 2, memoryKiB: 256, lanes: 2, password: "password", salt: "somesalt",
            output: "6d093c501fd5999645e0ea3bf620d7b8be7fd2db59c20d9fff9539da2bf57037"),
        Argon2Vector(
            passes: 2, memoryKiB: 65536, lanes: 1, password: "password", salt: "somesalt",
            output: "09316115d5cf24ed5a15a31a3ba326e5cf32edc24702987c02b6566f61913cf7"),
    ]
}

/// The same with arrays, which only a test may hold.
private func derive(
    _ passcode: [UInt8], salt: [UInt8], passes: Int, memoryKiB: Int, count: Int
) throws -> [UInt8] {
    let passcode = try secret(passcode)
    return try unsafe Argon2id.derive(
        passcode, salt: salt.span.bytes, passes: passes, memoryKiB: memoryKiB, count: count
    ).revealed()
}

private func deriveWithLongSalt(
    _ passcode: [UInt8] = [1], salt: [UInt8] = Array(0..<32), passes: Int = 1, memoryKiB: Int = 64, lanes: Int = 1,
    count: Int = 32, secret: [UInt8] = [], associatedData: [UInt8] = []
) throws -> [UInt8] {
    let passcode = try TestSupport.secret(passcode)
    return try unsafe Argon2id.deriveWithLongSalt(
        passcode, salt: salt.span.bytes, passes: passes, memoryKiB: memoryKiB, lanes: lanes, count: count,
        secret: secret.span.bytes, associatedData: associatedData.span.bytes
    ).revealed()
}

@Suite(.seeded) struct Argon2Tests {
    @Test("reference implementation's outputs", arguments: Argon2Vector.reference)
    func knownAnswers(_ vector: Argon2Vector) throws {
        let output = try deriveWithLongSalt(
            Array(vector.password.utf8), salt: Array(vector.salt.utf8), passes: vector.passes,
            memoryKiB: vector.memoryKiB, lanes: vector.lanes)
        #expect(output == hexBytes(vector.output))
    }

    @Test("RFC 9106, section 5.3")
    func rfc9106() throws {
        let output = try deriveWithLongSalt(
            [UInt8](repeating: 1, count: 32), salt: [UInt8](repeating: 2, count: 16), passes: 3, memoryKiB: 32,
            lanes: 4, secret: [UInt8](repeating: 3, count: 8), associatedData: [UInt8](repeating: 4, count: 12))
        #expect(output == hexBytes("0d640df58d78766c08c037a34a8b53c9d01ef0452d75b65eb52520e96b01e659"))
    }

    @Test(
        "two independent libraries agree where both can derive",
        arguments: [
            (1, 8, 16), (1, 64, 32), (2, 256, 32), (3, 100, 64), (4, 1024, 24), (7, 33, 100),
        ])
    func librariesAgree(_ passes: Int, _ memoryKiB: Int, _ count: Int) throws {
        var random = SeededGenerator()
        let passcode = random.bytes(Int.random(in: 0...40, using: &random))
        let salt = random.bytes(Argon2id.saltSize)
        let first = try derive(passcode, salt: salt, passes: passes, memoryKiB: memoryKiB, count: count)
        let second = try deriveWithLongSalt(passcode, salt: salt, passes: passes, memoryKiB: memoryKiB, count: count)
        #expect(first == second)
        #expect(first.count == count)
    }

    @Test("every input counts")
    func everyInputCounts() throws {
        let outputs = [
            try deriveWithLongSalt(), try deriveWithLongSalt([2]), try deriveWithLongSalt([1, 0]),
            try deriveWithLongSalt(salt: Array(1...32)), try deriveWithLongSalt(salt: Array(0..<31)),
            try deriveWithLongSalt(salt: Array(0..<64)), try deriveWithLongSalt(passes: 2),
            try deriveWithLongSalt(memoryKiB: 72), try deriveWithLongSalt(lanes: 2),
            try deriveWithLongSalt(secret: [1]), try deriveWithLongSalt(associatedData: [1]),
        ]
        #expect(Set(outputs).count == outputs.count)
    }

    @Test func impossibleParametersAreRefused() throws {
        let salt = [UInt8](repeating: 0, count: 65)
        let short: [(salt: Int, passes: Int, memoryKiB: Int, count: Int)] = [
            (15, 1, 64, 32), (17, 1, 64, 32), (0, 1, 64, 32), (16, 0, 64, 32), (16, -1, 64, 32), (16, 1, 7, 32),
            (16, 1, -8, 32), (16, 1, Int.max, 32), (16, 1 << 33, 64, 32), (16, 1, 64, 15), (16, 1, 64, -1),
        ]
        for refused in short {
            #expect(throws: CryptographyError.invalidSize, "\(refused)") {
                try derive(
                    [1], salt: Array(salt.prefix(refused.salt)), passes: refused.passes,
                    memoryKiB: refused.memoryKiB, count: refused.count)
            }
        }
        let long: [(salt: Int, passes: Int, memoryKiB: Int, lanes: Int, count: Int)] = [
            (7, 1, 64, 1, 32), (65, 1, 64, 1, 32), (32, 0, 64, 1, 32), (32, 1 << 32, 64, 1, 32), (32, 1, 7, 1, 32),
            (32, 1, 15, 2, 32), (32, 1, (4 << 20) + 1, 1, 32), (32, 1, 64, 0, 32), (32, 1, 1 << 20, 256, 32),
            (32, 1, 64, -1, 32), (32, 1, 64, 1, 3), (32, 1, 64, 1, -1), (32, 1, 64, 1, Int.max),
        ]
        for refused in long {
            #expect(throws: CryptographyError.invalidSize, "\(refused)") {
                try deriveWithLongSalt(
                    salt: Array(salt.prefix(refused.salt)), passes: refused.passes, memoryKiB: refused.memoryKiB,
                    lanes: refused.lanes, count: refused.count)
            }
        }
    }
}
