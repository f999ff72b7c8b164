package import VaultFormat
package import VaultStorage

/// Something of an app that is destroyed together with the vault: a cache, a database of its own, items in a key store.
///
/// Given to the vault at every start, because the vault's journal holds its name only, never a place. A wipe that was
/// begun by a program without it waits for the next start of one that has it.
public protocol WipeTarget: Sendable {
    /// Names the target for good: lower-case letters, digits and hyphens, at least one dot, at most 64 bytes, as
    /// `org.example.notes.cache`.
    var identifier: String { get }

    /// Erases it. Called again at each start until it succeeds, and after a crash in its middle.
    /// - Returns: How many things were erased; shown in the receipt.
    func erase() throws -> Int

    /// Looks whether anything is left; asked after everything was erased.
    func isErased() throws -> Bool
}

extension WipeTargetID {
    /// The names of what apps register.
    /// - Throws: `invalidName` for an identifier that no target may have, or two alike.
    package static func all(of targets: [any WipeTarget]) throws(VaultError) -> [WipeTargetID] {
        var ids: [WipeTargetID] = []
        for target in targets {
            guard let id = WipeTargetID(target.identifier), id.isOfApp, !ids.contains(id) else {
                throw VaultError(
                    .invalidName, "a wipe target's identifier is not like org.example.cache, or is there twice")
            }
            ids.append(id)
        }
        guard ids.count <= WipeJournal.maximumItems / 2 else {
            throw VaultError(.invalidName, "there are too many wipe targets")
        }
        return ids
    }
}
