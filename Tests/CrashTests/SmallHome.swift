#if os(Linux) && !canImport(Darwin)
import CrashSubject
import Foundation
import TestSupport
import VaultCore
import VaultStorage

/// A home with ``SmallVault/records``, whose files a test damages byte by byte.
struct SmallHome {
    let scratch: Scratch

    init() throws {
        scratch = try Scratch()
        try Vault.createKnown(scratch.home, scratch.clock)
        let vault = try Vault.known(scratch.home, scratch.clock)
        try vault.unlock(0)
        try vault.performAll(SmallVault.records)
        try vault.perform(Operation([.set(SmallVault.last, SmallVault.lastContent)]))
        vault.lock()
    }

    func open() throws -> Vault { try Vault.known(scratch.home, scratch.clock) }

    func path(_ name: String) -> String { "\(scratch.home)/\(name)" }

    func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path(name)))) }

    /// Overwrites some bytes in place.
    func write(_ bytes: some Sequence<UInt8>, to name: String, at offset: Int = 0) throws {
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path(name)))
        defer { try? handle.close() }
        try handle.seek(toOffset: UInt64(offset))
        try handle.write(contentsOf: Data(bytes))
    }

    /// Places whose content is not what it was, with what was read instead.
    static func wrong(_ vault: Vault, files: Bool = true) -> [String] {
        SmallVault.records.compactMap { place, content in
            guard files || content.size <= Vault.largestInlineValue else { return nil }
            do {
                return try vault.bytes(at: place) == content.bytes() ? nil : "\(place): other bytes"
            } catch { return "\(place): \(error)" }
        }
    }
}

extension Vault {
    /// Stores records as few transactions as their sizes allow.
    func performAll(_ records: [Place: Content]) throws {
        let changes = records.sorted { $0.key < $1.key }.map { ($0.value.size, Change.set($0.key, $0.value)) }
        try perform(Operation(changes.filter { $0.0 <= Vault.largestInlineValue }.map(\.1)))
        for change in changes where change.0 > Vault.largestInlineValue { try perform(Operation([change.1])) }
    }
}

extension SeededGenerator {
    /// A change of one byte.
    mutating func mask() -> UInt8 { UInt8.random(in: 1...255, using: &self) }
}

/// The code of what `body` throws; nil when it does not.
func code(_ body: () throws -> Void) -> VaultError.Code? {
    do {
        try body()
        return nil
    } catch { return (error as? VaultError)?.code ?? .cryptography }
}
#endif
