import Cryptography
import Foundation
import KeyStores
import RealParts
import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultFormat
import VaultStorage

/// A header that somebody who writes to the disk has changed. Its checksum is right again, because it has no key;
/// nothing in it is authenticated before the passcode's slot is open. Nothing that comes from the passcode is sent to a
/// chip for it.
@Suite(.enabled(if: SoftwareTPM.isInstalled, "swtpm is not installed: crafted headers are not tried on a chip"))
struct CraftedHeaderTests {
    /// TPM2_PolicySecret: where the authorisation that comes from the passcode is used.
    private static let policySecret: UInt32 = 0x151

    private let proxy: TPMProxy
    private let home: HardwareHome
    private let original: [UInt8]

    init() throws {
        home = try HardwareHome()
        proxy = try TPMProxy(home.chip)
        try home.enroll()
        original = Array(try Data(contentsOf: URL(fileURLWithPath: home.folder + "/header")))
    }

    /// Changes what a slot keeps, in both copies.
    private func craft(
        _ kind: SlotKind = .passcode, in original: [UInt8]? = nil, _ change: (inout Slot) -> Void
    ) throws {
        let original = original ?? self.original
        var header = try Header(parsing: Array(original[..<Header.copySize])) { BLAKE3.hash($0).bytes }
        let index = try #require(header.slots.firstIndex { $0.kind == kind })
        change(&header.slots[index])
        let copy = try header.encoded { BLAKE3.hash($0).bytes }
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: home.folder + "/header"))
        try file.write(contentsOf: Data(copy + copy))
        try file.close()
    }

    /// What the right passcode comes to, and whether anything of it went to the chip.
    private func unlock() throws -> (code: VaultError.Code?, sent: Bool) {
        proxy.arm(at: nil) {}
        let vault = try home.vault(proxy.location)
        let passcode = try secret("right")
        var code: VaultError.Code?
        do { try vault.unlock(passcode: passcode, spending: vault.burnAttempt()) } catch { code = error.code }
        #expect(try vault.status().remainingAttempts == 5, "what could not be checked was counted")
        return (code, proxy.codes.contains(CraftedHeaderTests.policySecret))
    }

    /// The counted parts behind version and number: parent, writing policy, home, private and public half of the sealed
    /// object.
    private static func part(_ number: Int, of data: [UInt8]) -> Range<Int> {
        var place = 5
        for _ in 0..<number { place += 2 + Int(data[place]) + Int(data[place + 1]) << 8 }
        return place + 2..<place + 2 + Int(data[place]) + Int(data[place + 1]) << 8
    }

    @Test func theGenuineHeaderAsksTheChip() throws {
        let (code, sent) = try unlock()
        #expect(code == nil)
        #expect(sent)
    }

    /// Parent, writing policy, the home, private half, public half, the index's number and its name: one bit of each.
    @Test func noPartCanBeChanged() throws {
        for part in 0..<5 {
            for place in [\Range<Int>.lowerBound, \.upperBound] {
                try craft { slot in
                    let range = CraftedHeaderTests.part(part, of: slot.kindData)
                    slot.kindData[min(range[keyPath: place], range.upperBound - 1)] ^= 1
                }
                let (code, sent) = try unlock()
                #expect(code == .damaged, "part \(part)")
                #expect(!sent, "part \(part)")
            }
        }
        try craft { $0.kindData[1] ^= 1 }
        #expect(try unlock() == (.damaged, false))
        try craft { $0.hardwareName[10] ^= 1 }
        #expect(try unlock() == (.damaged, false))
    }

    /// The same of a PIN's slot: behind its version and a length, its data are those of the passcode's.
    @Test func noPartOfThePINsSlotCanBeChanged() throws {
        try home.enrollPIN()
        let original = Array(try Data(contentsOf: URL(fileURLWithPath: home.folder + "/header")))
        func unlock() throws -> (code: VaultError.Code?, sent: Bool) {
            proxy.arm(at: nil) {}
            let code = try home.unlock(pin: "2580", at: proxy.location)
            #expect(try home.vault().status().remainingAttempts == 5, "what could not be checked was counted")
            return (code, proxy.codes.contains(CraftedHeaderTests.policySecret))
        }
        #expect(try unlock() == (nil, true))
        for part in 0..<5 {
            for place in [\Range<Int>.lowerBound, \.upperBound] {
                try craft(.pin, in: original) { slot in
                    let range = CraftedHeaderTests.part(part, of: Array(slot.kindData.dropFirst(3)))
                    slot.kindData[3 + min(range[keyPath: place], range.upperBound - 1)] ^= 1
                }
                #expect(try unlock() == (.damaged, false), "part \(part)")
            }
        }
        for byte in 0..<3 {
            try craft(.pin, in: original) { $0.kindData[byte] ^= 1 }
            #expect(try unlock() == (.damaged, false), "byte \(byte)")
        }
        try craft(.pin, in: original) { $0.hardwareName[10] ^= 1 }
        #expect(try unlock() == (.damaged, false))
        // What is kept for a change of the rules is no part of the share; it is authenticated with the slot.
        try craft(.pin, in: original) { $0.kindData[$0.kindData.count - 1] ^= 1 }
        #expect(try unlock() == (.damaged, true))
    }

    /// The parent of another chip, which holds what it takes to answer, is not asked by this vault's owner on this
    /// machine; on the machine of that chip the owner is told that it is another one.
    @Test func anotherChipsShareIsNotAsked() throws {
        let other = try SoftwareTPM()
        let owner = HardwareOwner(vault: try home.vault().id, home: [UInt8](repeating: 1, count: 32))
        let (_, object) = try TPMAttemptTier(at: TPMLocation(other.location)).make(9, limit: 5, for: owner)
        try craft { slot in
            slot.hardwareName = object.name
            slot.kindData = object.data
        }
        #expect(try unlock() == (.hardwareUnavailable, false))
    }
}
