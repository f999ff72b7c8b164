internal import Holdfast
internal import Observation
internal import SystemCalls

/// A backup that becomes a vault: in a folder of its own, never in the place of another vault. Nothing is decrypted.
@MainActor @Observable
package final class RestoreModel {
    /// How far it is.
    package enum Step: Sendable, Hashable {
        /// Backup and folder are chosen.
        case choosing
        /// So many bytes are copied, of so many; 0 of 0 until both are known.
        case copying(done: UInt64, total: UInt64)
        /// The vault is there. Attempts are as they were at the backup: how many are left, where some were used up.
        case restored(attemptsLeft: Int?)
        /// Nothing is there.
        case failed(Failure)
    }

    /// Why nothing was restored.
    package enum Failure: Sendable, Hashable {
        /// There is no backup in the folder that was chosen.
        case noBackup
        /// The backup is not what was written.
        case damaged
        /// There is something in the folder that the vault was to be in.
        case exists
        /// Anything else.
        case other(VaultProblem)
    }

    /// How far it is.
    package private(set) var step = Step.choosing
    /// The backup; nil until it was chosen.
    package private(set) var source: String?
    /// The folder that the vault will be in, or is.
    package private(set) var target: String

    /// - Parameter home: The usual folder, which is proposed where nothing is in it, or else one beside it.
    package init(near home: String) { target = RestoreModel.free(near: home) }

    /// Whether a backup is being copied.
    package var isCopying: Bool { if case .copying = step { true } else { false } }

    /// Takes the backup in this folder, or the newest one of several in it.
    package func take(_ folder: String) {
        guard !isCopying else { return }
        source = RestoreModel.backup(in: folder) ?? folder
        step = .choosing
    }

    /// Takes the folder that the vault will be in.
    package func put(in folder: String) {
        guard !isCopying else { return }
        target = folder
        step = .choosing
    }

    /// Chooses again.
    package func goBack() { if case .failed = step { step = .choosing } }

    /// Copies the backup, and compares each byte with what was written; returns when it is done.
    package func restore() async {
        guard case .choosing = step, let source else { return }
        step = .copying(done: 0, total: 0)
        step = await showingSteps { [weak self] next in
            if let self, isCopying { step = next }
        } of: { [target] telling in
            await RestoreModel.restore(source, to: target, telling)
        }
    }

    /// The backup that a folder is, or the newest one of several in it; nil where there is none.
    package nonisolated static func backup(in folder: String) -> String? {
        if isThere(folder + "/" + BackupManifest.fileName) { return folder }
        return Vault.newestGeneration(in: folder, at: WallClock.milliseconds / 1000)
    }

    @concurrent
    private nonisolated static func restore(
        _ source: String, to target: String, _ steps: AsyncStream<Step>.Continuation
    ) async -> Step {
        do throws(VaultError) {
            _ = try Vault.restore(from: source, to: target) { done, total in
                steps.yield(.copying(done: done, total: total))
            }
            // The vault is there whether or not its count can be read now.
            let status = try? Vault(at: target).status()
            return .restored(attemptsLeft: status.flatMap { $0.refusedAttempts > 0 ? $0.remainingAttempts : nil })
        } catch {
            switch error.code {
            case .noBackup: return .failed(.noBackup)
            case .damaged: return .failed(.damaged)
            case .exists: return .failed(.exists)
            default: return .failed(.other(VaultProblem(error)))
            }
        }
    }

    /// The first of `home`, `home-2`, `home-3` ... where nothing is, or an empty folder.
    private nonisolated static func free(near home: String) -> String {
        var home = home
        while home.utf8.count > 1, home.hasSuffix("/") { home.removeLast() }
        var (path, number) = (home, 1)
        while !isEmpty(path) {
            number += 1
            path = "\(home)-\(number)"
        }
        return path
    }
}

private func isThere(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

private func isEmpty(_ path: String) -> Bool {
    guard isThere(path) else { return true }
    guard let folder = unsafe opendir(path) else { return false }
    defer { unsafe closedir(folder) }
    var names = 0
    while unsafe readdir(folder) != nil { names += 1 }
    return names <= 2  // the folder itself and the one above it
}
