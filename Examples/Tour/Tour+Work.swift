internal import Holdfast
internal import HoldfastCommand

/// What several chapters do.
extension Tour {
    /// A text in locked memory. For the tour's own passcodes, which are no secrets.
    static func secret(_ text: String) throws -> SecretBytes {
        try SecretBytes(utf8: text)
    }

    /// Opens the lock as an app does.
    func unlock(_ app: HoldfastApp, with passcode: String) async throws {
        let secret = try Tour.secret(passcode)
        try await app.lock.unlock(.passcode, secret)
    }

    /// Reads every record of the tour and compares it with what was stored.
    /// - Returns: The bytes compared.
    func compareAll(_ vault: Vault) throws -> UInt64 {
        var total: UInt64 = 0
        for item in Samples.items {
            let stored = Array(item.text.utf8)
            let isSame = try vault.withValue(for: item.name, in: item.collection) { value in
                value.byteCount == stored.count && stored.indices.allSatisfy { value.byte(at: $0) == stored[$0] }
            }
            try expect(isSame, "\(item.kind) is not what was stored")
            total += UInt64(stored.count)
        }
        var length: UInt64 = 0
        var isSame = true
        try vault.read(Samples.fileName, in: Samples.fileCollection) { piece in
            isSame = isSame && SampleFile.matches(piece, at: length)
            length += UInt64(piece.byteCount)
        }
        try expect(isSame && length == SampleFile.size, "the 10 MB file is not what was stored")
        return total + length
    }

    /// Tries a passcode that must be refused, and returns what was said.
    func expectWrong(_ passcode: String, _ app: HoldfastApp) async throws -> String {
        let error = try await expectRefusal(.wrongPasscode, "\"\(passcode)\"") {
            try await unlock(app, with: passcode)
        }
        try expect(!app.vault.isUnlocked, "the vault is open after a wrong passcode")
        let limit = try app.vault.status().policy.attemptLimit
        try expect(error.remainingAttempts == limit - 1, "\(error.remainingAttempts ?? -1) attempts remain")
        return "\"\(passcode)\": \(error.reason)"
    }
}
