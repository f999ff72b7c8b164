package import VaultFormat

/// The stores that a caller lets shares rest in, best first, and the floors in them.
package struct ShareStores: Sendable {
    private let stores: [any ShareStore]
    private let floorStores: [any FloorStore]
    /// Where no share is made, and those that are there are read and revoked.
    private let older: [any ShareStore]

    /// - Parameters:
    ///   - stores: Best first.
    ///   - floors: Best first.
    ///   - older: Stores that only give and revoke what they have.
    package init(_ stores: [any ShareStore], floors: [any FloorStore], reading older: [any ShareStore] = []) {
        self.stores = stores
        self.older = older
        floorStores = floors
    }

    /// The same, where shares in the files of a folder are read and revoked. None is made there.
    package func reading(filesIn folder: String) -> ShareStores {
        ShareStores(stores, floors: floorStores, reading: older + [FileShares(in: folder)])
    }

    /// The best one in which a share could be kept now.
    /// - Throws: ``ShareFailure`` of the best one that is not merely absent, or of the last one.
    package func best() throws(ShareFailure) -> any ShareStore {
        var why: ShareFailure?
        for store in stores {
            do throws(ShareFailure) {
                try store.probe()
                return store
            } catch {
                if case .unavailable(.absent) = why ?? .unavailable(.absent(store.kind, "")) { why = error }
            }
        }
        throw why ?? .failed(KeyStoreError(.unavailable, "no key store may be used"))
    }

    /// As ``best()``, for a share that ends with this process (``ShareRule/released(by:after:)``): it may rest in
    /// files, too. Not on an Apple device: what the keychain cannot keep is kept nowhere.
    package func bestForProcess() throws(ShareFailure) -> any ShareStore {
        #if canImport(Security)
        try best()
        #else
        try ShareStores(stores + older, floors: []).best()
        #endif
    }

    #if canImport(Security)
    /// The keychain.
    /// - Parameter group: The access group that app and extensions share; nil for the app's own.
    package static func system(group: String? = nil) -> ShareStores {
        ShareStores([KeychainShares(group: group)], floors: [KeychainFloors(group: group)])
    }
    #else
    /// A TPM, then the session's keyring.
    package static func system(tpm: TPMLocation? = .standard) -> ShareStores {
        ShareStores(
            (tpm.map { [TPMShares(at: $0)] } ?? []) + [SecretServiceShares()] as [any ShareStore],
            floors: (tpm.map { [TPMFloors(at: $0)] } ?? []) + [SecretServiceFloors()] as [any FloorStore])
    }
    #endif

    /// Files, for a caller who said so in words. Nothing notices another home in the place of the vault's.
    package static func files(in folder: String) -> ShareStores { ShareStores([FileShares(in: folder)], floors: []) }

    /// This process's memory, which is new with each call.
    package static func inMemory() -> ShareStores {
        let memory = MemoryShares()
        return ShareStores([memory], floors: [memory])
    }

    /// The one that an item came from; nil where the caller does not let it be used.
    package func store(of kind: KeyStoreKind) -> (any ShareStore)? { (stores + older).first { $0.kind == kind } }

    /// Has the store of an item revoke it, if it was made for this home: the only way in which anything that a file
    /// names is.
    /// - Returns: `anothers` for an item of another vault or home; no store was asked then.
    /// - Throws: ``ShareFailure``; `unavailable` where the caller does not let its store be used.
    package func revoke(_ item: ShareItem, of owner: HardwareOwner) throws(ShareFailure) -> Revocation {
        guard item.name.belongs(to: owner) else { return .anothers }
        guard let store = store(of: item.store) else {
            throw .unavailable(.absent(item.store, "this program may not use the key store that has the share"))
        }
        return try store.revoke(item, of: owner.vault)
    }
}

extension ShareStores {
    /// Revokes the share that a killed process left behind (``ShareRule/released(by:after:)``), as far as the stores
    /// can be asked now: it opens nothing without what ended with that process.
    package func revokeReleased(of owner: HardwareOwner) {
        guard let name = try? ShareName.released(for: owner) else { return }
        for store in stores + older where store.kind != .tpm {
            _ = try? store.revoke(ShareItem(name, .named(store.kind, backend: "")), of: owner.vault)
        }
    }
}

// Floors: in the best store that has any.
extension ShareStores: FloorStore {
    /// Whether any floor could ever be kept: not in the file tier.
    package var hasFloors: Bool { !floorStores.isEmpty }

    /// What the best store says that has anything there. A store that cannot be asked hides what the ones after it say,
    /// because a floor may lie in it; one that is absent on this machine does not, if another answers.
    /// - Throws: ``ShareFailure`` (`unavailable`, `failed`) when it is not known whether there is a floor.
    package func content(of place: FloorPlace) throws(ShareFailure) -> [UInt8]? {
        var absent: ShareFailure?
        var hasAnswer = false
        for store in floorStores {
            do throws(ShareFailure) {
                if let found = try store.content(of: place) { return found }
                hasAnswer = true
            } catch {
                guard case .unavailable(.absent) = error else { throw error }
                absent = absent ?? error
            }
        }
        if !hasAnswer, let absent { throw absent }
        return nil
    }

    /// Puts a floor into the best store that works, and takes it from all the others, so that none says something
    /// older.
    /// - Throws: ``ShareFailure`` when none took it; the older floor is then still there.
    package func set(_ content: [UInt8], in place: FloorPlace) throws(ShareFailure) {
        var why: ShareFailure?
        var isKept = false
        for store in floorStores {
            if isKept {
                try? store.remove(place)
                continue
            }
            do throws(ShareFailure) {
                try store.set(content, in: place)
                isKept = true
            } catch { why = why ?? error }
        }
        if !isKept, let why { throw why }
    }

    /// Takes a floor from every store.
    /// - Throws: ``ShareFailure`` of the first store that cannot be asked now, with nothing removed; of the first that
    ///   failed, after all were asked.
    package func remove(_ place: FloorPlace) throws(ShareFailure) {
        for store in floorStores {
            do throws(ShareFailure) { _ = try store.content(of: place) } catch {
                guard case .unavailable(.absent) = error else { throw error }
            }
        }
        var why: ShareFailure?
        for store in floorStores {
            do throws(ShareFailure) { try store.remove(place) } catch {
                if case .unavailable(.absent) = error { continue }
                why = why ?? error
            }
        }
        if let why { throw why }
    }
}
