internal import CTSS2
internal import Cryptography
internal import VaultFormat

/// Holds the generation of vaults in indices of a TPM 2.0, outside of every home: an older copy of a home that is put
/// back is older than its index.
///
/// It notices a home that came back from a backup, a snapshot or another machine's copy. It is no wall against a
/// program of this user that knows where to write: what limits attempts against such programs is ``TPMAttemptTier``.
package struct TPMGenerationAnchor: GenerationAnchor {
    private let location: TPMLocation

    package init(at location: TPMLocation) { self.location = location }

    package func state(of owner: HardwareOwner) throws(KeyStoreError) -> AnchoredState? {
        try keyStoreErrors {
            let chip = try TPMConnection(location)
            return try chip.findAnchor(owner)?.state ?? nil
        }
    }

    package func hold(_ state: AnchoredState, of owner: HardwareOwner) throws(KeyStoreError) {
        try keyStoreErrors {
            let chip = try TPMConnection(location)
            let object = try chip.findAnchor(owner)?.object ?? chip.defineAnchor(owner)
            try chip.writeAnchor(object, Anchor(vault: owner.vault, state: state))
        }
    }

    package func advance(to state: AnchoredState, of owner: HardwareOwner) throws(KeyStoreError) {
        try keyStoreErrors {
            let chip = try TPMConnection(location)
            guard let found = try chip.findAnchor(owner), let held = found.state else { return }
            let next = state.withAttempts(atLeast: held.attempts)
            try chip.writeAnchor(found.object, Anchor(vault: owner.vault, state: next))
        }
    }

    package func release(_ owner: HardwareOwner) throws(KeyStoreError) {
        try keyStoreErrors {
            let chip = try TPMConnection(location)
            guard let found = try chip.findAnchor(owner) else { return }
            let session = try chip.session(.hmac, saltedTo: TPMConnection.none, isEncrypted: false)
            try chip.undefine(found.object, session: session)
        }
    }
}

/// What an index holds: the vault's id and two numbers. Its name shows its owner, and no other index can have that
/// name.
private struct Anchor {
    let vault: VaultID
    let state: AnchoredState

    static let size: UInt16 = 32
    static let attributes: UInt32 =
        UInt32(TPMA_NV_AUTHREAD) | UInt32(TPMA_NV_AUTHWRITE) | UInt32(TPMA_NV_OWNERREAD) | UInt32(TPMA_NV_NO_DA)
    /// Numbers that are tried for one home.
    static let places: UInt32 = 8

    init(vault: VaultID, state: AnchoredState) {
        self.vault = vault
        self.state = state
    }

    init?(_ bytes: [UInt8]) {
        guard bytes.count == Int(Anchor.size), let vault = VaultID(bytes: Array(bytes[..<16])) else { return nil }
        func number(_ part: ArraySlice<UInt8>) -> UInt64 { part.reduce(0) { $0 << 8 | UInt64($1) } }
        self.vault = vault
        state = AnchoredState(generation: number(bytes[16..<24]), attempts: number(bytes[24..<32]))
    }

    var bytes: [UInt8] {
        func bytes(_ number: UInt64) -> [UInt8] {
            stride(from: 56, through: 0, by: -8).map { UInt8(number >> UInt64($0) & 0xff) }
        }
        return vault.bytes + bytes(state.generation) + bytes(state.attempts)
    }

    /// A policy that nothing asks for. It makes the owner a part of the index's name.
    static func policy(_ owner: HardwareOwner) -> [UInt8] {
        TPMPolicyDigest(nobodys: "holdfast/1/anchor-of", owner).bytes
    }

    static func name(_ handle: UInt32, _ owner: HardwareOwner, isWritten: Bool) -> [UInt8] {
        PinIndex.name(
            handle, attributes: isWritten ? attributes | PinIndex.written : attributes, policy: policy(owner),
            size: size)
    }

