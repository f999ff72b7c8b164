internal import SecretMemory
internal import VaultFormat

/// Floors as items of the user's keyring. Every program of the user can change them while it is unlocked, and an older
/// keyring that is put back has older ones.
package struct SecretServiceFloors: FloorStore {
    private let kind = KeyStoreKind.secretService

    package init() {}

    package func content(of place: FloorPlace) throws(ShareFailure) -> [UInt8]? {
        try shareFailures(in: kind) {
            let keyring = try KeyringService.current()
            let found = try keyring.lookUp(place.text) { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } }
            if let found { return found }
            // A locked keyring answers as if it were empty, and at times, as when it reads its file again, it does not
            // name its items either.
            guard !keyring.hasLocked else { throw ShareFailure.unavailable(.locked) }
            _ = try keyring.openStandard()
            return nil
        }
    }

    package func set(_ content: [UInt8], in place: FloorPlace) throws(ShareFailure) {
        try shareFailures(in: kind) {
            let keyring = try KeyringService.current()
            let collection = try keyring.openStandard()
            guard !keyring.hasLocked else { throw ShareFailure.unavailable(.locked) }
            try unsafe keyring.store(
                SecretBytes(copying: content.span.bytes), as: place.text, in: KeyringService.path(collection))
            guard
                try keyring.lookUp(place.text, { unsafe $0.withUnsafeBytes { unsafe Array($0) } }) == content
            else { throw KeyStoreError(.failure, "the keyring does not give back what was stored") }
        }
    }

    package func remove(_ place: FloorPlace) throws(ShareFailure) {
        try shareFailures(in: kind) {
            let keyring = try KeyringService.current()
            // One that is there says where it lies; only where there is none a locked keyring may hide it.
            guard try keyring.lookUp(place.text, { _ in true }) == nil else { return try keyring.clear(place.text) }
            guard !keyring.hasLocked else { throw ShareFailure.unavailable(.locked) }
            _ = try keyring.openStandard()
        }
    }
}
