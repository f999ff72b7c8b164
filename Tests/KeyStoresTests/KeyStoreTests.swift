@testable import DeviceOwner
import Cryptography
import Foundation
import KeyStores
import RealParts
import SecretMemory
import TestSupport
import Testing
import VaultFormat

private func release(_ byte: UInt8) throws -> OwnerRelease {
    OwnerRelease(.biometrics, try secret([UInt8](repeating: byte, count: 32)))
}

private func code(_ body: () throws -> Void) -> KeyStoreError.Code? { thrown(KeyStoreError.self, body)?.code }

private let share = [UInt8](0..<32)

/// What a read came to with the release of this byte.
private func redeem(_ store: some ShareStore, _ item: ShareItem, _ byte: UInt8, of vault: VaultID? = nil)
    -> ShareOutcome
{
    ShareOutcome { () throws(ShareFailure) in
        guard let release = try? release(byte) else { return .done }
        return .share(try store.read(item, of: vault ?? item.name.vault, after: release).revealed())
    }
}

private func put(
    _ store: some ShareStore, _ bytes: [UInt8] = share, by byte: UInt8 = 5, of owner: HardwareOwner? = nil
) throws -> ShareItem {
    let owner = try owner ?? HardwareOwner(vault: vaultID(1), home: shareBytes)
    let key = try ReleaseKey(secret([UInt8](repeating: byte, count: 32)))
    return try store.made(bytes, as: .released(for: owner), under: .released(by: key, after: [.biometrics]))
}

@Suite(.enabled(if: SoftwareTPM.isInstalled, "swtpm is not installed: nothing of the TPM backend is tested"))
struct TPMKeyTests {
    let chip: SoftwareTPM
    let location: TPMLocation

    init() throws {
        chip = try SoftwareTPM()
        location = TPMLocation(chip.location)
    }

    @Test func aReleasedShareComesOutForItsReleaseOnlyAndOnItsChipOnly() throws {
        let (store, vault) = (TPMShares(at: location), try vaultID(1))
        let item = try put(store)
        #expect(redeem(store, item, 5) == .share(share))
        #expect(redeem(store, item, 6) == .failure(.notConfirmed))
        #expect(store.reading(item, of: vault) == .failure(.notConfirmed), "not without a release")
        #expect(try redeem(store, item, 5, of: vaultID(2)) == .failure(.damaged))
        #expect(try chip.tool("tpm2_getcap", "handles-nv-index").output == "", "nothing rests in the chip")
        try chip.cutPower()
        #expect(redeem(store, item, 5) == .share(share))
        #expect(store.revoking(item, of: vault) == .revoked(.gone))
        let other = try SoftwareTPM()
        #expect(redeem(TPMShares(at: TPMLocation(other.location)), item, 5) == .failure(.lost(.replaced)))
        #expect(try chip.tool("tpm2_clear").status == 0)
        #expect(redeem(store, item, 5) == .failure(.lost(.replaced)))
        guard case .sealed(let object) = item.place else {
            Issue.record("\(item.place)")
            return
        }
        for count in [0, 1, 3, 60, object.count - 1] {
            let part = ShareItem(item.name, .sealed(Array(object.prefix(count))))
            #expect(redeem(store, part, 5) == .failure(.damaged))
        }
    }