    /// Where the owner's index is looked for: numbers that programs of the owner choose freely, from one that vault and
    /// home give.
    static func handles(_ owner: HardwareOwner) -> [UInt32] {
        let range = PinIndex.range
        let hash = TPMPolicyDigest(nobodys: "holdfast/1/anchor", owner).bytes
        let first = hash[..<4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return (0..<places).map { range.lowerBound + (first &+ $0) % UInt32(range.count) }
    }
}

extension TPMConnection {
    /// The owner's index and what it holds: nothing where it was defined and not written. An index with another public
    /// area is not this home's, whatever its content says.
    fileprivate func findAnchor(_ owner: HardwareOwner) throws -> (object: ESYS_TR, state: AnchoredState?)? {
        for handle in Anchor.handles(owner) {
            guard let object = try index(handle) else { continue }
            let name = try objectName(object)
            if name == Anchor.name(handle, owner, isWritten: false) { return (object, nil) }
            guard name == Anchor.name(handle, owner, isWritten: true), let held = try readAnchor(object) else {
                continue
            }
            return (object, held.state)
        }
        return nil
    }

    private func index(_ handle: UInt32) throws(TPMFailure) -> ESYS_TR? {
        var object: ESYS_TR = 0
        do throws(TPMFailure) {
            try tpm("find index") {
                unsafe Esys_TR_FromTPMPublic(
                    context, handle, TPMConnection.none, TPMConnection.none, TPMConnection.none, &object)
            }
        } catch {
            guard error.isMissing else { throw error }
            return nil
        }
        return object
    }

    /// Nil if a similar index with another authorisation was put in its place.
    private func readAnchor(_ object: ESYS_TR) throws(TPMFailure) -> Anchor? {
        var data: UnsafeMutablePointer<TPM2B_MAX_NV_BUFFER>?
        do throws(TPMFailure) {
            try tpm("read index") {
                unsafe Esys_NV_Read(
                    context, object, object, UInt32(ESYS_TR_PASSWORD), TPMConnection.none, TPMConnection.none,
                    Anchor.size, 0, &data)
            }
        } catch {
            guard error.isAnothersIndex else { throw error }
            return nil
        }
        defer { unsafe Esys_Free(data) }
        return unsafe Anchor(data?.array ?? [])
    }

    fileprivate func defineAnchor(_ owner: HardwareOwner) throws -> ESYS_TR {
        let area = Structure<TPM2B_NV_PUBLIC>()
        unsafe area.pointer.pointee.nvPublic.nameAlg = UInt16(TPM2_ALG_SHA256)
        unsafe area.pointer.pointee.nvPublic.attributes = Anchor.attributes
        unsafe area.pointer.pointee.nvPublic.dataSize = Anchor.size
        _ = unsafe area.pointer.member(\.nvPublic.authPolicy).store(Anchor.policy(owner))
        let noAuthorisation = Structure<TPM2B_AUTH>()
        for handle in Anchor.handles(owner) {
            unsafe area.pointer.pointee.nvPublic.nvIndex = handle
            var object: ESYS_TR = 0
            do throws(TPMFailure) {
                try tpm("define index") {
                    unsafe Esys_NV_DefineSpace(
                        context, UInt32(ESYS_TR_RH_OWNER), UInt32(ESYS_TR_PASSWORD), TPMConnection.none,
                        TPMConnection.none, noAuthorisation.pointer, area.pointer, &object)
                }
                return object
            } catch { guard error.meaning == CTSS2_NV_DEFINED else { throw error } }  // taken: another number
        }
        throw KeyStoreError(.busy, "the TPM has no free index for this vault")
    }

    fileprivate func writeAnchor(_ object: ESYS_TR, _ anchor: Anchor) throws(TPMFailure) {
        let data = Structure<TPM2B_MAX_NV_BUFFER>()
        _ = unsafe data.pointer.store(anchor.bytes)
        try tpm("write index") {
            unsafe Esys_NV_Write(
                context, object, object, UInt32(ESYS_TR_PASSWORD), TPMConnection.none, TPMConnection.none,
                data.pointer, 0)
        }
    }
}
