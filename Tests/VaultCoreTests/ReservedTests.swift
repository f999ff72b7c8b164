import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultStorage

/// Collections of our own are out of reach for whoever names them; the record in one is kept like any other.
@Suite struct ReservedTests {
    @Test func nobodyReachesThemByName() throws {
        let vault = try TestHome().unlocked()
        let value = try secret("secret")
        try vault.identityRecord.replace(with: value)
        for collection in ["\u{0}identity", "\u{0}", "\u{0}anything else"] {
            let name = "credentials"
            #expect(errorCode { _ = try vault.get(name, collection) } == .reservedCollection)
            #expect(errorCode { _ = try vault.value(for: name, in: collection) } == .reservedCollection)
            #expect(
                errorCode { _ = try vault.withConfirmedValue(for: name, in: collection) { $0.byteCount } }
                    == .reservedCollection)
            #expect(errorCode { try vault.read(name, in: collection) { _ in } } == .reservedCollection)
            #expect(errorCode { _ = try vault.reader(for: name, in: collection) } == .reservedCollection)
            #expect(errorCode { _ = try vault.contains(name, in: collection) } == .reservedCollection)
            #expect(errorCode { _ = try vault.origin(of: name, in: collection) } == .reservedCollection)
            #expect(errorCode { _ = try vault.records(in: collection) } == .reservedCollection)
            for replacing in [false, true] {
                #expect(errorCode { try vault.put([1], name, collection, replacing: replacing) } == .reservedCollection)
                #expect(
                    errorCode {
                        try vault.put(name, in: collection, replacing: replacing) { _ in 0 }
                    } == .reservedCollection)
                #expect(
                    errorCode {
                        let writer = try vault.writer(for: name, in: collection, replacing: replacing)
                        _ = try writer.finish()
                    } == .reservedCollection)
                #expect(
                    errorCode {
                        try vault.write { session in
                            let one: [UInt8] = [1]
                            try session.put(unsafe one.span.bytes, for: name, in: collection, replacing: replacing)
                        }
                    } == .reservedCollection)
            }
            #expect(errorCode { try vault.delete(name, in: collection) } == .reservedCollection)
            #expect(errorCode { try vault.write { try $0.delete(name, in: collection) } } == .reservedCollection)
        }
        #expect(try vault.identityRecord.withValue { $0.array } == Array("secret".utf8))
        #expect(try vault.records().isEmpty)
        try vault.identityRecord.delete()
        #expect(errorCode { _ = try vault.identityRecord.withValue { $0.array } } == .recordNotFound)
    }

    @Test func aLockedVaultKeepsItsOwn() throws {
        let vault = try TestHome().unlocked()
        let value = try secret("secret")
        try vault.identityRecord.replace(with: value)
        vault.lock()
        #expect(errorCode { _ = try vault.identityRecord.withValue { $0.array } } == .locked)
        #expect(errorCode { try vault.identityRecord.replace(with: value) } == .locked)
        #expect(errorCode { try vault.identityRecord.delete() } == .locked)
    }
}
