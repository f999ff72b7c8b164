import Cryptography
import Foundation
import KeyStores
import RealParts
import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultHeader
import VaultFormat
import VaultStorage

/// A vault with the passcode `right`, a software TPM, and a process that puts the one under the other.
final class HardwareHome: Sendable {
    let chip: SoftwareTPM
    /// For what lies beside the vault, as its copies do.
    let root: String
    let folder: String
    let phrase: String

    static let products = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .path

    init() throws {
        chip = try SoftwareTPM()
        root = NSTemporaryDirectory() + "holdfast-hardware-\(UUID().uuidString.prefix(8))"
        folder = root + "/home"
        let passcode = try secret("right")
        let phrase = try Vault.create(at: folder, passcode: passcode, settings: .costsForTests())
        self.phrase = phrase.withText { text in
            unsafe text.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: root) }

    /// - Parameter location: Where the chip is reached; nil for the chip itself.
    func vault(_ location: String? = nil) throws -> Vault {
        var settings = VaultSettings.costsForTests()
        let location = TPMLocation(location ?? chip.location)
        settings.tier = TPMAttemptTier(at: location)
        settings.anchor = TPMGenerationAnchor(at: location)
        return try Vault(at: folder, settings: settings)
    }

    /// Begins a change in a process of its own, as KeyStoreSubject calls it.
    func begin(_ change: String, at location: String? = nil, _ environment: [String: String] = [:]) throws -> Spawned {
        try Spawned(
            [HardwareHome.products + "/KeyStoreSubject", change, folder, phrase],
            environment: environment.merging(["SUBJECT_TPM": location ?? chip.location]) { $1 })
    }

    func enroll() throws {
        let vault = try vault()
        let passcode = try secret("right")
        let phrase = try RecoveryPhrase(parsing: secret(phrase))
        try vault.enrollHardware(passcode: passcode, spending: vault.burnAttempt(), phrase: phrase)
    }

    func remove() throws {
        let vault = try vault()
        let passcode = try secret("right")
        try vault.removeHardware(passcode: passcode, spending: vault.burnAttempt())
    }

    /// Opens the vault with the passcode.
    @discardableResult
    func unlock() throws -> Vault {
        let vault = try vault()
        let passcode = try secret("right")
        try vault.unlock(passcode: passcode, spending: vault.burnAttempt())
        return vault
    }

    func enrollPIN() throws {
        let vault = try vault()
        let passcode = try secret("right")
        try vault.enrollPIN(secret("2580"), passcode: passcode, spending: vault.burnAttempt())
    }

    func removePIN() throws {
        let vault = try vault()
        try vault.removePIN(passcode: secret("right"), spending: vault.burnAttempt())
    }

    /// Opens the vault with a PIN, and tells the outcome.
    /// - Parameter location: Where the chip is reached; nil for the chip itself.
    func unlock(pin: String, at location: String? = nil) throws -> VaultError.Code? {
        let vault = try vault(location)
        let pin = try secret(pin)
        do throws(VaultError) { try vault.unlock(pin: pin, spending: vault.burnAttempt()) } catch { return error.code }
        #expect(vault.assurance == .hardwareLimited)
        return nil
    }

    /// Indices in the chip.
    func indices() throws -> Int {
        try chip.tool("tpm2_getcap", "handles-nv-index").output.split(separator: "\n").count
    }

    /// What the header wants to be there: an index for the passcode's share and one for the generation, one for the
    /// PIN's.
    func wantedIndices() throws -> Int {
        let status = try vault().status()
        return (status.hasHardwareShare ? 2 : 0) + (status.hasPIN ? 1 : 0)
    }

    /// Brings about what a change begins from.
    func prepare(_ change: String) throws {
        let status = try vault().status()
        let isUnder = status.hasHardwareShare
        switch change {
        case "enrollPIN": return  // the first one, or another one
        case "rules", "removePIN": return status.hasPIN ? () : try enrollPIN()
        default: break
        }
        if change == "enroll", isUnder { try remove() }
        if change != "enroll", !isUnder { try enroll() }
    }
}
