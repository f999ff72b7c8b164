/// How much the open compartment takes.
package struct OpenQuota: Sendable, Hashable {
    /// Bytes of the database's pages.
    package var bytes: Int
    /// Number of items.
    package var items: Int

    /// 16 MiB and 10,000 items.
    package static let standard = OpenQuota(bytes: 16 << 20, items: 10_000)
    /// What may be asked for at most.
    package static let largest = OpenQuota(bytes: 32 << 20, items: 20_000)

    /// Cut to ``largest`` where it is set.
    package init(bytes: Int, items: Int) {
        self.bytes = bytes
        self.items = items
    }

    package var capped: OpenQuota {
        OpenQuota(
            bytes: min(max(0, bytes), OpenQuota.largest.bytes), items: min(max(0, items), OpenQuota.largest.items))
    }
}
