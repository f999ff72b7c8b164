import Foundation
import KeyStores
import RealParts
import SecretMemory
import Testing

/// A program that skips our code and talks to the chip itself (tpm2-tools), as root and owner of the chip: it never
/// gets more tries than the limit, and never the share.
@Suite(.enabled(if: SoftwareTPM.isInstalled, "swtpm is not installed: attacks on the TPM are not tried"))
struct AttackTests {
    let chip: SoftwareTPM
    let tier: TPMAttemptTier

    init() throws {
        chip = try SoftwareTPM()
        tier = TPMAttemptTier(at: TPMLocation(chip.location))
    }

    /// Where the index of a share is: four bytes behind the version.
    private func handle(_ object: HardwareObject) -> String {
        "0x" + String(object.data[1..<5].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }, radix: 16)
    }

    /// One guess at the index, without our code.
    private func guess(_ object: HardwareObject, _ byte: UInt8) throws -> Bool {
        let session = chip.folder + "/session"
        try #require(try chip.tool("tpm2_startauthsession", "-S", session, "--policy-session").status == 0)
        let digits = String(repeating: String(format: "%02x", byte), count: 32)
        let status = try chip.tool("tpm2_policysecret", "-S", session, "-c", handle(object), "hex:\(digits)").status
        try chip.tool("tpm2_flushcontext", session)
        return status == 0
    }

    private func file(_ bytes: [UInt8], _ name: String) throws -> String {
        let path = "\(chip.folder)/\(name)"
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        return path
    }

    @Test func guessesOfAnotherProgramAreCountedAndTheLimitHolds() throws {
        let (share, object) = try tier.make(1, limit: 4)
        #expect(try guess(object, 1), "the right one is known to the attacker's program too")
        for byte: UInt8 in [9, 8] { #expect(try !guess(object, byte)) }
        #expect(try tier.ask(object, 7) == .wrong(1), "they were counted by the chip")
        try chip.cutPower()
        #expect(try !guess(object, 6))
        for _ in 0..<3 { #expect(try !guess(object, 1), "at the limit the right one is worth nothing") }
        #expect(try tier.ask(object, 1) == .destroyed)
        #expect(!share.isEmpty)
    }

    @Test func neitherLockoutNorHierarchySetTheCountBack() throws {
        let (_, object) = try tier.make(1, limit: 3)
        #expect(try !guess(object, 9))
        #expect(try chip.tool("tpm2_dictionarylockout", "--clear-lockout").status == 0)
        #expect(try chip.tool("tpm2_dictionarylockout", "--setup-parameters", "--max-tries=4294967295").status == 0)
        try chip.tool("tpm2_shutdown", "--clear")
        try chip.cutPower()
        #expect(try !guess(object, 9))
        #expect(try tier.ask(object, 9) == .wrong(0))
        #expect(try tier.ask(object, 1) == .destroyed)
    }

    @Test func nobodyWritesTheIndexAndARedefinedOneIsAnother() throws {
        let (_, object) = try tier.make(1, limit: 3)
        let index = handle(object)
        let fresh = try file([0, 0, 0, 0, 0, 0, 0, 99], "fresh")
        #expect(try !guess(object, 9))
        #expect(try chip.tool("tpm2_nvwrite", "-C", "o", "-i", fresh, index).status != 0)
        let right = "hex:" + String(repeating: "01", count: 32)
        #expect(try chip.tool("tpm2_nvwrite", "-C", index, "-P", right, "-i", fresh, index).status != 0)
        #expect(try tier.ask(object, 9) == .wrong(1), "the count is where it was")

        // As owner: away with it, and one of the same rights under the same number, with an authorisation of one's own.
        let policy = try file([UInt8](repeating: 7, count: 32), "policy")
        let evil = "hex:" + String(repeating: "02", count: 32)
        for more in ["", "|ownerwrite"] {
            #expect(try chip.tool("tpm2_nvundefine", "-C", "o", index).status == 0)
            let defined = try chip.tool(
                "tpm2_nvdefine", "-C", "o", "-s", "8", "-a", "nt=0x8|policywrite|policyread|no_da" + more, "-L", policy,
                "-p",
                evil, index)
            #expect(defined.status == 0, "\(defined.output)")
            if !more.isEmpty { #expect(try chip.tool("tpm2_nvwrite", "-C", "o", "-i", fresh, index).status == 0) }
            #expect(try tier.ask(object, 2) == .destroyed)
            #expect(try tier.ask(object, 1) == .destroyed)
        }
    }

    @Test func partsOfTwoSharesMakeNoThird() throws {
        let (share, object) = try tier.make(1, limit: 3)
        for _ in 0..<3 { _ = try tier.ask(object, 9) }
        #expect(try tier.ask(object, 1) == .destroyed)
        let (_, other) = try tier.make(4, limit: 3)
        let mixed = HardwareObject(name: other.name, data: object.data)
        #expect(try tier.ask(mixed, 1) == .damaged)
        let swapped = HardwareObject(name: object.name, data: other.data)
        #expect(try tier.ask(swapped, 4) == .damaged)
        #expect(!share.isEmpty)
    }
}