    @Test func aKeySignsForItsAuthorisationAndNeverLeaves() throws {
        let keys = TPMSigningKeys(at: location)
        let authorisation = try secret([UInt8](repeating: 3, count: 32))
        let key = try keys.makeKey(authorisation: authorisation)
        #expect(key.publicKey.count == 33)
        #expect(key.data.count <= 1024)
        let message = Array("a message".utf8)
        let point = try unsafe P256PublicKey(compressed: key.publicKey.span.bytes)
        for _ in 0..<4 {
            let signature = try unsafe keys.sign(message.span.bytes, with: key, authorisation: authorisation)
            #expect(unsafe point.isValid(signature: signature.span.bytes, for: message.span.bytes))
        }
        let wrong = try secret([UInt8](repeating: 4, count: 32))
        #expect(
            code { _ = try unsafe keys.sign(message.span.bytes, with: key, authorisation: wrong) } == .wrongSecret)
        let other = try keys.makeKey(authorisation: authorisation)
        #expect(other.publicKey != key.publicKey)
        let mixed = SigningKeyObject(publicKey: key.publicKey, data: other.data)
        #expect(
            code { _ = try unsafe keys.sign(message.span.bytes, with: mixed, authorisation: authorisation) }
                == .damaged)
        try keys.delete(key)
        #expect(try chip.tool("tpm2_getcap", "handles-persistent").output == "", "nothing was left in the chip")
        #expect(try chip.tool("tpm2_getcap", "handles-nv-index").output == "")
    }

    @Test func aThousandUsesLeaveNoHandleBehind() throws {
        let keys = TPMSigningKeys(at: location)
        let authorisation = try secret([UInt8](repeating: 3, count: 32))
        let key = try keys.makeKey(authorisation: authorisation)
        let wrong = try secret([UInt8](repeating: 4, count: 32))
        for _ in 0..<20 {
            _ = try? unsafe keys.sign([1, 2].span.bytes, with: key, authorisation: wrong)
        }
        for kind in ["handles-transient", "handles-loaded-session", "handles-saved-session"] {
            #expect(try chip.tool("tpm2_getcap", kind).output == "", "\(kind)")
        }
    }

    @Test func anAnchorHoldsTwoNumbersForEachVault() throws {
        let anchor = TPMGenerationAnchor(at: location)
        func owner(_ vault: UInt8, _ home: UInt8) throws -> HardwareOwner {
            HardwareOwner(
                vault: try #require(VaultID(bytes: [UInt8](repeating: vault, count: 16))),
                home: [UInt8](repeating: home, count: 32))
        }
        // Another home of one vault is another owner, as another vault is.
        let (first, second) = (try owner(1, 1), try owner(1, 2))
        let third = try owner(2, 1)
        #expect(try anchor.state(of: first) == nil)
        try anchor.release(first)
        let state = AnchoredState(generation: 300, attempts: 1 << 40)
        try anchor.hold(state, of: first)
        try anchor.advance(to: state, of: second)
        #expect(try anchor.state(of: second) == nil, "nothing is made for who may be anybody")
        try anchor.hold(AnchoredState(generation: 1, attempts: 2), of: second)
        #expect(try anchor.state(of: first) == state)
        try chip.cutPower()
        #expect(try anchor.state(of: first) == state)
        try anchor.hold(AnchoredState(generation: 301, attempts: 0), of: first)
        #expect(try anchor.state(of: first) == AnchoredState(generation: 301, attempts: 0))
        // Going on never forgets attempts.
        try anchor.advance(to: AnchoredState(generation: 302, attempts: 7), of: first)
        try anchor.advance(to: AnchoredState(generation: 303, attempts: 6), of: first)
        #expect(try anchor.state(of: first) == AnchoredState(generation: 303, attempts: 7))
        try anchor.release(first)
        #expect(try anchor.state(of: first) == nil)
        try anchor.release(third)
        #expect(try anchor.state(of: second) == AnchoredState(generation: 1, attempts: 2))
        let nowhere = TPMGenerationAnchor(at: TPMLocation("swtpm:path=/nonexistent/tpm.sock"))
        #expect(code { _ = try nowhere.state(of: second) } == .unavailable)
    }
}

/// Shares that end with their process, in the stores that keep them.
@Suite struct ReleasedShareTests {
    @Test func `memory gives a released share to its release only`() throws {
        let (store, vault) = (MemoryShares(), try vaultID(1))
        let item = try put(store)
        #expect(redeem(store, item, 5) == .share(share))
        #expect(redeem(store, item, 6) == .failure(.notConfirmed))
        #expect(store.reading(item, of: vault) == .failure(.notConfirmed))
    }

    @Test func `what a killed process left is replaced, and revoked without a note`() throws {
        let scratch = try ScratchFolder("released")
        let owner = HardwareOwner(vault: try vaultID(1), home: shareBytes)
        for store: any ShareStore in [MemoryShares(), FileShares(in: scratch["shares"])] {
            let first = try put(store, [UInt8](33...64))
            let second = try put(store)
            #expect(first == second && first.name.belongs(to: owner))
            #expect(redeem(store, second, 5) == .share(share))
            let another = try put(store, of: HardwareOwner(vault: owner.vault, home: [UInt8](repeating: 9, count: 32)))
            #expect(another.name != first.name, "another home of the vault has another one")
            ShareStores([store], floors: []).revokeReleased(of: owner)
            #expect(redeem(store, first, 5) == .failure(.lost(.notThere)))
            #expect(redeem(store, another, 5) == .share(share))
        }
    }

    @Test func `only a process's share rests in files that are read for older ones`() throws {
        let scratch = try ScratchFolder("released")
        let stores = ShareStores([], floors: []).reading(filesIn: scratch["shares"])
        #expect(throws: ShareFailure.self) { _ = try stores.best() }
        #expect(try stores.bestForProcess().kind == .file)
    }
}
