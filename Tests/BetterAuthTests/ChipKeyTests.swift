import BetterAuth
import BetterAuthMessages
import BetterAuthServer
import Cryptography
import Foundation
import Holdfast
import KeyStores
import RealParts
import SecretMemory
import Synchronization
import TestSupport
import Testing

/// An identity whose keys are in a TPM (swtpm), against the real server logic.
@Suite(
    .seeded, .enabled(if: SoftwareTPM.isInstalled, "swtpm is not installed: an identity's keys in a TPM are not tested")
)
struct ChipKeyTests {
    private let chip: SoftwareTPM

    init() throws { chip = try SoftwareTPM() }

    private let vault = PlayedAuthority()

    private func keys(_ choice: ChipDeviceKeys.Choice = .best) -> ChipDeviceKeys {
        ChipDeviceKeys(TPMSigningKeys(at: TPMLocation(chip.location)), authority: vault, choice: choice)
    }

    private func places(_ client: BetterAuthClient) async throws -> Set<KeyRecord.Place> {
        let credentials = try await client.credentials()
        let account = credentials.account ?? credentials.staged?.account
        return Set([account?.current.place, account?.next.place, credentials.pending?.future.place].compactMap(\.self))
    }

    /// Nothing of ours: no object, no session, no index.
    private func expectEmptyChip(_ comment: Comment) throws {
        for kind in ["transient", "persistent", "loaded-session", "saved-session", "nv-index"] {
            #expect(try chip.tool("tpm2_getcap", "handles-\(kind)").output.isEmpty, "\(comment): \(kind)")
        }
    }

    @Test func aLifeWithKeysInTheChip() async throws {
        let world = try World(seed: 1, deviceKeys: keys())
        let phone = try client(world, SimulatedStore())
        let (recoveryKey, recovery) = try recoveryHash()
        let account = try await phone.createAccount(recovery: recovery)
        #expect(try await places(phone) == [.chip])
        _ = try await phone.openSession()
        let first = try #require(try await phone.credentials().account)
        for _ in 0..<2 { try await phone.rotate() }
        let second = try #require(try await phone.credentials().account)
        #expect(try await places(phone) == [.chip])
        #expect(Set([first.current, first.next, second.current, second.next].map(\.publicKey)).count == 4)
        // Sessions sign each request, and with keys of this process.
        #expect(try await phone.credentials().session?.current.place == .here)

        let laptop = try client(world, SimulatedStore())
        let container = try await laptop.makeLinkContainer(for: account.identity)
        #expect(try await places(laptop) == [.chip])
        let linked = try await phone.link(container)
        _ = try await laptop.openSession()
        try await phone.unlink(linked)
        #expect(await code { _ = try await laptop.openSession() } == .refused)
        try await laptop.erase()
        let (_, other) = try recoveryHash()
        let again = try await laptop.recoverAccount(account.identity, with: recoveryKey, successor: other)
        #expect(again.current.place == .chip && again.device != account.device)
        #expect(await code { try await phone.rotate() } == .chainUnknown)
        try await laptop.deleteAccount()
        try expectEmptyChip("after a life")
    }

