/// What a share is called in its key store: the vault, and 16 random bytes. No name is ever used twice.
package struct ShareName: Sendable, Hashable {
    package static let size = 32
    package static let nonceSize = 16

    /// The vault that the share is of.
    package let vault: VaultID
    /// What tells this share from the vault's other ones.
    package let nonce: [UInt8]

    /// Nil unless the nonce has 16 bytes.
    package init?(vault: VaultID, nonce: [UInt8]) {
        guard nonce.count == ShareName.nonceSize else { return nil }
        self.vault = vault
        self.nonce = nonce
    }

    /// The 32 bytes.
    package var bytes: [UInt8] { vault.bytes + nonce }
}

/// Where a revocable share rests: what its key store finds it by, and what shows there that it is this one.
package struct ShareItem: Sendable, Hashable {
    /// An index of a TPM that holds the share.
    package struct Index: Sendable, Hashable {
        /// Its handle.
        package let handle: UInt32
        /// The chip's name of it, written: the digest of its public area.
        package let name: [UInt8]
        /// What the chip asks for, 32 random bytes.
        package let authorisation: [UInt8]

        package init(handle: UInt32, name: [UInt8], authorisation: [UInt8]) {
            self.handle = handle
            self.name = name
            self.authorisation = authorisation
        }
    }

    /// How the store finds it.
    package enum Place: Sendable, Hashable {
        /// In a TPM.
        case index(Index)
        /// In another store, by its name; and what implements that store, so that another one is not asked in its
        /// place.
        case named(KeyStoreKind, backend: String)
        /// Nowhere but in this process: an object that only the TPM opens that sealed it. No file has such a place.
        case sealed([UInt8])
    }

    static let indexNameSize = 34
    static let authorisationSize = 32
    static let maximumBackend = 128

    package let name: ShareName
    package let place: Place

    package init(_ name: ShareName, _ place: Place) {
        self.name = name
        self.place = place
    }

    /// The store that has it.
    package var store: KeyStoreKind {
        switch place {
        case .index, .sealed: .tpm
        case .named(let store, _): store
        }
    }

    /// Its bytes in a slot and in a note, without the store.
    package var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.append(name.bytes)
        switch place {
        case .index(let index):
            writer.integer(index.handle)
            writer.counted(index.name)
            writer.append(index.authorisation)
        case .named(_, let backend): writer.counted(Array(backend.utf8))
        case .sealed(let object): writer.append(object)
        }
        return writer.bytes
    }

    /// Reads ``encoded``, and nothing else.
    package init(_ store: KeyStoreKind, parsing bytes: [UInt8]) throws(FormatError) {
        var reader = ByteReader(bytes)
        guard let vault = VaultID(bytes: try reader.bytes(16)),
            let name = ShareName(vault: vault, nonce: try reader.bytes(ShareName.nonceSize))
        else { throw .wrongSize }
        self.name = name
        if store == .tpm {
            let handle = try reader.integer(UInt32.self)
            let index = try reader.counted(limit: ShareItem.indexNameSize, "share's index")
            guard index.count == ShareItem.indexNameSize else { throw .invalid(field: "share's index") }
            let authorisation = try reader.bytes(ShareItem.authorisationSize)
            place = .index(Index(handle: handle, name: index, authorisation: authorisation))
        } else {
            let backend = try reader.counted(limit: ShareItem.maximumBackend, "share's backend")
            // It is said to the user, and compared.
            guard backend.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw .invalid(field: "share's backend") }
            place = .named(store, backend: String(decoding: backend, as: UTF8.self))
        }
        try reader.expectEnd()
    }
}

/// The kinds of key stores, by the numbers that slots and notes have them under.
package enum KeyStoreKind: UInt8, Sendable, Hashable, CaseIterable {
    case tpm = 1
    case secretService = 2
    case file = 3
    case keychain = 4

    /// For people and JSON.
    package var name: String {
        switch self {
        case .tpm: "tpm"
        case .secretService: "secretService"
        case .file: "file"
        case .keychain: "keychain"
        }
    }

    /// For sentences.
    package var title: String {
        switch self {
        case .tpm: "the TPM"
        case .secretService: "the session's keyring"
        case .file: "the folder of key shares"
        case .keychain: "the keychain"
        }
    }

    /// Whether the store itself asks for the device's owner before it gives a share. Elsewhere only our own process
    /// stands in front of it.
    package var asksItsOwner: Bool { self == .keychain }
}
