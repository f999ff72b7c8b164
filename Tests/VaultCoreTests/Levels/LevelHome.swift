import Foundation
import SecretMemory
import Synchronization
import SystemCalls
import TestSupport
import VaultFormat
import VaultLog
import VaultStorage

@testable import DeviceOwner
@testable import KeyStores
@testable import VaultCore
@testable import VaultHeader

/// A key store and a floor in memory, which a test can stop, roll back, and look into at each call.
final class ModelStore: ShareStore, FloorStore {
    struct State: Sendable {
        var shares: [ShareName: [UInt8]] = [:]
        var floor: LevelFloor?
        var destructions: [FloorPlace: [UInt8]] = [:]
        /// Calls until one fails; nil for none.
        var failsIn: Int?
        var calls = 0
        var isAvailable = true
        var takesOwner = true
        /// Something that nobody understands lies in the floor's place.
        var isFloorStrange = false
    }

    let kind: KeyStoreKind
    let state = Mutex(State())
    /// Told before and after each call that changes something.
    let watch = Mutex<(@Sendable () -> Void)?>(nil)

    init(_ kind: KeyStoreKind = .ofThisSystem) { self.kind = kind }

    private static let down = ShareFailure.unavailable(.locked)

    private func enter() throws(ShareFailure) {
        let fails = state.withLock { state in
            state.calls += 1
            guard let left = state.failsIn else { return !state.isAvailable }
            state.failsIn = left - 1
            return left == 0 || !state.isAvailable
        }
        if fails { throw Self.down }
    }

    private func change(_ body: (inout State) -> Void) {
        watch.withLock { $0 }?()
        state.withLock { body(&$0) }
        watch.withLock { $0 }?()
    }

    func assurance(of rule: ShareRule) -> Assurance {
        switch rule {
        case .nobodyAsked: .none
        case .owner, .released: .presence
        }
    }

    func make(
        _ share: borrowing SecretBytes, as name: ShareName, under rule: ShareRule,
        note: (ShareItem) throws(ShareFailure) -> Void
    ) throws(ShareFailure) -> ShareItem {
        try enter()
        let item = ShareItem(name, .named(kind, backend: "model"))
        try note(item)
        try enter()
        let bytes = share.withBytes { $0.copied(0..<32) }
        guard state.withLock({ rule.replaces || $0.shares[name] == nil }) else { throw .nameTaken }
        change { $0.shares[name] = bytes }
        return item
    }

    func read(_ item: ShareItem, of vault: VaultID) throws(ShareFailure) -> SecretBytes {
        try enter()
        guard item.name.vault == vault else { throw .damaged }
        guard let bytes = state.withLock({ $0.shares[item.name] }) else { throw .lost(.notThere) }
        do { return try secret(bytes) } catch { throw Self.down }
    }

    func read(
        _ item: ShareItem, of vault: VaultID, after release: borrowing OwnerRelease
    ) throws(ShareFailure) -> SecretBytes {
        guard state.withLock({ $0.takesOwner }) else { throw .notConfirmed }
        return try read(item, of: vault)
    }

    func revoke(_ item: ShareItem, of vault: VaultID) throws(ShareFailure) -> Revocation {
        try enter()
        guard item.name.vault == vault else { return .anothers }
        change { $0.shares[item.name] = nil }
        return .gone
    }

    func probe() throws(ShareFailure) { try enter() }

    func content(of place: FloorPlace) throws(ShareFailure) -> [UInt8]? {
        try enter()
        return state.withLock { state in
            guard place.kind == .level else { return state.destructions[place] }
            return state.isFloorStrange ? [] : state.floor?.encoded
        }
    }

    func set(_ content: [UInt8], in place: FloorPlace) throws(ShareFailure) {
        try enter()
        change { state in
            guard place.kind == .level else { return state.destructions[place] = content }
            (state.floor, state.isFloorStrange) = (try? LevelFloor(parsing: content), false)
        }
    }

    func remove(_ place: FloorPlace) throws(ShareFailure) {
        try enter()
        change { state in
            guard place.kind == .level else { return state.destructions[place] = nil }
            state.floor = nil
        }
    }
}

