import BetterAuth
import BetterAuthMessages
import BetterAuthServer
import Foundation
import Holdfast
import KeyStores
import RealParts
import Synchronization
import TestSupport
import Testing

/// An identity in a real vault, against the real server logic: what needs its owner, and for which server its keys
/// sign.
@Suite struct VaultIdentityTests {
    private let folder = NSTemporaryDirectory() + "holdfast-identity-\(UUID().uuidString.prefix(8))"
    private let world: World
    private let vault: Vault
    private let phrase: PhraseBox
    private let clock = TestClock()

    private final class PhraseBox: Sendable {
        let phrase: RecoveryPhrase
        init(_ phrase: consuming RecoveryPhrase) { self.phrase = phrase }
    }

    init() throws {
        world = try World(seed: 9)
        let settings = VaultSettings.costsForTests(clock: clock)
        let passcode = try secret("right")
        phrase = PhraseBox(try Vault.create(at: folder, passcode: passcode, settings: settings))
        vault = try Vault(at: folder, settings: settings)
        try vault.unlock(passcode: passcode, spending: vault.burnAttempt())
    }

    private func prove() throws -> Proof {
        let passcode = try secret("right")
        return try vault.prove(passcode: passcode, spending: vault.burnAttempt())
    }

    private func identity(
        at server: String = "https://auth.example", chip: (any SigningKeyStore)? = nil,
        sent: @escaping @Sendable (String) -> Void = { _ in }
    ) throws -> VaultIdentity {
        let clock = world.clock
        let network = HookedNetwork(world: world) { request, deliver in
            sent(request.path)
            return deliver()
        }
        return try VaultIdentity(
            in: vault, keys: ChipDeviceKeys(chip, authority: VaultKeyAuthority(vault)), transport: network,
            server: ServerAddress(server), trust: .pinned([world.responseKey.publicKey]), now: { clock.now })
    }

