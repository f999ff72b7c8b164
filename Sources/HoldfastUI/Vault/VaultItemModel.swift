internal import Holdfast
internal import Observation

/// One item on the screen: shown for a while when its owner asks for it, in locked memory, and gone when the lock
/// falls.
@MainActor @Observable
package final class VaultItemModel {
    /// What a value is.
    package enum Content: Sendable, Hashable {
        /// It was not looked at.
        case hidden
        /// Text of so many lines; ``withText(_:)`` lends it.
        case text(lines: Int)
        /// Bytes that are no text; they can be saved as a file.
        case binary
    }

    /// The item.
    package let item: VaultItem
    /// What can be shown now.
    package private(set) var content = Content.hidden
    /// What kept it from being read.
    package private(set) var problem: VaultProblem?

    @ObservationIgnored private let lock: LockModel
    @ObservationIgnored private let hidesAfter: UInt32
    @ObservationIgnored private var value: SecretBytes?
    @ObservationIgnored private let hiding = OneTask()

    init(_ item: VaultItem, _ lock: LockModel, hidesAfter: UInt32) {
        self.item = item
        self.lock = lock
        self.hidesAfter = hidesAfter
        lock.onLock { [weak self] in self?.hide() }
    }

    /// Whether the value is small enough to be looked at.
    package var canBeShown: Bool { !item.isFile }

    /// Reads the value, to be shown for a while.
    package func reveal() async {
        guard canBeShown else { return problem = .tooLarge }
        problem = nil
        do throws(VaultError) {
            let bytes = try await VaultItemModel.read(lock.app.vault, item.id)
            // Locked while it was read: it is not shown, and what came is wiped here.
            guard !lock.isLocked else { return }
            content = bytes.withBytes { $0.isReadableText ? .text(lines: $0.lineCount) : .binary }
            value = consume bytes
        } catch { return problem = VaultProblem(error) }
        hiding.replace(after: .seconds(hidesAfter)) { [weak self] in self?.hide() }
    }

    /// Hides the value and wipes it.
    package func hide() {
        value = nil
        content = .hidden
        hiding.replace(with: nil)
    }

    /// Lends the value while it is shown; nil when it is not.
    package func withText<R>(_ body: (RawSpan) -> R) -> R? {
        switch value {
        case .none: nil
        case .some(let bytes): bytes.withBytes { body($0) }
        }
    }

    /// Lends the value for the clipboard or an editor, without showing it.
    /// - Returns: Nil when it cannot be read; ``problem`` says why.
    package func withCopy<R>(_ body: @MainActor (RawSpan) -> R) async -> R? {
        guard canBeShown else {
            problem = .tooLarge
            return nil
        }
        problem = nil
        do throws(VaultError) {
            let bytes = try await VaultItemModel.read(lock.app.vault, item.id)
            guard !lock.isLocked else { return nil }
            return bytes.withBytes { body($0) }
        } catch {
            problem = VaultProblem(error)
            return nil
        }
    }

    @concurrent
    private nonisolated static func read(
        _ vault: Vault, _ id: VaultItem.ID
    ) async throws(VaultError) -> SecretBytes {
        do {
            return try vault.value(for: id.name, in: id.collection)
        } catch { throw VaultError(any: error) }
    }
}
