package import VaultFormat

/// Which collections an unlock reaches: it must prove what they ask for at least.
///
/// A rule enforced by code, not by a separate key: someone with the passcode and another program can read them all.
package struct Admission: Sendable, Hashable {
    /// What the unlock proved.
    package let assurance: Assurance
    /// Collections that ask for more, and for how much. Almost always empty.
    package let shut: [String: Assurance]

    /// - Parameters:
    ///   - assurance: What the unlock proved.
    ///   - policy: Minima of the authenticated header.
    ///   - settings: Minima of the app's own code; of two the stricter one holds.
    package init(_ assurance: Assurance, policy: [String: Assurance], settings: [String: Assurance]) {
        self.assurance = assurance
        shut = policy.merging(settings, uniquingKeysWith: max).filter { $0.value > assurance }
    }

    /// What the name of a reserved collection begins with.
    package static var reservedPrefix: UInt8 { 0 }

    /// Whether a collection is not the user's: neither read, written, listed nor removed by name, and no place for what
    /// came from the open compartment.
    package static func isReserved(_ collection: String) -> Bool { collection.utf8.first == reservedPrefix }

    /// Whether a record's name is one that only items in the trash have.
    package static func isReservedName(_ name: String) -> Bool { name.utf8.first == reservedPrefix }

    /// For a collection named by a caller.
    /// - Throws: `assuranceTooLow`; `reservedCollection` for one of the vault's own, whoever names it.
    @inline(__always)
    package func check(_ collection: String) throws(VaultError) {
        if Admission.isReserved(collection) { throw .reservedCollection }
        try check(reserved: collection)
    }

    /// As ``check(_:)``, for a collection of our own where `reserved` says so.
    @inline(__always)
    package func check(_ collection: String, reserved: Bool) throws(VaultError) {
        if reserved { try check(reserved: collection) } else { try check(collection) }
    }

    /// For a collection of our own.
    /// - Throws: `assuranceTooLow`.
    @inline(__always)
    package func check(reserved collection: String) throws(VaultError) {
        if !shut.isEmpty { try refuse(collection) }
    }

    @inline(never)
    private func refuse(_ collection: String) throws(VaultError) {
        // Texts that Unicode holds for the same share a minimum, though they are different collections.
        if let needed = shut[collection] { throw .assuranceTooLow(needed: needed, given: assurance) }
    }
}

extension VaultError {
    package static func assuranceTooLow(needed: Assurance, given: Assurance) -> VaultError {
        var error = VaultError(
            .assuranceTooLow,
            "this collection needs an unlock that is \(needed.words); this one is \(given.words)")
        error.neededAssurance = needed
        return error
    }
}

extension VaultError.Code {
    /// The collection is Holdfast's own; nothing in it is read or written by name.
    public static let reservedCollection = VaultError.Code(.reservedCollection)
}

extension VaultError {
    static let reservedCollection = VaultError(
        .reservedCollection,
        "a collection whose name begins with a zero byte is Holdfast's own; it is not read or written by name")
}