/// A home whose vault may begin without a secret.
final class LevelHome: Sendable {
    private let folder: ScratchFolder
    let path: String
    let clock = TestClock()
    let store: ModelStore

    init(_ store: ModelStore = ModelStore()) throws {
        folder = try ScratchFolder()
        path = folder["home"]
        self.store = store
    }

    var settings: VaultSettings { settings(store) }

    func settings(_ store: ModelStore) -> VaultSettings {
        var settings = VaultSettings.costsForTests(clock: clock)
        settings.shareStores = { _ in ShareStores([store], floors: [store]) }
        settings.profile = .standard
        settings.inBackground = { $0() }
        return settings
    }

    func create() throws { try Vault.createAtDevice(at: path, settings: settings) }

    func open() throws -> Vault { try Vault(at: path, settings: settings) }

    /// A vault at the level of the device, open.
    func opened(_ settings: VaultSettings? = nil) throws -> Vault {
        try create()
        let vault = try Vault(at: path, settings: settings ?? self.settings)
        try vault.openByDevice()
        return vault
    }

    /// Another place of the scratch folder.
    func place(_ name: String) -> String { folder[name] }

    /// A copy of everything that is on the disk and in the store, as a power cut would leave it.
    struct Snapshot: Sendable {
        let path: String
        let state: ModelStore.State
    }

    func snapshot(_ name: String) -> Snapshot {
        let target = folder[name]
        try? FileManager.default.copyItem(atPath: path, toPath: target)
        return Snapshot(path: target, state: store.state.withLock { $0 })
    }

    /// Writes a genuine header, as someone with the open vault in hand could.
    func rewrite(_ change: (inout Header, borrowing SecretBytes) throws -> Void) throws {
        let vault = try open()
        var locked = try LockedHeader(in: HomeDirectory(path: path))
        let master = try vault.unwrapDevice(locked.header)
        let keys = try HeaderKeys(master: master, vault: locked.header.vault)
        var header = locked.header
        try change(&header, master)
        try locked.replace(header) { covered throws(VaultError) in try keys.mac(covered) }
    }

    /// A phrase of somebody who had the open vault in hand.
    func plant(_ phrase: RecoveryPhraseBox) throws {
        try rewrite { header, master in
            header.set(try Vault.recoverySlot(phrase.phrase, wrapping: master, header: header))
        }
    }

    func header() throws -> Header { try HeaderFile.read(in: HomeDirectory(path: path)) }
}

/// The release of an owner who was confirmed, as an authenticator gives it.
func release(_ step: OwnerStep = .devicePasscode, _ secret: [UInt8] = Array(0..<32)) throws -> OwnerRelease {
    OwnerRelease(step, try TestSupport.secret(secret))
}

extension LevelTarget {
    static func device() -> LevelTarget { LevelTarget(.device) }

    static func owner(_ secret: [UInt8] = Array(0..<32)) throws -> LevelTarget {
        var wish = LevelTarget(.owner)
        wish.owner = Owner([.devicePasscode], enrollment: nil, try release(.devicePasscode, secret))
        return wish
    }

    static func secret(_ passcode: String) throws -> LevelTarget {
        var wish = LevelTarget(.secret)
        wish.passcode = try TestSupport.secret(passcode)
        return wish
    }
}

/// What a test tries to open a vault with.
enum Way: CaseIterable {
    case device, owner, passcode

    /// Opens it, or says why not.
    func open(_ vault: Vault) -> VaultError? {
        do throws(any Error) {
            switch self {
            case .device: try vault.openByDevice()
            case .owner:
                vault.loadKeptOwner()
                try vault.unlock(release())
            case .passcode: try vault.unlock("right")
            }
            return nil
        } catch { return error as? VaultError ?? VaultError(any: error) }
    }
}

extension KeyStoreKind {
    #if canImport(Darwin)
    static let ofThisSystem = keychain
    static let ofAnotherSystem = secretService
    #else
    static let ofThisSystem = secretService
    static let ofAnotherSystem = keychain
    #endif
}
