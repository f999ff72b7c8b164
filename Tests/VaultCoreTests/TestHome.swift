import Foundation
import SecretMemory
import Synchronization
import TestSupport
import VaultCore
import VaultHeader

/// A scratch folder for one test, removed with it; vaults in it use the cheap costs and a clock that the test moves.
final class TestHome: Sendable {
    private let folder: ScratchFolder
    let path: String
    let clock = TestClock()

    init() throws {
        folder = try ScratchFolder()
        path = folder["home"]
    }

    var settings: VaultSettings {
        var settings = VaultSettings.costsForTests(clock: clock)
        settings.logEntriesPerSegment = TestRun.entriesPerSegment
        return settings
    }

    func create(_ passcode: String = "right") throws -> RecoveryPhraseBox {
        let secret = try secret(passcode)
        return RecoveryPhraseBox(try Vault.create(at: path, passcode: secret, settings: settings))
    }

    func open() throws -> Vault { try Vault(at: path, settings: settings) }

    /// A created, opened and unlocked vault.
    func unlocked() throws -> Vault {
        _ = try create()
        let vault = try open()
        try vault.unlock("right")
        return vault
    }

    func file(_ name: String) -> String { path + "/" + name }

    func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: file(name)))) }

    func write(_ bytes: [UInt8], to name: String) throws {
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: file(name)))
        try handle.write(contentsOf: Data(bytes))
        try handle.truncate(atOffset: UInt64(bytes.count))
        try handle.close()
    }

    /// Changes one byte of a file in place.
    func flip(_ name: String, at offset: Int) throws {
        var all = try bytes(name)
        all[offset] ^= 0x01
        try write(all, to: name)
    }
}
