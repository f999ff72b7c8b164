import Holdfast
import HoldfastTesting

/// What the tests of an app write: it knows nothing of this package but its products. `TestVaultTests` runs it, and
/// compiles this file as another package.
enum AppScenario {
    struct Failure: Error {
        let line: Int
    }

    static func expect(_ holds: Bool, line: Int = #line) throws {
        guard holds else { throw Failure(line: line) }
    }

    /// The code of the vault error that a call throws.
    static func code(_ body: () async throws -> Void) async throws -> VaultError.Code? {
        do { try await body() } catch let error as VaultError { return error.code }
        return nil
    }

    static func secret(_ text: String) throws -> SecretBytes {
        let bytes = Array(text.utf8)
        return try SecretBytes(count: bytes.count) { memory in
            for (index, byte) in bytes.enumerated() { memory.storeBytes(of: byte, toByteOffset: index, as: UInt8.self) }
        }
    }

    /// Wrong passcodes are delayed by the test's clock, and another start of the app finds what was stored.
    static func passcodes() async throws {
        let vault = try TestVault(passcode: "1234")
        let app = try vault.app()
        let wrong = ["a", "b", "c"]
        for text in wrong {
            let answer = try await code { try await app.lock.unlock(.passcode, secret(text)) }
            try expect(answer == .wrongPasscode)
        }
        try expect(try await code { try await app.lock.unlock(.passcode, vault.passcode) } == .delayed)
        vault.clock.advance(by: .seconds(30))
        try await app.lock.unlock(.passcode, vault.passcode)
        try app.vault.put(secret("value"), for: "name")
        await app.lock.forceLock()
        try expect(try await code { try app.vault.withValue(for: "name") { _ in } } == .locked)
        let next = try vault.app()
        try await next.lock.unlock(.passcode, vault.passcode)
        try expect(try next.vault.withValue(for: "name") { $0.byteCount } == 5)
    }

    /// The owner unlocks, cancels, and is another one after the device's enrollment has changed.
    static func owners() async throws {
        let vault = try TestVault()
        let app = try vault.app(isLockEnabled: true)
        await app.lock.handle(.launch)
        try await app.lock.unlock(.passcode, vault.passcode)
        try await app.lock.enrollOwner(.biometrics, passcode: vault.passcode)
        await app.lock.forceLock()
        vault.owner.answers(.cancels, .confirms)
        try expect(try await code { try await app.lock.unlock(by: .biometrics) } == .cancelled)
        try await app.lock.unlock(by: .biometrics)
        try expect(app.vault.isUnlocked)
        await app.lock.forceLock()
        vault.owner.changeEnrollment()
        vault.owner.answers(.confirms)
        try expect(try await code { try await app.lock.unlock(by: .biometrics) } == .passcodeNeeded)
        try expect(!app.vault.isUnlocked)
    }

    /// A device without its key store falls back to the passcode.
    static func missingKeyStore() async throws {
        let vault = try TestVault()
        let app = try vault.app(isLockEnabled: true)
        vault.keyStore.setAvailable(false)
        try await app.lock.unlock(.passcode, vault.passcode)
        let answer = try await code {
            try await app.lock.enrollOwner(.biometrics, passcode: vault.passcode, survivesRestart: true)
        }
        try expect(answer == .hardwareUnavailable)
        try expect(vault.keyStore.count == 0)
    }

    /// A chip counts the wrong PINs.
    static func chips() async throws {
        let vault = try TestVault(chip: InMemoryChip())
        let app = try vault.app(isLockEnabled: true)
        try await app.lock.unlock(.passcode, vault.passcode)
        try await app.lock.enrollPIN(secret("2580"), passcode: vault.passcode)
        await app.lock.forceLock()
        try expect(try await code { try await app.lock.unlock(.pin, secret("9999")) } == .wrongPasscode)
        try await app.lock.unlock(.pin, secret("2580"))
        try expect(app.vault.isUnlocked)
    }
}
