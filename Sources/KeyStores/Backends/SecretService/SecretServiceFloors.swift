internal import SecretMemory
package import VaultFormat

/// Floors as items of the user's keyring. Every program of the user can change them while it is unlocked, and an older keyring
/// that is put back has older ones.
package struct SecretServiceFloors: FloorStore {
    package let kind = KeyStoreKind.secretService

    package init() {}

    private static func name(_ profile: FloorProfile) -> String { "floor." + Hexadecimal.encode(profile.digest) }

    package func floor(of profile: FloorProfile) throws(ShareFailure) -> FloorAnswer {
        try shareFailures(in: kind) {
            let keyring = try KeyringService.current()
            let name = SecretServiceFloors.name(profile)
            let found = try keyring.lookUp(name) { bytes in
                FloorAnswer(unsafe bytes.withUnsafeBytes { unsafe Array($0) })
            }
            if let found { return found }
            // A locked keyring answers as if it were empty, and at times, as when it reads its file again, it does not name
            // its items either.
            guard !keyring.hasLocked else { throw ShareFailure.unavailable(.locked) }
            _ = try keyring.openStandard()
            return .none
        }
    }

    package func set(_ floor: LevelFloor, of profile: FloorProfile) throws(ShareFailure) {
        try shareFailures(in: kind) {
            let keyring = try KeyringService.current()
            let name = SecretServiceFloors.name(profile)
            let collection = try keyring.openStandard()
            guard !keyring.hasLocked else { throw ShareFailure.unavailable(.locked) }
            try unsafe keyring.store(
                SecretBytes(copying: floor.encoded.span.bytes), as: name, in: KeyringService.path(collection))
            guard
                try keyring.lookUp(name, { FloorAnswer(unsafe $0.withUnsafeBytes { unsafe Array($0) }) })
                    == .floor(floor)
            else { throw KeyStoreError(.failure, "the keyring does not give back what was stored") }
        }
    }

    package func removeFloor(of profile: FloorProfile) throws(ShareFailure) {
        try shareFailures(in: kind) {
            let keyring = try KeyringService.current()
            let name = SecretServiceFloors.name(profile)
            try keyring.clear(name)
            guard !keyring.hasLocked else { throw ShareFailure.unavailable(.locked) }
            _ = try keyring.openStandard()
        }
    }
}
