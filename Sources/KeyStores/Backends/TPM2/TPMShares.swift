internal import CTSS2
internal import Cryptography
package import DeviceOwner
package import SecretMemory
package import VaultFormat

/// Shares in NV indexes of a TPM 2.0, one each. An index that was undefined never comes back, so an old header opens
/// nothing; a sealed object, which the chip does not keep, would come back with it. A share that ends with its process
/// is such an object: a process that is killed leaves nothing in the chip.
///
/// Anyone who may talk to the chip can undefine an index, and a reset of the chip loses it. What is in it is read with
/// an authorisation that lies in the header: it guards a stolen disk, not a stolen machine.
package struct TPMShares: ShareStore {
    package let kind = KeyStoreKind.tpm
    private let location: TPMLocation

    package init(at location: TPMLocation) { self.location = location }

    private static let size = 32

    package func assurance(of rule: ShareRule) -> Assurance {
        switch rule {
        case .nobodyAsked: .none
        case .owner: .presence
        case .released: .hardwareBound
        }
    }

    package func make(
        _ share: borrowing SecretBytes, as name: ShareName, under rule: ShareRule,
        note: (ShareItem) throws(ShareFailure) -> Void
    ) throws(ShareFailure) -> ShareItem {
        try shareFailures(in: .tpm) {
            guard share.count == TPMShares.size else { throw KeyStoreError(.failure, "a share has 32 bytes") }
            if case .released(let key, _) = rule { return try seal(share, as: name, for: key) }
            let chip = try TPMConnection(location)
            let index = OrdinaryIndex(of: name)
            guard try !chip.hasIndex(with: index.policy) else { throw ShareFailure.nameTaken }
            let salt = try chip.saltKey()
            let session = try chip.session(.hmac, saltedTo: salt.number)
            for _ in 0..<64 {
                // It lies in the slot beside the index's number, so it is no secret to anyone with the header.
                let authorisation = try SecureRandom.bytes(TPMShares.size)
                let handle = try TPMConnection.freeHandle()
                let item = ShareItem(
                    name,
                    .index(
                        ShareItem.Index(
                            handle: handle, name: index.name(handle, isWritten: true), authorisation: authorisation)))
                try note(item)
                let secret = try unsafe SecretBytes(copying: authorisation.span.bytes)
                let object: ESYS_TR
                do {
                    object = try chip.define(index, at: handle, authorisation: secret, session: session)
                } catch let failure as TPMFailure where failure.meaning == CTSS2_NV_DEFINED { continue }
                do {
                    try chip.setAuthorisation(object, secret)
                    try share.withBytes { try chip.write($0, to: object, session: session) }
                    let isThere = try chip.read(object, size: UInt16(TPMShares.size), session: session) {
                        try SecretBytes(copying: $0).isEqual(to: share)
                    }
                    guard isThere, try chip.objectName(object) == index.name(handle, isWritten: true) else {
                        throw KeyStoreError(.failure, "the TPM's index does not give back what was written")
                    }
                } catch {
                    try? chip.undefine(object, session: session)
                    throw error
                }
                return item
            }
            throw ShareFailure.unavailable(.busy("the TPM has no free index"))
        }
    }

    private func seal(
        _ share: borrowing SecretBytes, as name: ShareName, for key: ReleaseKey
    ) throws -> ShareItem {
        let chip = try TPMConnection(location)
        let parent = try chip.primary()
        let session = try chip.session(.hmac, saltedTo: parent.number)
        let blob = try chip.seal(share, under: parent, authorisation: key.authorisation, session: session)
        return ShareItem(
            name, .sealed(TPMObjectData(parent: try chip.objectName(parent.number), blob: blob).encoded))
    }

    package func read(
        _ item: ShareItem, of vault: VaultID, after release: borrowing OwnerRelease
    ) throws(ShareFailure) -> SecretBytes {
        guard case .sealed(let object) = item.place else { return try read(item, of: vault) }
        try item.check(kind, of: vault)
        let key = try ReleaseKey(release.secret)
        return try shareFailures(in: .tpm) {
            do {
                let data = try TPMObjectData(parsing: object)
                let chip = try TPMConnection(location)
                let parent = try chip.primary()
                try data.check(chip, parent)
                let session = try chip.session(.hmac, saltedTo: parent.number)
                let sealed = try chip.load(data.blob, under: parent)
                try chip.setAuthorisation(sealed.number, key.authorisation)
                return try chip.unseal(sealed, session: session)
            } catch let failure as TPMFailure where failure.isWrongAuthorisation {
                throw ShareFailure.notConfirmed
            } catch let error as KeyStoreError where error.code == .foreign {
                throw ShareFailure.lost(.replaced)
            } catch let error as KeyStoreError where error.code == .damaged { throw ShareFailure.damaged }
        }
    }

    package func read(_ item: ShareItem, of vault: VaultID) throws(ShareFailure) -> SecretBytes {
        if case .sealed = item.place { throw .notConfirmed }
        guard let ours = OurIndex(item, vault) else { throw .damaged }
        return try shareFailures(in: .tpm) {
            let chip = try TPMConnection(location)
            guard let found = try chip.index(at: ours.handle) else { throw ShareFailure.lost(.notThere) }
            guard found.name == ours.name else {
                throw ShareFailure.lost(found.name == ours.unwrittenName ? .unfinished : .replaced)
            }
            let salt = try chip.saltKey()
            let session = try chip.session(.hmac, saltedTo: salt.number)
            do {
                try chip.setAuthorisation(found.object, ours.authorisation())
                return try chip.read(found.object, size: UInt16(TPMShares.size), session: session) { bytes in
                    guard bytes.byteCount == TPMShares.size else { throw ShareFailure.lost(.replaced) }
                    let share = try SecretBytes(copying: bytes)
                    guard try !share.isEqual(to: SecretBytes(zeroed: TPMShares.size)) else {
                        throw ShareFailure.lost(.emptied)
                    }
                    return share
                }
            } catch let failure as TPMFailure where failure.isWrongAuthorisation {
                // Its authorisation cannot be changed without our policy: somebody undefined it, and defined another
                // one.
                throw ShareFailure.lost(.replaced)
            }
        }
    }

    package func revoke(_ item: ShareItem, of vault: VaultID) throws(ShareFailure) -> Revocation {
        if case .sealed = item.place, item.isOf(kind, vault) { return .gone }
        guard let ours = OurIndex(item, vault) else { return .anothers }
        return try shareFailures(in: .tpm) {
            let chip = try TPMConnection(location)
            guard let found = try chip.index(at: ours.handle) else { return .gone }
            let salt = try chip.saltKey()
            let session = try chip.session(.hmac, saltedTo: salt.number)
            guard found.name == ours.name else {
                // Our share is not in it. It goes if it says that it is ours: a making that was cut off, or a copy.
                guard try chip.policy(of: found) == ours.index.policy.bytes else { return .gone }
                return try chip.isUndefined(found.object, session) ? .gone : .emptied
            }
            var unwritten: (any Error)?
            do {
                try chip.empty(found.object, size: TPMShares.size, ours.authorisation(), session)
            } catch let failure as TPMFailure where failure.isFromChip {
                // A wrong authorisation is that of another index of the same form, in the place of ours.
                if !failure.isWrongAuthorisation { unwritten = failure }
            }
            if try chip.isUndefined(found.object, session) { return .gone }
            if let unwritten { throw unwritten }
            return .emptied
        }
    }

    package func probe() throws(ShareFailure) {
        try shareFailures(in: .tpm) {
            let chip = try TPMConnection(location)
            _ = try chip.saltKey()
            guard try chip.property(CTSS2_PT_PERMANENT).map({ $0 & 1 == 0 }) ?? true else {
                throw ShareFailure.unavailable(.ownedByAnother)
            }
        }
    }
}

