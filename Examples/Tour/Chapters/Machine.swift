internal import DeviceOwner
internal import Holdfast
internal import KeyStores
internal import VaultFormat
internal import SystemCalls

extension Chapter {
    static let machine = Chapter(
        title: "What the machine adds",
        steps: [
            Step("sealed a share in a TPM") { tour in
                guard let chip = try TourChip(scratch: tour.scratch) else {
                    return "swtpm is not installed: no TPM was tried (holdfast doctor --deep tries the machine's own)"
                }
                tour.chip = chip
                let right = try Tour.secret(String(repeating: "r", count: 32))
                let made = try chip.tier.makeShare(authorisation: right, limit: 3, for: Tour.owner())
                tour.share = made.object
                guard
                    case .share(let share) = try chip.tier.redeem(
                        made.object, of: Tour.owner().vault, authorisation: right),
                    share.isEqual(to: made.share)
                else { throw TourFailure(description: "the right authorisation did not get the share") }
                return "a software TPM of the tour's own; the right authorisation gets the share"
            },
            Step("had the TPM count wrong ones") { tour in
                guard let chip = tour.chip, let share = tour.share else { return "nothing to try" }
                let wrong = try Tour.secret(String(repeating: "w", count: 32))
                for left in [2, 1, 0] {
                    guard
                        case .wrongSecret(remaining: left) = try chip.tier.redeem(
                            share, of: Tour.owner().vault, authorisation: wrong)
                    else {
                        throw TourFailure(description: "the TPM did not count down to \(left)")
                    }
                }
                let right = try Tour.secret(String(repeating: "r", count: 32))
                guard case .destroyed = try chip.tier.redeem(share, of: Tour.owner().vault, authorisation: right) else {
                    throw TourFailure(description: "the TPM gave the share after its limit")
                }
                return "after 3 not even the right one gets it, whatever is put back on the disk"
            },
            Step("opened a vault with a PIN that the TPM counts") { tour in
                guard let chip = tour.chip else { return "nothing to try" }
                let vault = try tour.vaultWithPIN(chip)
                let refusal = try await tour.expectRefusal(.wrongPasscode, "\"\(Samples.wrongPIN)\"") {
                    try vault.unlock(pin: Tour.secret(Samples.wrongPIN), spending: vault.burnAttempt())
                }
                tour.show("\"\(Samples.wrongPIN)\": \(refusal.reason)")
                try vault.unlock(pin: Tour.secret(Samples.pin), spending: vault.burnAttempt())
                try tour.expect(vault.assurance == .hardwareLimited, "the PIN proves less than the TPM's count")
                vault.lock()
                let elsewhere = try Vault(at: vault.home.path, settings: Tour.settings(nil))
                try await tour.expectRefusal(.hardwareUnavailable, "the PIN without that TPM") {
                    try elsewhere.unlock(pin: Tour.secret(Samples.pin), spending: elsewhere.burnAttempt())
                }
                return "\"\(Samples.pin)\" opens it here; a copy on another machine it does not"
            },
            Step("signed with a key that never left it") { tour in
                guard let chip = tour.chip else { return "nothing to try" }
                let authorisation = try Tour.secret(String(repeating: "a", count: 32))
                let key = try chip.keys.makeKey(authorisation: authorisation)
                let message = Array("a message".utf8)
                let signature = try unsafe chip.keys.sign(
                    message.span.bytes, with: key, authorisation: authorisation)
                let point = try unsafe P256PublicKey(compressed: key.publicKey.span.bytes)
                try tour.expect(
                    unsafe point.isValid(signature: signature.span.bytes, for: message.span.bytes),
                    "the signature is not valid")
                tour.chip = nil
                return "P-256, verified with its public half"
            },
            Step("asked for a finger at a sensor") { tour in
                if let obstacle = TourSensor.obstacle { return "\(obstacle): no finger was tried" }
                let sensor = try TourSensor(tour)
                try tour.expect(try sensor.enroll("owner"), "the finger could not be enrolled")
                let keeper = OwnerKeeper()
                let share = try SecureRandom.secret(32)
                keeper.arm(try share.copy())
                guard let enrollment = sensor.authenticator.enrollment(of: .biometrics) else {
                    throw TourFailure(description: "the sensor does not say what is enrolled")
                }
                keeper.note(enrollment)
                let somebody = sensor.somebody(with: "stranger", "owner")
                guard case .released(let release) = sensor.authenticator.confirm(.biometrics, keeper: keeper, somebody),
                    release.secret.isEqual(to: share)
                else { throw TourFailure(description: "the owner's finger did not release the share") }
                try tour.expect(
                    somebody.guidance.contains(.noMatch) && keeper.nonMatches == 1,
                    "the stranger's finger was not refused")
                return
                    "the real fprintd, a virtual sensor of the tour's own: a stranger's finger nothing, the owner's the share"
            },
            Step("looked for the owner's finger and account") { tour in
                let authenticator = OwnerAuthenticator.standard
                for step in OwnerStep.allCases {
                    let why = authenticator.capability(of: step).why
                    tour.show("\(step.fallback.words): \(why ?? "can be asked (holdfast enroll)")")
                }
                return "nobody was asked"
            },
        ])
}

