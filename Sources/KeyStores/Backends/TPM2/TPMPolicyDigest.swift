internal import Cryptography
internal import VaultFormat

/// The digest of a policy, computed here and not by a trial session, so that the chip is not asked what to believe
/// (TPM 2.0 Library, part 3, section 23).
struct TPMPolicyDigest {
    private(set) var bytes = [UInt8](repeating: 0, count: 32)

    init() {}

    /// A digest that was computed before.
    init(known bytes: [UInt8]) { self.bytes = bytes }

    /// One that no session can come to, because no step of a policy hashes this: it shows whose an index is.
    init(nobodys purpose: StaticString, _ owner: HardwareOwner) {
        bytes = TPMPolicyDigest.hash([Array("\(purpose)".utf8), owner.vault.bytes, owner.home])
    }

    /// The same, for a share.
    init(nobodys purpose: StaticString, _ name: ShareName) {
        bytes = TPMPolicyDigest.hash([Array("\(purpose)".utf8), name.bytes])
    }

    private static let policyOR: UInt32 = 0x171
    private static let policyCommandCode: UInt32 = 0x16c
    private static let policySigned: UInt32 = 0x160
    private static let policySecret: UInt32 = 0x151
    static let nvWrite: UInt32 = 0x137
    static let nvRead: UInt32 = 0x14e

    private mutating func extend(_ parts: [UInt8]...) { bytes = TPMPolicyDigest.hash([bytes] + parts) }

    static func hash(_ parts: [[UInt8]]) -> [UInt8] {
        let all = Array(parts.joined())
        return unsafe SHA256.hash(all.span.bytes).bytes
    }

    static func bigEndian(_ value: UInt32) -> [UInt8] {
        [UInt8(value >> 24), UInt8(value >> 16 & 0xff), UInt8(value >> 8 & 0xff), UInt8(value & 0xff)]
    }

    /// Signed by the key of this name; without a reference.
    mutating func signed(by name: [UInt8]) {
        extend(TPMPolicyDigest.bigEndian(TPMPolicyDigest.policySigned), name)
        bytes = TPMPolicyDigest.hash([bytes])
    }

    /// The authorisation of the object of this name; without a reference.
    mutating func secret(of name: [UInt8]) {
        extend(TPMPolicyDigest.bigEndian(TPMPolicyDigest.policySecret), name)
        bytes = TPMPolicyDigest.hash([bytes])
    }

    /// Only this command.
    mutating func command(_ code: UInt32) {
        extend(TPMPolicyDigest.bigEndian(TPMPolicyDigest.policyCommandCode), TPMPolicyDigest.bigEndian(code))
    }

    /// Any of these; what was asked before no longer shows.
    mutating func any(of branches: [TPMPolicyDigest]) {
        bytes = TPMPolicyDigest.hash(
            [[UInt8](repeating: 0, count: 32), TPMPolicyDigest.bigEndian(TPMPolicyDigest.policyOR)]
                + branches.map(\.bytes))
    }
}
