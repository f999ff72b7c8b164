internal import BetterAuthServer
internal import CommandLineArguments
internal import KeyStores
internal import SecretMemory

/// Where the private keys of a server rest: `--keys-in file|tpm`.
enum KeyPlace: String, CaseIterable {
    case file = "file", tpm = "tpm"

    /// What was asked for on the command line.
    /// - Parameter sealing: Whether to seal keys that are not sealed yet.
    static func protection(_ arguments: Arguments, sealing: Bool = false) throws(UsageError) -> KeyProtection {
        switch arguments[ServerOptions.keysIn].flatMap(KeyPlace.init) {
        case .file, nil: return .file
        case .tpm:
            guard let location = TPMLocation.standard else {
                throw UsageError("--keys-in tpm: this machine has no TPM 2.0; $HOLDFAST_TPM can name one")
            }
            let seal = ChipSeal(chip: TPMSealing(at: location))
            return sealing ? .toBeSealed(seal) : .sealed(seal)
        }
    }
}

/// Has the machine's TPM seal.
private struct ChipSeal: KeySeal {
    let chip: TPMSealing

    func seal(_ key: borrowing SecretBytes) throws -> [UInt8] { try chip.seal(key) }

    func unseal(_ object: [UInt8]) throws -> SecretBytes { try chip.unseal(object) }
}
