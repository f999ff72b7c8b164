package import DeviceOwner
package import KeyStores
internal import SecretMemory
internal import SystemCalls
package import VaultCore
package import VaultHeader
package import VaultFormat
internal import VaultStorage

/// A floor in a file beside the home, for the tests: the tier of files has none.
package struct FileFloor: FloorStore {
    private let path: String

    package init(_ path: String) { self.path = path }

    package func content(of place: FloorPlace) throws(ShareFailure) -> [UInt8]? {
        let path = path(place)
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: FloorSize.bytes)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress, $0.count) }
        return count == bytes.count ? bytes : []
    }

    /// Renamed into its place, so that a kill leaves the one before or the one after.
    package func set(_ content: [UInt8], in place: FloorPlace) throws(ShareFailure) {
        let path = path(place)
        let part = path + ".part"
        let file = unsafe open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .unavailable(.locked) }
        defer { close(file) }
        guard unsafe write(file, content, content.count) == content.count, fsync(file) == 0,
            unsafe rename(part, path) == 0
        else { throw .unavailable(.locked) }
    }

    package func remove(_ place: FloorPlace) throws(ShareFailure) { unsafe unlink(path(place)) }

    private func path(_ place: FloorPlace) -> String {
        place.kind == .level ? path : path + "." + place.kind.rawValue
    }
}

/// The device's owner, who always confirms.
package struct WillingOwner: OwnerBackend {
    package let step = OwnerStep.devicePasscode
    package let hasEnrollment = false

    package func capability() -> OwnerCapability { .available }
    package func enrollment() -> OwnerEnrollment? { nil }
    package func confirm(
        _ conversation: any OwnerConversation, until deadline: UInt64, onNonMatch: () -> Bool
    ) -> OwnerVerdict { .confirmed }

    private final class Silent: OwnerConversation {
        let cancellation = Cancellation()
        func show(_ guidance: OwnerGuidance) {}
        func expect(_ finger: OwnerFinger) {}
        func ask(_ prompt: OwnerPrompt) -> SecretBytes? { nil }
    }

    /// The release of a vault's own way in, or one that was drawn for a new one.
    package static func release(_ keeper: OwnerKeeper) throws -> OwnerRelease {
        switch OwnerAuthenticator([WillingOwner()]).confirm(.devicePasscode, keeper: keeper, Silent()) {
        case .released(let release): return release
        default: throw VaultError(VaultError.Code(.notConfirmed), "the test's owner has no way in")
        }
    }

    /// For a new way in.
    package static func anew() throws -> OwnerRelease {
        let keeper = OwnerKeeper()
        let bytes = [UInt8](repeating: 7, count: 32)
        keeper.arm(try unsafe SecretBytes(copying: bytes.span.bytes))
        return try release(keeper)
    }
}

/// Moves of the level, one after the other: all six.
package enum Moves {
    /// The level after each move; the first move begins at the last of them.
    package static let levels: [VaultLevel] = [.owner, .device, .secret, .owner, .secret, .device]

    /// The level before a move, by its number.
    package static func before(_ number: Int) -> VaultLevel { levels[(number + levels.count - 1) % levels.count] }

    /// The level after it.
    package static func after(_ number: Int) -> VaultLevel { levels[number % levels.count] }

    /// Of a home whose shares lie in files, and its floor in another one.
    package static func settings(_ home: String, _ clock: FileClock) -> VaultSettings {
        var settings = VaultSettings.costsForTests(clock: clock)
        settings.shareStores = { ShareStores([FileShares(in: $0 + "/shares")], floors: [FileFloor($0 + "-floor")]) }
        settings.profile = .standard
        settings.inBackground = { $0() }
        return settings
    }

    package static func create(_ home: String, _ clock: FileClock) throws {
        try Vault.createAtDevice(at: home, settings: settings(home, clock))
    }

    package static func vault(_ home: String, _ clock: FileClock) throws -> Vault {
        try Vault(at: home, settings: settings(home, clock))
    }

    /// Opens a vault in the way of a level.
    package static func open(_ vault: Vault, _ level: VaultLevel) throws {
        switch level {
        case .device: try vault.openByDevice()
        case .owner:
            vault.loadKeptOwner()
            try vault.unlock(WillingOwner.release(vault.ownerKeeper))
        case .secret: try vault.unlock(0)
        }
    }

    /// Endless moves, with what is stored moved to the new keys after each.
    ///
    /// Lines: `begin move N`, `done`, `begin finish`, `done`.
    static func endless(_ home: String, _ clock: FileClock, from first: Int) throws {
        let vault = try vault(home, clock)
        try open(vault, before(first))
        if try vault.isRekeyUnfinished { Report.step("finish") { try vault.finishRekey() } }
        var number = first
        while true {
            let (from, to) = (before(number), after(number))
            guard Report.step("move \(number)", { try move(vault, from, to) }) else { return }
            guard Report.step("finish", { try vault.finishRekey() }) else { return }
            number += 1
        }
    }

    private static func move(_ vault: Vault, _ from: VaultLevel, _ to: VaultLevel) throws {
        let proof: Proof =
            switch from {
            case .device: try vault.proveNobody()
            case .owner: try vault.prove(WillingOwner.release(vault.ownerKeeper))
            case .secret: try vault.prove(passcode: Known.passcode(0), spending: vault.burnAttempt())
            }
        var wish = LevelTarget(to)
        switch to {
        case .device: break
        case .owner: wish.owner = LevelTarget.Owner([.devicePasscode], enrollment: nil, try WillingOwner.anew())
        case .secret: wish.passcode = try Known.passcode(0)
        }
        try vault.change(to: wish, proving: proof)
    }
}