    @Test func aProofAllowsOneChangeEach() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let identity = try identity()
        let account = try await identity.createAccount(recovery: recoveryHash().1)
        _ = try await identity.openSession()
        try await identity.rotate()
        let (_, next) = try recoveryHash()
        try await identity.changeRecovery(to: next, proof: prove())
        #expect(try await identity.credentials().account?.recoveryHashes == [next])
        let laptop = try client(world, SimulatedStore())
        let text = try await laptop.makeLinkText(for: account.identity)
        let device = try await identity.link(text, proof: prove())
        try await identity.unlink(device, proof: vault.prove(phrase: phrase.phrase))
        try await identity.replaceFirstKey(proof: prove())
        try await identity.deleteAccount(proof: prove())
        #expect(try await identity.status().state == .ready)
    }

    /// Too old, earlier or a lock: nothing is sent.
    @Test func aProofThatIsOverAllowsNothing() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let sent = Mutex(0)
        let identity = try identity { _ in sent.withLock { $0 += 1 } }
        let account = try await identity.createAccount(recovery: recoveryHash().1)
        let before = (try await identity.status(), sent.withLock { $0 })
        let old = ProofCarrier(try prove())
        clock.advance(milliseconds: 61_000)
        #expect(await code { try await identity.deleteAccount(proof: old.take()) } == .proofExpired)
        let ofBefore = ProofCarrier(try prove())
        vault.lock()
        let passcode = try secret("right")
        try vault.unlock(passcode: passcode, spending: vault.burnAttempt())
        #expect(await code { try await identity.unlink(account.device, proof: ofBefore.take()) } == .proofExpired)
        #expect(await code { try await identity.erase(proof: expired()) } == .proofExpired)
        #expect(await code { try await identity.moveServer(proof: expired()) } == .proofExpired)
        #expect(await code { try await identity.replaceFirstKey(proof: expired()) } == .proofExpired)
        #expect(
            await code { try await identity.changeRecovery(to: recoveryHash().1, proof: expired()) } == .proofExpired)
        #expect(await code { _ = try await identity.link("", proof: expired()) } == .proofExpired)
        #expect(sent.withLock { $0 } == before.1)
        #expect(try await identity.status() == before.0)
    }

    private func expired() throws -> Proof {
        let proof = try prove()
        clock.advance(milliseconds: 60_001)
        return proof
    }

    /// Who may name any server could take a rotation and give it to the real one as the end of the account: the bytes
    /// are the same and the path is not signed. The attack, and that it does not come so far.
    @Test func aRotationIsAsGoodAsADeletion() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let real = try identity()
        let account = try await real.createAccount(recovery: recoveryHash().1)

        // With the bare client, which knows of no such rule.
        let bare = SimulatedStore()
        let caught = Mutex<[UInt8]>([])
        let robbed = try client(
            world, bare,
            hook: { request, deliver in
                guard request.path == RotateDevice.path else { return deliver() }
                caught.withLock { $0 = request.body ?? [] }
                throw TransportError.unreachable("kept by the other server")
            })
        let victim = try await robbed.createAccount(recovery: recoveryHash().1)
        _ = await code { try await robbed.rotate() }
        _ = world.deliver(DeleteAccount.path, caught.withLock { $0 })
        #expect(try world.store.account(victim.identity)?.isDeleted == true)

        let sent = Mutex(0)
        let evil = try identity(at: "https://evil.example") { _ in sent.withLock { $0 += 1 } }
        #expect(await code { try await evil.rotate() } == .otherServer)
        #expect(await code { _ = try await evil.openSession() } == .otherServer)
        #expect(await code { _ = try await evil.refreshSession() } == .otherServer)
        #expect(await code { try await evil.settle() } == .otherServer)
        #expect(await code { try await evil.endSession() } == .otherServer)
        #expect(await code { _ = try await evil.createAccount(recovery: recoveryHash().1) } == .otherServer)
        let key = try recoveryHash().0
        #expect(
            await code {
                _ = try await evil.recoverAccount(account.identity, with: key, successor: recoveryHash().1)
            } == .otherServer)
        #expect(await code { _ = try await evil.makeLinkText(for: account.identity) } == .otherServer)
        #expect(await code { try await evil.unlink(account.device, proof: prove()) } == .otherServer)
        #expect(sent.withLock { $0 } == 0)
        #expect(try await real.credentials().server == "https://auth.example")
        try await real.rotate()

        try await evil.moveServer(proof: prove())
        try await evil.rotate()
        #expect(await code { try await real.rotate() } == .otherServer)
    }

    /// The vault gets new keys: the next session brings keys of the device into use that no old copy knows.
    @Test func newKeysOfTheVaultMakeNewKeysOfTheDevice() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let identity = try identity()
        _ = try await identity.createAccount(recovery: recoveryHash().1)
        let before = try await identity.credentials()
        #expect(try !VaultIdentity.isRotationDue(before, in: vault))
        let passcode = try secret("right")
        try vault.rekey(
            passcode: passcode, spending: vault.burnAttempt(), newPasscode: passcode, phrase: phrase.phrase,
            isNewPhrase: false)
        try vault.finishRekey()
        let isDue = try await VaultIdentity.isRotationDue(identity.credentials(), in: vault)
        _ = try await identity.openSession()
        let after = try await identity.credentials()
        #expect(try !VaultIdentity.isRotationDue(after, in: vault))
        let (old, new) = (try #require(before.account), try #require(after.account))
        let names = [old.current, old.next, new.current, new.next].map(\.publicKey)
        #expect(isDue && Set(names).count == 4)
        // What the old ones hung on is forgotten, and the vault continues.
        let epoch = try vault.identityEpoch
        let error = #expect(throws: VaultError.self) {
            _ = try vault.identityAuthorisation(epoch: epoch - 1, key: [UInt8](repeating: 1, count: 16))
        }
        #expect(error?.code == .keysChanged)
        vault.lock()
        try vault.unlock(passcode: passcode, spending: vault.burnAttempt())
        _ = try await identity.openSession()
    }
}
