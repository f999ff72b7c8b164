import Cryptography
import Foundation
import KeyStores
import RealParts
import TestSupport
import Testing
import VaultCore
import VaultHeader
import VaultFormat
import VaultStorage

/// What whoever writes the folder can do to a vault under a chip.
@Suite(.enabled(if: SoftwareTPM.isInstalled, "swtpm is not installed: self-destruct under a chip is not tested"))
struct DestructionChipTests {
    private let home: HardwareHome

    init() throws { home = try HardwareHome() }

    private func vault() throws -> Vault {
        let location = TPMLocation(home.chip.location)
        var settings = VaultSettings.costsForTests()
        settings.tier = TPMAttemptTier(at: location)
        settings.anchor = TPMGenerationAnchor(at: location)
        settings.shareStores = { _ in ShareStores([TPMShares(at: location)], floors: [TPMFloors(at: location)]) }
        settings.inBackground = { $0() }
        return try Vault(at: home.folder, settings: settings)
    }

    private func edit(_ change: (inout VaultPolicy) -> Void) throws {
        let place = URL(fileURLWithPath: home.folder + "/header")
        var header = try Header(parsing: Array(try Data(contentsOf: place).prefix(Header.copySize))) {
            BLAKE3.hash($0).bytes
        }
        change(&header.policy)
        let copy = try header.encoded { BLAKE3.hash($0).bytes }
        let file = try FileHandle(forUpdating: place)
        try file.write(contentsOf: Data(copy + copy))
        try file.close()
    }

    private func guess(_ count: Int) -> [VaultError.Code?] {
        (0..<count).map { number in
            do {
                let vault = try self.vault()
                try vault.unlock(passcode: secret("wrong \(number)"), spending: vault.burnAttempt())
                return nil
            } catch { return (error as? VaultError)?.code }
        }
    }

    @Test func `an edited header neither destroys the vault nor takes anything from the chip`() throws {
        try home.enroll()
        try home.enrollPIN()
        let before = (header: try Data(contentsOf: URL(fileURLWithPath: home.folder + "/header")), try home.indices())
        try edit { ($0.attemptLimit, $0.selfDestruct, $0.delays) = (3, true, [0]) }
        #expect(guess(4) == [.wrongPasscode, .wrongPasscode, .attemptsExhausted, .attemptsExhausted])
        #expect(try home.indices() == before.1)
        try before.header.write(to: URL(fileURLWithPath: home.folder + "/header"))
        let phrase = try RecoveryPhrase(parsing: secret(home.phrase))
        try vault().unlock(phrase: phrase)
        #expect(try home.unlock(pin: "2580") == nil)
        try home.unlock()
    }

    @Test func `a wipe that began where nothing could be asked takes nothing from the chip`() throws {
        try home.enrollPIN()
        let before = try home.indices()
        try edit { ($0.attemptLimit, $0.selfDestruct, $0.delays) = (3, true, [0]) }
        // A session without the chip and the keyring: the header alone decides.
        var last: VaultError.Code?
        for number in 0..<3 {
            let blind = try Vault(at: home.folder, settings: .costsForTests())
            do { try blind.unlock(passcode: secret("wrong \(number)"), spending: blind.burnAttempt()) } catch {
                last = (error as? VaultError)?.code
            }
        }
        #expect(last == .wiped)
        #expect(throws: VaultError.self) { try vault() }
        #expect(try home.indices() == before)
    }

    @Test func `what the chip remembers destroys the vault at its limit, and goes with it`() throws {
        try home.enroll()
        let own = try vault()
        try own.changeSelfDestruct(to: true, passcode: secret("right"), spending: own.burnAttempt()) {}
        try own.changePolicy(passcode: secret("right"), spending: own.burnAttempt()) {
            ($0.attemptLimit, $0.delays) = (3, [0])
        }
        #expect(try home.indices() == home.wantedIndices() + 1)
        #expect(guess(3) == [.wrongPasscode, .wrongPasscode, .wiped])
        #expect(try home.indices() == 0)
    }

    @Test func `switched off, nothing of it is left in the chip`() throws {
        let own = try vault()
        for isOn in [true, false] {
            try own.changeSelfDestruct(to: isOn, passcode: secret("right"), spending: own.burnAttempt()) {}
            #expect(try home.indices() == (isOn ? 1 : 0))
        }
    }
}
