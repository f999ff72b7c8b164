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

/// What a redemption came to, comparable.
private func redeem(_ store: some KeyStore, _ item: KeyStoreItem, _ byte: UInt8) throws -> [UInt8] {
    let release = try release(byte)
    let share = try store.redeem(item, release)
    return share.revealed()
}

private func code(_ body: () throws -> Void) -> KeyStoreError.Code? { thrown(KeyStoreError.self, body)?.code }

private let share = [UInt8](0..<32)

private func put(_ store: some KeyStore, _ name: String = "owner", by byte: UInt8 = 5) throws -> KeyStoreItem {
    let part = try secret(share)
    let secret = try secret([UInt8](repeating: byte, count: 32))
    return try store.put(part, as: name, releasedBy: secret)
}

@Suite(.enabled(if: SoftwareTPM.isInstalled, "swtpm is not installed: nothing of the TPM backend is tested"))
struct TPMKeyStoreTests {
    let chip: SoftwareTPM
    let location: TPMLocation

    init() throws {
        chip = try SoftwareTPM()
        location = TPMLocation(chip.location)
    }

    @Test func aShareComesOutForItsReleaseOnlyAndOnItsChipOnly() throws {
        let store = TPMKeyStore(at: location)
        let item = try put(store)
        #expect(item.data.count <= 896)
        #expect(try redeem(store, item, 5) == share)
        #expect(code { _ = try redeem(store, item, 6) } == .wrongSecret)
        try chip.cutPower()
        #expect(try redeem(store, item, 5) == share, "nothing rests in the chip")
        let other = try SoftwareTPM()
        #expect(code { _ = try redeem(TPMKeyStore(at: TPMLocation(other.location)), item, 5) } == .foreign)
        #expect(try chip.tool("tpm2_clear").status == 0)
        #expect(code { _ = try redeem(store, item, 5) } == .foreign)
        #expect(code { _ = try redeem(store, KeyStoreItem(.tpm, data: [1, 2, 3]), 5) } == .damaged)
        for count in [0, 1, 60, item.data.count - 1] {
            let part = KeyStoreItem(.tpm, data: Array(item.data.prefix(count)))
            #expect(code { _ = try redeem(store, part, 5) } == .damaged)
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

@Suite struct FileKeyStoreTests {
    let folder: String

    init() throws {
        folder = NSTemporaryDirectory() + "holdfast-shares-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    @Test func aShareIsAFileOfItsOwnerAlone() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let store = FileKeyStore(in: folder)
        #expect(store.assurance == .none)
        try store.probe()
        let item = try put(store)
        #expect(try redeem(store, item, 5) == share)
        let path = folder + "/owner.share"
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["owner.share"])
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
        #expect(code { _ = try redeem(store, item, 5) } == .damaged)
        try store.delete(item)
        try store.delete(item)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func namesAndLinksLeadNowhereElse() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let store = FileKeyStore(in: folder)
        for name in ["", "../owner", "a/b", ".hidden", "ü", String(repeating: "a", count: 65)] {
            #expect(code { _ = try put(store, name) } == .failure, "\(name)")
            let item = KeyStoreItem(.file, data: Array(name.utf8))
            #expect(code { _ = try redeem(store, item, 5) } != nil, "\(name)")
        }
        try Data(share).write(to: URL(fileURLWithPath: folder + "/target"))
        try FileManager.default.createSymbolicLink(
            atPath: folder + "/owner.share", withDestinationPath: folder + "/target")
        let owner = KeyStoreItem(.file, data: Array("owner".utf8))
        #expect(code { _ = try redeem(store, owner, 5) } == .damaged)
        try store.delete(owner)
        #expect(FileManager.default.contents(atPath: folder + "/target") == Data(share))
        let nowhere = FileKeyStore(in: folder + "/none/shares")
        #expect(code { try nowhere.probe() } == .unavailable)
    }

    /// What somebody puts in the place of a share, or of their folder, is neither read, nor written, nor waited for.
    @Test(arguments: ["folder link", "hard link", "pipe"])
    func whatIsPlantedHarmsNobodyElse(plant: String) throws {
        let outside = folder + "-outside"
        defer { for path in [folder, outside] { try? FileManager.default.removeItem(atPath: path) } }
        let store = FileKeyStore(in: folder)
        let item = try put(store, "owner")
        try FileManager.default.createDirectory(atPath: outside, withIntermediateDirectories: false)
        let name = "owner.share"
        let (mine, theirs) = ("\(folder)/\(name)", "\(outside)/\(name)")
        switch plant {
        case "folder link":
            try FileManager.default.moveItem(atPath: mine, toPath: theirs)
            try FileManager.default.removeItem(atPath: folder)
            try FileManager.default.createSymbolicLink(atPath: folder, withDestinationPath: outside)
        case "hard link": try FileManager.default.linkItem(atPath: mine, toPath: theirs)
        default:
            try FileManager.default.moveItem(atPath: mine, toPath: theirs)
            #expect(unsafe mkfifo(mine, 0o600) == 0)
        }
        #expect(code { _ = try redeem(store, item, 5) } == (plant == "hard link" ? .hardLinked : .damaged))
        if plant == "folder link" {
            #expect(code { try store.delete(item) } == .damaged)
            #expect(code { try store.probe() } == .damaged)
        } else {
            try store.delete(item)
            #expect(!FileManager.default.fileExists(atPath: mine))
        }
        #expect(FileManager.default.contents(atPath: theirs) == Data(share))
    }
}