extension OrdinaryIndex {
    /// The index of a share: its policy shows the vault, and is no other share's.
    fileprivate init(of name: ShareName) {
        self.init(policy: TPMPolicyDigest(nobodys: "holdfast/1/device-of", name), size: 32)
    }
}

/// The index that an item names, if it is one that was made for this vault.
private struct OurIndex {
    let index: OrdinaryIndex
    let handle: UInt32
    let name: [UInt8]
    private let place: ShareItem.Index

    init?(_ item: ShareItem, _ vault: VaultID) {
        guard item.isOf(.tpm, vault), case .index(let place) = item.place, PinIndex.range.contains(place.handle) else {
            return nil
        }
        index = OrdinaryIndex(of: item.name)
        handle = place.handle
        name = index.name(handle, isWritten: true)
        self.place = place
        // The chip's name follows from all the rest; another one is of an index that we did not define.
        guard place.name == name, place.authorisation.count == 32 else { return nil }
    }

    var unwrittenName: [UInt8] { index.name(handle, isWritten: false) }

    func authorisation() throws(SecretMemoryError) -> SecretBytes {
        try unsafe SecretBytes(copying: place.authorisation.span.bytes)
    }
}

extension TPMConnection {
    /// A number that programs of the owner choose freely.
    fileprivate static func freeHandle() throws(CryptographyError) -> UInt32 {
        let random = try SecureRandom.bytes(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return PinIndex.range.lowerBound + random % UInt32(PinIndex.range.count)
    }

    /// Whether an index of any number has this policy.
    fileprivate func hasIndex(with policy: TPMPolicyDigest) throws(TPMFailure) -> Bool {
        for handle in try handles(from: PinIndex.range.lowerBound) where PinIndex.range.contains(handle) {
            if let found = try index(at: handle), try self.policy(of: found) == policy.bytes { return true }
        }
        return false
    }

    /// Overwrites an index and reads that back.
    fileprivate func empty(
        _ object: ESYS_TR, size: Int, _ authorisation: borrowing SecretBytes, _ session: borrowing TPMHandle
    ) throws {
        try setAuthorisation(object, authorisation)
        let zeros = try SecretBytes(zeroed: size)
        try zeros.withBytes { try write($0, to: object, session: session) }
        let isEmpty = try read(object, size: UInt16(size), session: session) { bytes in
            try SecretBytes(copying: bytes).isEqual(to: zeros)
        }
        guard isEmpty else { throw KeyStoreError(.failure, "the TPM's index still has what was overwritten") }
    }

    /// - Returns: False where the chip refuses it: its owner has set an authorisation that we do not know.
    fileprivate func isUndefined(_ object: ESYS_TR, _ session: borrowing TPMHandle) throws(TPMFailure) -> Bool {
        do throws(TPMFailure) {
            try undefine(object, session: session)
            return true
        } catch {
            guard error.isWrongAuthorisation else { throw error }
            return false
        }
    }
}
