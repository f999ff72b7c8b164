package import VaultFormat

/// What a store answered about a floor.
package enum FloorAnswer<Floor: RememberedFloor>: Sendable, Hashable {
    /// The store was asked and has none.
    case none
    case floor(Floor)
    /// There is one that cannot be understood or read: another program wrote it, or a newer one of ours. It is no
    /// reason to let a vault in, or to destroy one.
    case unreadable

    package init(_ bytes: [UInt8]?) {
        guard let bytes else {
            self = .none
            return
        }
        do throws(FormatError) { self = .floor(try Floor(parsing: bytes)) } catch { self = .unreadable }
    }
}

/// A store of floors (vault-format.md 23): what is remembered of a vault outside of every home. The file tier has none.
package protocol FloorStore: Sendable {
    /// What lies in a place; nil where the store was asked and has nothing, no bytes where what it has cannot be read.
    /// - Throws: ``ShareFailure`` when it could not be read, which is not the same as none.
    func content(of place: FloorPlace) throws(ShareFailure) -> [UInt8]?
    /// Puts a floor in the place of whatever was there; durable when it returns.
    /// - Parameter content: As many bytes as a floor has.
    /// - Throws: ``ShareFailure``; what was there before is then still there.
    func set(_ content: [UInt8], in place: FloorPlace) throws(ShareFailure)
    /// Forgets a floor; succeeds if it does not exist.
    /// - Throws: ``ShareFailure``.
    func remove(_ place: FloorPlace) throws(ShareFailure)
}

extension FloorStore {
    /// The floor of a profile.
    /// - Throws: As ``content(of:)``.
    package func floor(of profile: FloorProfile) throws(ShareFailure) -> FloorAnswer<LevelFloor> {
        FloorAnswer(try content(of: profile.place))
    }

    /// - Throws: As ``set(_:in:)``.
    package func set(_ floor: LevelFloor, of profile: FloorProfile) throws(ShareFailure) {
        try set(floor.encoded, in: profile.place)
    }

    /// - Throws: As ``remove(_:)``.
    package func removeFloor(of profile: FloorProfile) throws(ShareFailure) { try remove(profile.place) }

    /// What is remembered of a home's self-destruct. Another vault's is `unreadable`.
    /// - Throws: As ``content(of:)``.
    package func destruction(of owner: HardwareOwner) throws(ShareFailure) -> FloorAnswer<DestructionFloor> {
        let answer = FloorAnswer<DestructionFloor>(try content(of: owner.destructionPlace))
        guard case .floor(let floor) = answer, floor.vault != owner.vault else { return answer }
        return .unreadable
    }

    /// Remembers that a home's vault destroys itself.
    /// - Throws: As ``set(_:in:)``.
    package func setDestruction(limit: Int, of owner: HardwareOwner) throws(ShareFailure) {
        try set(DestructionFloor(owner.vault, limit: limit).encoded, in: owner.destructionPlace)
    }

    /// - Throws: As ``remove(_:)``.
    package func removeDestruction(of owner: HardwareOwner) throws(ShareFailure) {
        try remove(owner.destructionPlace)
    }
}
