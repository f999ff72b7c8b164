import KeyStores
import SecretMemory
import TestSupport
import Testing
import VaultFormat

let shareBytes = [UInt8](1...32)

func vaultID(_ byte: UInt8) throws -> VaultID {
    try #require(VaultID(bytes: [UInt8](repeating: byte, count: 16)))
}

struct Unexpected: Error {
    let what: String
    init(_ what: String) { self.what = what }
}

/// What a call of a store came to, comparable.
enum ShareOutcome: Equatable {
    case share([UInt8])
    case revoked(Revocation)
    case done
    case failure(ShareFailure)

    init(_ body: () throws(ShareFailure) -> ShareOutcome) {
        do throws(ShareFailure) { self = try body() } catch { self = .failure(error) }
    }

    /// Whether it says that the share is not to be had now, and nothing more.
    var isUnavailable: Bool {
        if case .failure(.unavailable) = self { true } else { false }
    }
}

extension ShareStore {
    func made(
        _ bytes: [UInt8] = shareBytes, as name: ShareName, under rule: ShareRule = .nobodyAsked(.whileUnlocked),
        note: (ShareItem) throws(ShareFailure) -> Void = { _ throws(ShareFailure) in }
    ) throws -> ShareItem { try make(secret(bytes), as: name, under: rule, note: note) }

    func making(as name: ShareName) throws -> ShareOutcome {
        let share = try secret(shareBytes)
        return ShareOutcome { () throws(ShareFailure) in
            _ = try make(share, as: name, under: .nobodyAsked(.whileUnlocked)) { _ throws(ShareFailure) in }
            return .done
        }
    }

    func reading(_ item: ShareItem, of vault: VaultID) -> ShareOutcome {
        ShareOutcome { () throws(ShareFailure) in .share(try read(item, of: vault).revealed()) }
    }

    func revoking(_ item: ShareItem, of vault: VaultID) -> ShareOutcome {
        ShareOutcome { () throws(ShareFailure) in .revoked(try revoke(item, of: vault)) }
    }

    func probing() -> ShareOutcome {
        ShareOutcome { () throws(ShareFailure) in
            try probe()
            return .done
        }
    }

    /// What every store does.
    func checkContract() throws {
        let (mine, yours) = (try vaultID(1), try vaultID(2))
        #expect(probing() == .done)
        let name = try ShareName.fresh(for: HardwareOwner(vault: mine, home: shareBytes))
        var noted: [ShareItem] = []
        let item = try made(as: name) { item throws(ShareFailure) in
            noted.append(item)
        }
        #expect(noted.last == item && item.store == kind && item.name == name)
        // What the slot keeps goes through its bytes.
        let kept = try ShareItem(kind, parsing: item.encoded)
        #expect(kept == item)
        #expect(reading(kept, of: mine) == .share(shareBytes))
        #expect(try making(as: name) == .failure(.nameTaken))
        #expect(reading(kept, of: mine) == .share(shareBytes), "a taken name changes nothing")
        // Another share of this vault, and one of another vault.
        let second = try made([UInt8](33...64), as: .fresh(for: HardwareOwner(vault: mine, home: shareBytes)))
        let other = try made([UInt8](65...96), as: .fresh(for: HardwareOwner(vault: yours, home: shareBytes)))
        #expect(reading(item, of: yours) == .failure(.damaged))
        #expect(revoking(item, of: yours) == .revoked(.anothers))
        // A header that was not authenticated names another vault's share as its own.
        let planted = ShareItem(try .fresh(for: HardwareOwner(vault: yours, home: shareBytes)), item.place)
        #expect(reading(planted, of: yours) != .share(shareBytes))
        _ = revoking(planted, of: yours)
        #expect(reading(item, of: mine) == .share(shareBytes), "nothing of another vault is touched")
        #expect(revoking(item, of: mine) == .revoked(.gone))
        #expect(reading(item, of: mine) == .failure(.lost(.notThere)))
        #expect(revoking(item, of: mine) == .revoked(.gone), "twice is fine")
        #expect(reading(second, of: mine) == .share([UInt8](33...64)))
        #expect(reading(other, of: yours) == .share([UInt8](65...96)))
        #expect(revoking(second, of: mine) == .revoked(.gone))
        #expect(revoking(other, of: yours) == .revoked(.gone))
        // A note that could not be written ends the making before the store has anything.
        let refused = try ShareName.fresh(for: HardwareOwner(vault: mine, home: shareBytes))
        var unmade: ShareItem?
        let share = try secret(shareBytes)
        let outcome = ShareOutcome { () throws(ShareFailure) in
            _ = try make(share, as: refused, under: .nobodyAsked(.whileUnlocked)) { item throws(ShareFailure) in
                unmade = item
                throw .notConfirmed
            }
            return .done
        }
        #expect(outcome == .failure(.notConfirmed))
        #expect(reading(try #require(unmade), of: mine) == .failure(.lost(.notThere)))
        #expect(revoking(try #require(unmade), of: mine) == .revoked(.gone), "what was noted and not made")
    }
}
