import Cryptography
import KeyStores
import SecretMemory
import TestSupport
import Testing
import VaultFormat

@testable import VaultCore
@testable import VaultHeader
@testable import VaultStorage

/// What was typed must leave nothing on the disk that it could be searched by, whatever somebody made of the header
/// before: the header says which tier a vault is in, and nobody knows yet that it is genuine.
@Suite struct TriedSecretTests {
    private let home: TestHome
    private let chip = CountingChip()
    private let settings: VaultSettings

    init() throws {
        home = try TestHome()
        var settings = home.settings
        settings.tier = chip
        self.settings = settings
    }

    enum Edit: String, CaseIterable, Sendable {
        case none
        case flagCleared
        case slotWithoutItsShare
        case pinSlotCutOut
        case headerOfBefore
    }

    private func header() throws -> Header {
        try Header(parsing: Array(home.bytes("header")[..<Header.copySize])) { BLAKE3.hash($0).bytes }
    }

    private func write(_ header: Header) throws {
        let copy = try header.encoded { BLAKE3.hash($0).bytes }
        try home.write(copy + copy, to: "header")
    }

    /// Everything that is computed from a secret and one slot and that a search without the chip could compare with.
    private func traces(of text: String, _ slot: Slot) throws -> [[UInt8]] {
        let factor = try SlotKey.stretch(secret(text), for: slot)
        return try [
            factor.withBytes { $0.array },
            SlotKey.repeatTag(factor: factor, slot: slot).withBytes { $0.array },
            SlotKey.authorisation(factor: factor, slot: slot).withBytes { $0.array },
        ]
    }

    private func isOnDisk(_ bytes: [UInt8]) throws -> String? {
        try home.names().filter { $0 != "files" }.first { name in
            let content = try home.bytes(name)
            guard content.count >= bytes.count else { return false }
            return (0...content.count - bytes.count).contains { start in
                content[start] == bytes[0] && Array(content[start..<start + bytes.count]) == bytes
            }
        }
    }

    /// The right passcode, which the edited header refuses, and the PIN typed in the passcode's place.
    @Test(arguments: Edit.allCases)
    func nothingThatWasTypedIsOnTheDisk(_ edit: Edit) throws {
        _ = try Vault.create(at: home.path, passcode: secret("right"), settings: settings)
        let before = try home.bytes("header")
        let vault = try Vault(at: home.path, settings: settings)
        try vault.enrollHardware(passcode: secret("right"), spending: vault.burnAttempt(), insisting: true)
        try vault.enrollPIN(secret("2580"), passcode: secret("right"), spending: vault.burnAttempt())
        let genuine = try header()
        var edited = genuine
        let passcode = try #require(edited.slots.firstIndex { $0.kind == .passcode })
        switch edit {
        case .none: break
        case .flagCleared, .slotWithoutItsShare:
            edited.slots[passcode].flags.remove(.hardwareShare)
            edited.slots[passcode].hardwareName = []
            if edit == .slotWithoutItsShare { edited.slots[passcode].kindData = [] }
        case .pinSlotCutOut: edited.slots.removeAll { $0.kind == .pin }
        case .headerOfBefore: break
        }
        try edit == .headerOfBefore ? home.write(before, to: "header") : write(edited)

        let attacked = try Vault(at: home.path, settings: settings)
        for typed in ["2580", "right", "2580"] { try? attacked.unlock(typed) }
        for slot in try genuine.slots.filter({ $0.kind.isCounted }) + header().slots.filter({ $0.kind.isCounted }) {
            for text in ["right", "2580"] {
                for trace in try traces(of: text, slot) {
                    if let name = try isOnDisk(trace) { Issue.record("\(text) can be searched by what is in \(name)") }
                }
            }
        }
        // Both sectors of the ledger are zeros behind their fields: there is no place for anything else.
        let ledger = try home.bytes("ledger")
        for sector in 0..<2 {
            let start = sector * LedgerSector.size
            #expect(ledger[start + 76..<start + LedgerSector.size - 32].allSatisfy { $0 == 0 })
        }
    }

    /// A slot that was put in another one's place refuses the right passcode: that is no knowledge about the genuine
    /// one.
    @Test func whatAnEditedHeaderRefusedIsNotKnownWrongToTheGenuineOne() throws {
        _ = try Vault.create(at: home.path, passcode: secret("right"), settings: home.settings)
        let genuine = try header()
        let vault = try home.open()
        var edited = genuine
        let passcode = try #require(edited.slots.firstIndex { $0.kind == .passcode })
        edited.slots[passcode].commitment[0] ^= 1
        try write(edited)
        #expect(errorCode { try vault.unlock("right") } == .wrongPasscode)
        try write(genuine)
        try vault.unlock("right")
    }
}
