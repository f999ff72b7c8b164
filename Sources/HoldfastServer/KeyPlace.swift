internal import BetterAuthServer
internal import KeyStores
internal import SecretMemory

/// Where the private keys of a server rest: `--keys-in file|tpm`.
enum KeyPlace: String {
    case file = "file", tpm = "tpm"

    static let option = "keys-in"

    /// What was asked for on the command line.
    /// - Parameter sealing: Whether keys that are not sealed yet are to be.
    static func protection(_ arguments: Arguments, sealing: Bool = false) throws(UsageError) -> KeyProtection {
        guard let text = try arguments.text(option) else { return .file }
        switch KeyPlace(rawValue: text) {
        case .file: return .file
        case .tpm:
            guard let location = TPMLocation.standard else {
                throw UsageError("--keys-in tpm: this machine shows no TPM 2.0 ($HOLDFAST_TPM names another)")
            }
            let seal = ChipSeal(chip: TPMSealing(at: location))
            return sealing ? .toBeSealed(seal) : .sealed(seal)
        case nil: throw UsageError("--keys-in takes file or tpm")
        }
    }
}

/// Has the machine's TPM seal.
private struct ChipSeal: KeySeal {
    let chip: TPMSealing

    func seal(_ key: borrowing SecretBytes) throws -> [UInt8] { try chip.seal(key) }

    func unseal(_ object: [UInt8]) throws -> SecretBytes { try chip.unseal(object) }
}
