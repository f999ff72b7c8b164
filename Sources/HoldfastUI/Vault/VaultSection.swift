package import Holdfast

/// A part of the vault that a sidebar leads to. The trash is none: it is read by ``VaultModel/loadTrash()``.
package enum VaultSection: Sendable, Hashable {
    /// Everything.
    case all
    /// What is shown first.
    case favourites
    /// Items of one kind; plain values and files count as ``VaultFormat/ItemKind/value`` and
    /// ``VaultFormat/ItemKind/file``.
    case kind(ItemKind)
    /// One collection.
    case collection(String)
    /// Items with this tag.
    case tag(String)

    /// A section and how many items are in it.
    package struct Entry: Sendable, Hashable {
        /// The section.
        package let section: VaultSection
        /// Items in it.
        package let count: Int
    }

    func contains(_ item: VaultItem) -> Bool {
        switch self {
        case .all: true
        case .favourites: item.isFavourite
        case .kind(let kind): item.kind == kind
        case .collection(let name): item.collection == name
        case .tag(let tag): item.tags.contains(tag)
        }
    }

    /// The order in which kinds are listed; those of newer programs come last.
    private static let kinds: [ItemKind] = [
        .login, .note, .card, .identity, .sshKey, .oneTimeCode, .file, .value,
    ]

    /// Everything first; a section that nothing is in is left out, and so are kinds where all is of one.
    static func entries(of items: [VaultItem], _ collections: [VaultCollection]) -> [Entry] {
        var kinds: [ItemKind: Int] = [:]
        var tags: [String: Int] = [:]
        for item in items {
            if let kind = item.kind { kinds[kind, default: 0] += 1 }
            for tag in item.tags { tags[tag, default: 0] += 1 }
        }
        var entries = [Entry(section: .all, count: items.count)]
        let favourites = items.count(where: \.isFavourite)
        if favourites > 0 { entries.append(Entry(section: .favourites, count: favourites)) }
        if kinds.count > 1 {
            let rest = kinds.keys.filter { !VaultSection.kinds.contains($0) }.sorted { $0.rawValue < $1.rawValue }
            for kind in VaultSection.kinds + rest {
                if let count = kinds[kind] { entries.append(Entry(section: .kind(kind), count: count)) }
            }
        }
        // Where nothing has a folder, there are none to choose from.
        let folders = collections.map(\.name) == [Vault.defaultCollection] ? [] : collections
        entries += folders.map { Entry(section: .collection($0.name), count: $0.count) }
        entries += tags.sorted { $0.key < $1.key }.map { Entry(section: .tag($0.key), count: $0.value) }
        return entries
    }
}

/// What is known of an item beside its name, without any value.
struct ItemLabels: Sendable, Hashable {
    let kind: ItemKind
    let isFavourite: Bool
    let tags: [String]
    let user: String
    let changed: Int64
}

extension VaultItem {
    mutating func label(_ labels: ItemLabels?) {
        (kind, isFavourite, tags) = (labels?.kind, labels?.isFavourite ?? false, labels?.tags ?? [])
        (user, changed) = (labels?.user ?? "", labels?.changed ?? modified)
    }
}

extension VaultModel {
    @concurrent
    nonisolated static func labels(of store: ItemStore) async -> Result<[VaultItem.ID: ItemLabels], VaultError> {
        Result { () throws(VaultError) in
            var labels: [VaultItem.ID: ItemLabels] = [:]
            for item in try store.list() {
                labels[VaultItem.ID(collection: item.collection, name: item.name)] = ItemLabels(
                    kind: item.kind ?? (item.isFile ? .file : .value), isFavourite: item.isFavourite, tags: item.tags,
                    user: item.user, changed: item.modified)
            }
            return labels
        }
    }
}
