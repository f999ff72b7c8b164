internal import Holdfast
internal import SystemCalls

extension VaultModel {
    /// Its name among the user interfaces' own records.
    private nonisolated static let usesRecord = "recent"
    /// A path is written with escapes: this is more than so many of them need, but for names that nobody has.
    private nonisolated static let largestUses = 1 << 20

    /// Remembers that an item was opened now, for ``VaultOrder/used``. It is stored a moment later, so that looking
    /// through many is one change of the vault.
    package func noteUse(of id: VaultItem.ID) {
        uses.note(id, at: WallClock.milliseconds)
        if order == .used { sort() }
        storingUses.replace(after: .seconds(2)) { [weak self] in Task { await self?.storeUses() } }
    }

    /// Stores what ``noteUse(of:)`` remembered. What cannot be stored is lost with the process: it is only an order.
    package func storeUses() async {
        storingUses.replace(with: nil)
        guard !lock.isLocked, knowsUses else { return }
        // Names of what is gone are not kept.
        uses.keep(Set(all.map(\.id)))
        await VaultModel.write(uses, to: vault)
    }

    @concurrent
    nonisolated static func uses(in vault: Vault) async -> RecentUses {
        let read = try? vault.withValue(for: usesRecord, in: PreferencesModel.collection) { bytes in
            guard bytes.byteCount <= largestUses, bytes.isReadableText else { return RecentUses() }
            return RecentUses(parsing: unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) })
        }
        return read ?? RecentUses()
    }

    @concurrent
    private nonisolated static func write(_ uses: RecentUses, to vault: Vault) async {
        let bytes = Array(uses.text.utf8)
        guard bytes.count <= largestUses else { return }
        try? vault.put(
            bytes: unsafe bytes.span.bytes, for: usesRecord, in: PreferencesModel.collection, replacing: true)
    }
}
