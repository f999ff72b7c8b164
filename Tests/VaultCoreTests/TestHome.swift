import Foundation
import SecretMemory
import Synchronization
import VaultCore

/// A scratch folder for one test, removed with it; vaults in it use the cheap costs and a clock that the test moves.
final class TestHome: Sendable {
    let path: String
    let clock = TestClock()

    init() throws {
        path = NSTemporaryDirectory() + "holdfast-tests-\(UUID().uuidString)"
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    var settings: VaultSettings { .costsForTests(clock: clock) }

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

/// A clock that stands until the test moves it.
final class TestClock: BootClock {
    private let state = Mutex(BootInstant(bootID: [UInt8](repeating: 1, count: 16), milliseconds: 1_000_000))

    func now() -> BootInstant { state.withLock { $0 } }

    func advance(seconds: UInt64) {
        state.withLock { $0 = BootInstant(bootID: $0.bootID, milliseconds: $0.milliseconds + seconds * 1000) }
    }

    func set(_ instant: BootInstant) { state.withLock { $0 = instant } }

    /// Another boot, its clock starting near zero.
    func reboot() {
        state.withLock {
            $0 = BootInstant(bootID: $0.bootID.map { $0 &+ 1 }, milliseconds: 5_000)
        }
    }
}