    /// Chosen when the account is made, and kept, whatever the machine has later.
    @Test func thePlaceIsChosenOnce() async throws {
        let told = Mutex<[KeyStoreError.Code]>([])
        let deadPlace = TPMSigningKeys(at: TPMLocation("swtpm:path=/nowhere/tpm.sock"))
        let dead = ChipDeviceKeys(deadPlace, authority: vault) { error in told.withLock { $0.append(error.code) } }
        let world = try World(seed: 2, deviceKeys: dead)
        let store = SimulatedStore()
        let (_, recovery) = try recoveryHash()
        _ = try await client(world, store).createAccount(recovery: recovery)
        #expect(told.withLock { $0 } == [.unavailable], "that the TPM was not taken is said once")
        for choice in [ChipDeviceKeys.Choice.best, .chip] {
            let later = try World(seed: 2, deviceKeys: keys(choice)).deviceKeys
            let made = try later.makeKey(in: BetterAuthClient.load(store).account?.next.place)
            #expect(made.place == .here)
        }

        let strict = try World(seed: 3, deviceKeys: ChipDeviceKeys(deadPlace, authority: vault, choice: .chip))
        let empty = SimulatedStore()
        #expect(await code { _ = try await client(strict, empty).createAccount(recovery: recovery) } == .keyUnavailable)
        #expect(empty.record == nil)
        #expect(try keys(.here).makeKey(in: nil).place == .here)
        #expect(try ChipDeviceKeys(nil, authority: vault).makeKey(in: nil).place == .here)
        #expect(throws: IdentityError.self) { try ChipDeviceKeys(nil, authority: vault).makeKey(in: .chip) }
        #expect(throws: IdentityError.self) {
            try ChipDeviceKeys(nil, authority: vault, choice: .chip).makeKey(in: nil)
        }
    }

    /// A key that was made under older keys of the vault signs for as long as the vault keeps what it follows from.
    @Test func aKeyRemembersUnderWhichOfTheVaultsKeysItWasMade() async throws {
        let world = try World(seed: 5, deviceKeys: keys())
        let store = SimulatedStore()
        let (_, recovery) = try recoveryHash()
        let phone = try client(world, store)
        _ = try await phone.createAccount(recovery: recovery)
        vault.renew()
        try await phone.rotate()
        _ = try await phone.openSession()
        try await phone.rotate()
        vault.forgetOlder()
        try await phone.rotate()
        vault.renew()
        vault.forgetOlder()
        #expect(await code { try await phone.rotate() } == .keyUnavailable)
        try expectEmptyChip("after all that")
    }

    /// Another machine, a chip that is away, an authorisation that is not the key's: nothing is signed and nothing
    /// changes.
    @Test func noOtherChipSigns() async throws {
        let world = try World(seed: 4, deviceKeys: keys())
        let store = SimulatedStore()
        let (_, recovery) = try recoveryHash()
        let home = try client(world, store)
        _ = try await home.createAccount(recovery: recovery)
        let stored = store.record

        let other = try SoftwareTPM()
        for location in [other.location, "swtpm:path=/nowhere/tpm.sock"] {
            let away = ChipDeviceKeys(TPMSigningKeys(at: TPMLocation(location)), authority: vault)
            let moved = try BetterAuthClient(
                store: store, keys: away, transport: HookedNetwork(world: world) { $1() },
                server: ServerAddress("https://auth.example"), trust: .pinned([world.responseKey.publicKey]),
                now: { [clock = world.clock] in clock.now })
            #expect(await code { try await moved.rotate() } == .keyUnavailable)
            #expect(await code { _ = try await moved.openSession() } == .keyUnavailable)
            #expect(store.record == stored)
        }

        let key = try #require(try await home.credentials().account?.current)
        let next = try #require(try await home.credentials().account?.next)
        let message = Array("a message".utf8)
        let signature = try unsafe keys().signer(key).sign(message.span.bytes)
        #expect(try unsafe VerificationKey(key.publicKey).isValid(signature, for: message.span.bytes))
        // Nothing of what authorises the chip is in the record, and another vault's keybag gives something else.
        #expect(key.withSecret { $0.count } == 0 && next.withSecret { $0.count } == 0)
        let stranger = ChipDeviceKeys(
            TPMSigningKeys(at: TPMLocation(chip.location)), authority: PlayedAuthority(seed: 2))
        #expect(throws: IdentityError.self) { _ = try unsafe stranger.signer(key).sign(message.span.bytes) }
        // As it was kept by builds from before the first release: told, not guessed.
        let before = KeyRecord(
            publicKey: key.publicKey, place: .chip, handle: key.handle, secret: try SecretBytes(zeroed: 32))
        #expect(throws: IdentityError.self) { _ = try keys().signer(before) }
        for length in [0, 3, 19] {
            let short = KeyRecord(
                publicKey: key.publicKey, place: .chip, handle: Array(key.handle.prefix(length)),
                secret: try SecretBytes(zeroed: 0))
            #expect(throws: IdentityError.self) { _ = try keys().signer(short) }
        }
        // A key under the name of another, as a record that was put together by somebody would have it.
        let swapped = KeyRecord(
            publicKey: next.publicKey, place: .chip, handle: key.handle, secret: try SecretBytes(zeroed: 0))
        #expect(throws: IdentityError.self) { _ = try unsafe keys().signer(swapped).sign(message.span.bytes) }
        try chip.cutPower()
        try await home.rotate()
        try expectEmptyChip("after a power cut")
    }

    /// The lives of ``SimulationTests`` with keys in the chip: drops, duplicates, delays, kills at any write.
    @Test func noIdentityIsLost() async throws {
        let lives: UInt64 = TestRun.isSoak ? 100 : 4
        for life in 0..<lives {
            let seed = TestRun.seed &+ life
            try await SimulationTests.live(seed, seed % 2 == 0 ? .replays : .refuses, keys: keys())
        }
        try expectEmptyChip("after \(lives) lives")
    }
}

/// A keybag's part in it, as a test wants it. The real one: ``VaultIdentityTests``.
final class PlayedAuthority: KeyAuthority {
    private let keys: Mutex<[UInt32: UInt8]>
    private let seed: UInt8

    init(seed: UInt8 = 1) {
        self.seed = seed
        keys = Mutex([1: seed])
    }

    /// The vault gets new keys.
    func renew() { keys.withLock { $0[($0.keys.max() ?? 0) + 1] = seed } }

    /// And forgets the old ones.
    func forgetOlder() { keys.withLock { keys in keys = keys.filter { [last = keys.keys.max()] in $0.key == last } } }

    func epoch() throws -> UInt32 { keys.withLock { $0.keys.max() ?? 0 } }

    func authorisation(epoch: UInt32, key: [UInt8]) throws -> SecretBytes {
        guard let seed = keys.withLock({ $0[epoch] }) else {
            throw IdentityError(.keyUnavailable, "the vault has forgotten these keys")
        }
        let input = try SecretBytes(count: 32) { bytes in
            for index in 0..<32 {
                bytes.storeBytes(of: seed ^ UInt8(truncatingIfNeeded: epoch), toByteOffset: index, as: UInt8.self)
            }
        }
        return try unsafe HKDFSHA256.derive(input, salt: [UInt8]().span.bytes, info: key.span.bytes, count: 32)
    }
}
