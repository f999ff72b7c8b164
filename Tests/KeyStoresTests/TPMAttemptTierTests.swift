import Foundation
import KeyStores
import RealParts
import SecretMemory
import TestSupport
import Testing
import VaultFormat

/// Whose the shares of these tests are.
let testOwner = HardwareOwner(
    vault: VaultID(bytes: [UInt8](repeating: 0x11, count: 16))!, home: [UInt8](repeating: 0x22, count: 32))

/// What a redemption came to, comparable.
enum Answer: Equatable, CustomStringConvertible {
    case share([UInt8])
    case wrong(Int?)
    case destroyed
    case foreign
    case damaged

    init(_ redemption: consuming Redemption) {
        switch consume redemption {
        case .share(let share): self = .share(share.revealed())
        case .wrongSecret(let remaining): self = .wrong(remaining)
        case .destroyed: self = .destroyed
        case .foreign: self = .foreign
        }
    }

    var description: String {
        switch self {
        case .share: "share"
        case .wrong(let left): "wrong(\(left.map(String.init) ?? "-"))"
        case .destroyed: "destroyed"
        case .foreign: "foreign"
        case .damaged: "damaged"
        }
    }
}

extension TPMAttemptTier {
    func ask(_ object: HardwareObject, _ authorisation: UInt8) throws -> Answer {
        let authorisation = try secret([UInt8](repeating: authorisation, count: 32))
        do throws(KeyStoreError) {
            return Answer(try redeem(object, of: testOwner.vault, authorisation: authorisation))
        } catch {
            guard error.code == .damaged else { throw error }
            return .damaged
        }
    }

    func make(
        _ authorisation: UInt8, limit: Int, for owner: HardwareOwner = testOwner
    ) throws -> (share: [UInt8], object: HardwareObject) {
        let authorisation = try secret([UInt8](repeating: authorisation, count: 32))
        let made = try makeShare(authorisation: authorisation, limit: limit, for: owner)
        return (made.share.revealed(), made.object)
    }
}

@Suite(.enabled(if: SoftwareTPM.isInstalled, "swtpm is not installed: nothing of the TPM backend is tested"))
struct TPMAttemptTierTests {
    let chip: SoftwareTPM
    let tier: TPMAttemptTier

    init() throws {
        chip = try SoftwareTPM()
        tier = TPMAttemptTier(at: TPMLocation(chip.location))
    }

    @Test func theRightAuthorisationGetsTheShareAndAWrongOneIsCounted() throws {
        let (share, object) = try tier.make(1, limit: 5)
        #expect(share.count == 32)
        #expect(object.name.count == 34)
        #expect(object.data.count <= 1024)
        #expect(try tier.ask(object, 1) == .share(share))
        let first = try tier.ask(object, 2)
        #expect(first == .wrong(4))
        #expect(try tier.ask(object, 3) == .wrong(3))
        #expect(try tier.ask(object, 1) == .share(share))
        #expect(try tier.ask(object, 2) == .wrong(4), "a right one sets the count to zero")
    }

    @Test func theLimitIsFinalWhateverIsDone() throws {
        let (share, object) = try tier.make(1, limit: 3)
        #expect(try tier.ask(object, 1) == .share(share))
        for left in [2, 1, 0] {
            #expect(try tier.remaining(object, of: testOwner.vault) == left + 1)
            #expect(try tier.ask(object, 9) == .wrong(left))
            for _ in 0..<2 { #expect(try tier.remaining(object, of: testOwner.vault) == left, "looking is no try") }
        }
        #expect(try tier.ask(object, 1) == .destroyed)
        try chip.tool("tpm2_dictionarylockout", "--clear-lockout")
        #expect(try tier.ask(object, 1) == .destroyed)
        try chip.cutPower()
        #expect(try tier.ask(object, 1) == .destroyed)
    }

    @Test func aPowerCutGivesNoTryBack() throws {
        let (share, object) = try tier.make(1, limit: 4)
        #expect(try tier.ask(object, 9) == .wrong(3))
        try chip.cutPower()
        #expect(try tier.ask(object, 9) == .wrong(2))
        try chip.cutPower()
        #expect(try tier.ask(object, 1) == .share(share))
    }

    @Test func aDestroyedShareIsGoneAndDestroyingTwiceIsFine() throws {
        let (_, object) = try tier.make(1, limit: 5)
        #expect(try tier.destroy(object, of: testOwner) == .gone)
        #expect(try tier.ask(object, 1) == .destroyed)
        #expect(try tier.remaining(object, of: testOwner.vault) == 0)
        #expect(try tier.destroy(object, of: testOwner) == .gone)
    }

    @Test func anOwnersAuthorisationKeepsUsOutAndAShareIsEndedByUsingItUp() throws {
        let (_, object) = try tier.make(1, limit: 3)
        #expect(try chip.tool("tpm2_changeauth", "-c", "owner", "new").status == 0)
        let error = #expect(throws: KeyStoreError.self) { try tier.make(1, limit: 3) }
        #expect(error?.code == .ownedByAnother)
        #expect(try tier.destroy(object, of: testOwner) == .gone)
        #expect(try chip.tool("tpm2_changeauth", "-c", "owner", "-p", "new").status == 0)
        #expect(try tier.ask(object, 1) == .destroyed)
    }

    @Test func anotherChipIsForeign() throws {
        let (_, object) = try tier.make(1, limit: 5)
        let other = try SoftwareTPM()
        let elsewhere = TPMAttemptTier(at: TPMLocation(other.location))
        #expect(try elsewhere.ask(object, 1) == .foreign)
        #expect(
            try elsewhere.remaining(object, of: testOwner.vault) == 0
                && tier.remaining(object, of: testOwner.vault) == 5)
        #expect(try chip.tool("tpm2_clear").status == 0)
        #expect(try tier.ask(object, 1) == .foreign)
    }

    @Test func noChipIsUnavailable() throws {
        let tier = TPMAttemptTier(at: TPMLocation("swtpm:path=/nonexistent/tpm.sock"))
        let error = #expect(throws: KeyStoreError.self) { try tier.make(1, limit: 5) }
        #expect(error?.code == .unavailable)
    }
}
