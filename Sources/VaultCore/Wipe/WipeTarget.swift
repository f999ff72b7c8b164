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
