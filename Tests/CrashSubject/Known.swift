package import Cryptography
package import SecretMemory
package import VaultCore
internal import VaultHeader
internal import VaultStorage
internal import SeededNumbers

/// The secrets of these tests; they protect nothing.
package enum Known {
    package static func passcode(_ number: Int) throws -> SecretBytes { try secret("passcode \(number)") }

    /// Never the passcode, whatever the numbers.
    package static func wrongPasscode(_ number: Int) throws -> SecretBytes { try secret("wrong \(number)") }

    package static func phrase(_ number: Int) throws -> RecoveryPhrase {
        let entropy = Content(seed: UInt64(number) &+ 0xF00D, size: 32).bytes()
        return try unsafe RecoveryPhrase(entropy: SecretBytes(copying: entropy.span.bytes))
    }

    private static func secret(_ text: String) throws -> SecretBytes {
        let bytes = Array(text.utf8)
        return try unsafe SecretBytes(copying: bytes.span.bytes)
    }
}

extension Vault {
    /// Finds a vault that was made with the cheap costs.
    package static func known(_ home: String, _ clock: FileClock) throws -> Vault {
        var settings = VaultSettings.costsForTests(clock: clock)
        // As the tests that look at what is written.
        settings.logEntriesPerSegment = TestExtent.entriesPerSegment
        return try Vault(at: home, settings: settings)
    }

    /// Creates a vault with the cheap costs whose passcode and phrase have the number 0.
    package static func createKnown(_ home: String, _ clock: FileClock) throws {
        let settings = VaultSettings.costsForTests(clock: clock)
        _ = try Vault.create(at: home, passcode: Known.passcode(0), settings: settings)
        let vault = try Vault(at: home, settings: settings)
        try vault.rekey(
            passcode: Known.passcode(0), spending: vault.burnAttempt(), newPasscode: Known.passcode(0),
            phrase: Known.phrase(0), isNewPhrase: true)
        try vault.finishRekey()
        vault.lock()
    }

    package func unlock(_ number: Int) throws {
        try unlock(passcode: Known.passcode(number), spending: burnAttempt())
    }

    /// Makes the changes in the way an app would: one by itself, more as a batch, a large value as a stream.
    package func perform(_ operation: Operation) throws {
        guard operation.changes.count == 1, let change = operation.changes.first else {
            return try write { session in
                for change in operation.changes { try session.make(change) }
            }
        }
        switch change {
        case .delete(let place): try delete(place.name, in: place.collection)
        case .set(let place, let content) where content.size <= Vault.largestInlineValue:
            let bytes = content.bytes()
            try unsafe put(bytes: bytes.span.bytes, for: place.name, in: place.collection, replacing: true)
        case .set(let place, let content): try stream(content, to: place)
        }
    }

    private func stream(_ content: Content, to place: Place) throws {
        let bytes = content.bytes()
        var position = 0
        try put(place.name, in: place.collection, replacing: true) { memory in
            let count = min(memory.byteCount, bytes.count - position)
            unsafe memory.withUnsafeMutableBytes { memory in
                unsafe memory.copyBytes(from: bytes[position..<position + count])
            }
            position += count
            return count
        }
    }

    /// A value of any size.
    package func bytes(at place: Place) throws -> [UInt8] {
        var all: [UInt8] = []
        try read(place.name, in: place.collection) { part in
            unsafe part.withUnsafeBytes { unsafe all.append(contentsOf: $0) }
        }
        return all
    }
}

extension WriteSession {
    fileprivate mutating func make(_ change: Change) throws(VaultError) {
        switch change {
        case .delete(let place): try delete(place.name, in: place.collection)
        case .set(let place, let content):
            let bytes = content.bytes()
            try unsafe put(bytes.span.bytes, for: place.name, in: place.collection, replacing: true)
        }
    }
}
