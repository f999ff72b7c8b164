internal import CTSS2
internal import Cryptography
package import SecretMemory
package import VaultFormat

/// The attempt budget in a TPM 2.0: the chip counts, not our code (constructions.md 5.1).
///
/// A share is sealed under a policy that asks for the authorisation of a PIN_FAIL index. The index can be written once,
/// by a key that is discarded afterwards, so that its count cannot be reset; if it is redefined, it has another name,
/// which the policy does not accept. Nothing relies on the chip-wide protection against guessing, and nothing changes
/// it.
package struct TPMAttemptTier: AttemptTier {
    package let assurance = Assurance.hardwareLimited
    private let location: TPMLocation

    package init(at location: TPMLocation) { self.location = location }

    package func makeShare(
        authorisation: borrowing SecretBytes, limit: Int, for owner: HardwareOwner,
        note: (HardwareObject) throws(KeyStoreError) -> Void
    ) throws(KeyStoreError) -> HardwareShare {
        try keyStoreErrors {
            let chip = try TPMConnection(location)
            let parent = try chip.primary()
            let session = try chip.session(.hmac, saltedTo: parent.number)
            let writer = try P256PrivateKey.generate()  // wiped when this returns: nothing can be written again
            let verifier = try chip.loadVerifier(writer.publicKey)
            let policy = try TPMConnection.PinIndexPolicy(
                writer: chip.objectName(verifier.number), owner: owner)
            let parentName = try chip.objectName(parent.number)
            let index = try chip.definePinIndex(
                authorisation: authorisation, policy: policy.any, session: session
            ) { handle throws(KeyStoreError) in
                // Its name is known before it exists, and no other index can ever have it.
                let data = TPMShareData(
                    handle: handle, parent: parentName, writePolicy: policy.write.bytes, home: owner.home,
                    blob: TPMConnection.Blob(privatePart: [], publicPart: []))
                let name = PinIndex.name(handle, policy: policy.any, isWritten: true)
                try note(HardwareObject(name: name, data: data.encoded))
            }
            do {
                try chip.writePinIndex(
                    index.object, limit: UInt32(limit), writer: writer, loaded: verifier, policy: policy,
                    parent: parent)
                // Its name after it was written: an unwritten index has another.
                let name = try chip.objectName(index.object)
                var secret = TPMPolicyDigest()
                secret.secret(of: name)
                let share = try SecureRandom.secret(32)
                let blob = try chip.seal(share, under: parent, policy: secret, session: session)
                let data = TPMShareData(
                    handle: index.handle, parent: parentName, writePolicy: policy.write.bytes, home: owner.home,
                    blob: blob)
                return HardwareShare(share: share, object: HardwareObject(name: name, data: data.encoded))
            } catch {
                try? chip.undefine(index.object, session: session)
                throw error
            }
        }
    }

    package func redeem(
        _ object: HardwareObject, of vault: VaultID, authorisation: borrowing SecretBytes
    ) throws(KeyStoreError) -> Redemption {
        var lost: TPMFailure?
        do throws(KeyStoreError) {
            return try ask(object, vault, authorisation, lost: &lost)
        } catch {
            guard let lost else { throw error }
            // In a conversation of its own, when the one that broke off is over: a chip that counts none has counted
            // none.
            if let state = try? state(object, vault), state.count == 0 { throw error }
            throw KeyStoreError(.unanswered, "\(lost.error.reason), and may have counted this attempt")
        }
    }

    /// - Parameter lost: What kept the chip's answer from us, where it may have counted the authorisation.
    private func ask(
        _ object: HardwareObject, _ vault: VaultID, _ authorisation: borrowing SecretBytes, lost: inout TPMFailure?
    ) throws(KeyStoreError) -> Redemption {
        try keyStoreErrors {
            let data = try TPMShareData(parsing: object.data)
            // Nothing of what was kept is authenticated before the slot is open. Until all of it fits together and is
            // this vault's, nothing that comes from the passcode is sent to anybody.
            let indexPolicy = try data.check(object.name, of: vault)
            let chip = try TPMConnection(location)
            let parent = try chip.primary()
            let isKnown = try chip.objectName(parent.number) == data.parent
            let sealed: TPMHandle
            do {
                sealed = try chip.load(data.blob, under: parent)
            } catch let error as KeyStoreError where error.code == .foreign {
                guard isKnown else { return .foreign }
                throw TPMShareData.altered
            }
            // This chip made the share, and what was kept says another one did.
            guard isKnown else { throw TPMShareData.altered }
            guard let index = try chip.find(PinIndex(handle: data.handle, name: object.name)) else { return .destroyed }
            // Proves the authorisation without sending it.
            let session = try chip.session(.hmac, saltedTo: parent.number)
            let policy = try chip.session(.policy, saltedTo: parent.number)
            do {
                try chip.policySecret(policy, index, authorisation: authorisation, session: session)
            } catch let failure as TPMFailure where failure.isLimitReached {
                return .destroyed
            } catch let failure as TPMFailure where failure.isWrongAuthorisation {
                // It is counted by now, whether or not the chip still tells how many are left.
                let state = try? chip.readPinIndex(index, policy: indexPolicy, parent: parent)
                return .wrongSecret(remaining: state.map(TPMAttemptTier.left))
            } catch let failure as TPMFailure where !failure.isFromChip {
                lost = failure
                throw failure
            }
            return .share(try chip.unseal(sealed, session: policy))
        }
    }

    package func remaining(_ object: HardwareObject, of vault: VaultID) throws(KeyStoreError) -> Int? {
        try state(object, vault).map(TPMAttemptTier.left) ?? 0
    }

    private static func left(count: UInt32, limit: UInt32) -> Int { Int(limit) - Int(min(count, limit)) }

    /// Count and limit; nil where this chip does not have the index.
    private func state(
        _ object: HardwareObject, _ vault: VaultID
    ) throws(KeyStoreError) -> (count: UInt32, limit: UInt32)? {
        try keyStoreErrors {
            let data = try TPMShareData(parsing: object.data)
            let policy = data.policy(of: HardwareOwner(vault: vault, home: data.home))
            let chip = try TPMConnection(location)
            let parent = try chip.primary()
            guard try chip.objectName(parent.number) == data.parent,
                let index = try chip.find(PinIndex(handle: data.handle, name: object.name))
            else { return nil }
            return try chip.readPinIndex(index, policy: policy, parent: parent)
        }
    }

    package func destroy(_ object: HardwareObject, of owner: HardwareOwner) throws(KeyStoreError) -> Removal {
        // An unauthenticated note may name any index. The owner is a part of an index's name, and is put in here: only
        // the owner's own can be found.
        guard let data = try? TPMShareData(parsing: object.data) else { return .anothers }
        let policy = data.policy(of: owner).any
        guard PinIndex.name(data.handle, policy: policy, isWritten: true) == object.name else { return .anothers }
        // An index whose creator was killed before writing it has another name, and opens nothing either.
        let unwritten = PinIndex.name(data.handle, policy: policy, isWritten: false)
        return try keyStoreErrors {
            let chip = try TPMConnection(location)
            guard
                let index = try chip.find(PinIndex(handle: data.handle, name: object.name))
                    ?? chip.find(PinIndex(handle: data.handle, name: unwritten))
            else { return .gone }
            let session = try chip.session(.hmac, saltedTo: TPMConnection.none, isEncrypted: false)
            do throws(TPMFailure) {
                try chip.undefine(index, session: session)
            } catch {
                guard error.isWrongAuthorisation else { throw error }
                // The owner has set an authorisation that we do not know: the index goes by using it up.
                try chip.useUp(index, session: session)
            }
            return .gone
        }
    }
}

extension TPMConnection {
    /// Burns an index to its limit with wrong authorisations.
    fileprivate func useUp(_ index: ESYS_TR, session: borrowing TPMHandle) throws {
        for _ in 0..<64 {
            let wrong = try SecureRandom.secret(32)
            let policy = try self.session(.policy, saltedTo: TPMConnection.none, isEncrypted: false)
            do {
                try policySecret(policy, index, authorisation: wrong, session: session)
            } catch let failure as TPMFailure where failure.isLimitReached {
                return
            } catch let failure as TPMFailure where failure.isWrongAuthorisation { continue }
        }
        throw KeyStoreError(.failure, "the TPM's index could not be used up")
    }
}
