internal import CTSS2
internal import Cryptography
internal import SecretMemory
internal import VaultFormat

/// Floors in NV indexes of a TPM 2.0, each found by its policy. They have no authorisation: anyone who may talk to the
/// chip can change them, and nobody else. What they notice is another home in the place of the vault's.
package struct TPMFloors: FloorStore {
    private let kind = KeyStoreKind.tpm
    private let location: TPMLocation

    package init(at location: TPMLocation) { self.location = location }

    package func content(of place: FloorPlace) throws(ShareFailure) -> [UInt8]? {
        try shareFailures(in: kind) {
            let chip = try TPMConnection(location)
            return try chip.findFloor(FloorIndex(place))?.content
        }
    }

    package func set(_ content: [UInt8], in place: FloorPlace) throws(ShareFailure) {
        try shareFailures(in: kind) {
            let chip = try TPMConnection(location)
            let index = FloorIndex(place)
            let salt = try chip.saltKey()
            let session = try chip.session(.hmac, saltedTo: salt.number)
            var object = try chip.findFloor(index).map(\.object)
            if let known = object {
                do { try chip.write(content, to: known, session) } catch let failure as TPMFailure
                    where failure.isAnothersIndex
                {
                    // It says that it is the floor's and cannot be written: it makes room for one that can.
                    try chip.undefine(known, session: session)
                    object = nil
                }
            }
            if object == nil {
                let made = try chip.defineFloor(index, session)
                try chip.write(content, to: made, session)
            }
            guard try chip.findFloor(index)?.content == content else {
                throw KeyStoreError(.failure, "the TPM's index does not give back what was written")
            }
        }
    }

    package func remove(_ place: FloorPlace) throws(ShareFailure) {
        try shareFailures(in: kind) {
            let chip = try TPMConnection(location)
            let index = FloorIndex(place)
            // Every one that has the policy.
            while let found = try chip.findFloor(index, evenUnwritten: true) {
                let session = try chip.session(.hmac, saltedTo: TPMConnection.none, isEncrypted: false)
                try chip.undefine(found.object, session: session)
            }
        }
    }
}

/// Where a floor is looked for: a few numbers that programs of the owner choose freely, from one that its place gives.
private struct FloorIndex {
    let index: OrdinaryIndex
    /// Numbers that are tried.
    let handles: [UInt32]

    private static let places: UInt32 = 8

    init(_ place: FloorPlace) {
        index = OrdinaryIndex(policy: TPMPolicyDigest(known: place.digest), size: UInt16(FloorSize.bytes))
        let range = PinIndex.range
        let first = place.digest[..<4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        handles = (0..<FloorIndex.places).map { range.lowerBound + (first &+ $0) % UInt32(range.count) }
    }
}

extension TPMConnection {
    /// The first index with the floor's policy, whatever its public area says beside it.
    /// - Parameter evenUnwritten: Else one that was defined and not filled is passed over: a making that was cut off.
    fileprivate func findFloor(
        _ floor: FloorIndex, evenUnwritten: Bool = false
    ) throws -> (object: ESYS_TR, content: [UInt8])? {
        for handle in floor.handles {
            guard let found = try index(at: handle), try policy(of: found) == floor.index.policy.bytes else { continue }
            if found.name == floor.index.name(handle, isWritten: false) {
                if evenUnwritten { return (found.object, []) }
                continue
            }
            guard found.name == floor.index.name(handle, isWritten: true) else { return (found.object, []) }
            return (found.object, try readFloor(found.object))
        }
        return nil
    }

    private func readFloor(_ object: ESYS_TR) throws -> [UInt8] {
        let salt = try saltKey()
        let session = try session(.hmac, saltedTo: salt.number)
        do {
            return try read(object, size: UInt16(FloorSize.bytes), session: session) { bytes in
                unsafe bytes.withUnsafeBytes { unsafe Array($0) }
            }
        } catch let failure as TPMFailure where failure.isAnothersIndex {
            return []
        }
    }

    fileprivate func defineFloor(_ floor: FloorIndex, _ session: borrowing TPMHandle) throws -> ESYS_TR {
        let nothing = try SecretBytes(zeroed: 0)
        for handle in floor.handles {
            if let found = try index(at: handle) {
                // One of ours that was never filled.
                if found.name == floor.index.name(handle, isWritten: false) { return found.object }
                continue
            }
            do {
                return try define(floor.index, at: handle, authorisation: nothing, session: session)
            } catch let failure as TPMFailure where failure.meaning == CTSS2_NV_DEFINED { continue }
        }
        throw KeyStoreError(.busy, "the TPM has no free index for what it should remember")
    }

    fileprivate func write(_ content: [UInt8], to object: ESYS_TR, _ session: borrowing TPMHandle) throws {
        try unsafe write(content.span.bytes, to: object, session: session)
    }
}
