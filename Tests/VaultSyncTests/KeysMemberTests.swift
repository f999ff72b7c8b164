import Cryptography
import SecretMemory
import SyncFormat
import TestSupport
import Testing
import VaultFormat

@testable import VaultSync

@Suite struct KeysMemberTests {
    @Test func `a member's keys come back as they were kept`() throws {
        let keys = try MemberKeys.generate()
        let kept = try keys.bytes()
        let same = try MemberKeys(kept)
        let (id, again) = (keys.id, same.id)
        #expect(id == again)
        #expect(try keys.record(name: "a") == same.record(name: "a"))
        let other = try MemberKeys.generate().id
        #expect(other != id)
    }

    @Test func `an id is the beginning of a hash of both keys`() throws {
        let keys = try MemberKeys.generate()
        let record = try keys.record(name: "a")
        let material = try secret(record.signingKey + record.boxKey)
        let derived = try BLAKE3.deriveKey(
            context: "holdfast/1/sync-member", material: material, lifetime: .transient
        ).revealed()
        #expect(record.id.bytes == Array(derived.prefix(16)))
    }

    @Test func `what are no scalars are no keys`() throws {
        for bytes in [[], repeated(1, 63), repeated(1, 65), repeated(0, 64), repeated(0xFF, 64)] {
            let kept = try secret(bytes)
            #expect(syncError { () throws(SyncError) in _ = try MemberKeys(kept) } != nil)
        }
        let error = #expect(throws: SyncError.self) { _ = try EpochKey(secret(repeated(1, 31))) }
        #expect(error == .format(.wrongSize))
    }

    @Test func `a key that is no point signs nothing`() throws {
        let record = try MemberKeys.generate().record(name: "a")
        let point = [2] + repeated(0xFF, 32)
        let id = try MemberKeys.id(signing: point, box: record.boxKey)
        let wrong = try MemberRecord(id: id, signingKey: point, boxKey: record.boxKey, format: 1, name: "a")
        #expect(throws: SyncError.notAuthentic("member key")) { try SyncSigners([wrong]) }
        let swapped = try MemberRecord(
            id: record.id, signingKey: record.boxKey, boxKey: record.signingKey, format: 1, name: "a")
        #expect(throws: SyncError.notAuthentic("member id")) { try SyncSigners([swapped]) }
    }

    @Test func `a commitment is of one group and one key`() throws {
        let one = try EpochKey(secret(repeated(1, 32)))
        let other = try EpochKey(secret(repeated(2, 32)))
        let commitments = try [
            one.commitment(id(1)).revealed(), one.commitment(id(2)).revealed(), other.commitment(id(1)).revealed(),
        ]
        #expect(Set(commitments).count == 3)
        #expect(try one.copy().commitment(id(1)).revealed() == commitments[0])
    }
}
