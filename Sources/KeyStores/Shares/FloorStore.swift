package import VaultFormat

/// What a store answered about a profile's floor.
package enum FloorAnswer: Sendable, Hashable {
    /// The store was asked and has none.
    case none
    case floor(LevelFloor)
    /// There is one that cannot be understood or read: another program wrote it, or a newer one of ours. It is no reason to
    /// let a vault in.
    case unreadable

    init(_ bytes: [UInt8]) {
        do throws(FormatError) { self = .floor(try LevelFloor(parsing: bytes)) } catch { self = .unreadable }
    }
}

/// A store of floors (vault-format.md 5): what is remembered of a profile outside of every home. The file tier has none.
package protocol FloorStore: Sendable {
    var kind: KeyStoreKind { get }
    /// - Parameter profile: The caller's word; never a path.
    /// - Throws: ``ShareFailure`` when it could not be read, which is not the same as none.
    func floor(of profile: FloorProfile) throws(ShareFailure) -> FloorAnswer
    /// Puts a floor in the place of whatever was there; durable when it returns.
    /// - Throws: ``ShareFailure``.
    func set(_ floor: LevelFloor, of profile: FloorProfile) throws(ShareFailure)
    /// Forgets a floor; one that is not there is fine.
    /// - Throws: ``ShareFailure``.
    func removeFloor(of profile: FloorProfile) throws(ShareFailure)
}