extension Tour {
    /// A vault with a PIN under a TPM, at the lowest costs that are accepted.
    fileprivate func vaultWithPIN(_ chip: TourChip) throws -> Vault {
        let passcode = try Tour.secret(Samples.firstPasscode)
        let settings = Tour.settings(chip.tier)
        _ = try Vault.create(at: scratch + "/chip", passcode: passcode, settings: settings)
        let vault = try Vault(at: scratch + "/chip", settings: settings)
        try vault.enrollPIN(Tour.secret(Samples.pin), passcode: passcode, spending: vault.burnAttempt())
        return vault
    }

    /// Whose the tour's share is.
    fileprivate static func owner() throws -> HardwareOwner {
        guard let vault = VaultID(bytes: [UInt8](repeating: 7, count: 16)) else {
            throw TourFailure(description: "an id has 16 bytes")
        }
        return HardwareOwner(vault: vault, home: [UInt8](repeating: 7, count: 32))
    }

    fileprivate static func settings(_ tier: TPMAttemptTier?) -> VaultSettings {
        var settings = VaultSettings(costs: DerivationParameters(passes: 3, memoryKiB: 65_536))
        settings.tier = tier
        return settings
    }
}

/// A software TPM in the tour's folder, ended with this object.
final class TourChip {
    let tier: TPMAttemptTier
    let keys: TPMSigningKeys
    private let process: TourProcess

    private static let programs = ["/usr/bin/swtpm", "/usr/local/bin/swtpm"]

    /// Nil where the program is not installed, or does not come up.
    init?(scratch: String, name: String = "tpm") throws {
        guard let program = TourChip.programs.first(where: { unsafe access($0, X_OK) == 0 }) else { return nil }
        let folder = "\(scratch)/\(name)"
        guard unsafe mkdir(folder, 0o700) == 0 else { return nil }
        let location = TPMLocation("swtpm:path=\(folder)/tpm.sock")
        tier = TPMAttemptTier(at: location)
        keys = TPMSigningKeys(at: location)
        let words = [
            "socket", "--tpm2", "--tpmstate", "dir=\(folder)", "--server",
            "type=unixio,path=\(folder)/tpm.sock", "--ctrl", "type=unixio,path=\(folder)/tpm.sock.ctrl",
            "--flags", "not-need-init,startup-clear",
        ]
        guard let process = try? TourProcess(program, words) else { return nil }
        self.process = process
        let deadline = MonotonicClock.nanoseconds + TourProcess.patience
        while !isAnswering(location) {
            guard MonotonicClock.nanoseconds < deadline else { return nil }
            usleep(5000)
        }
    }

    private func isAnswering(_ location: TPMLocation) -> Bool {
        do throws(KeyStoreError) {
            try TPMSealing(at: location).probe()
            return true
        } catch { return false }
    }
}
