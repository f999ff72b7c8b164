import CRawLoops
import DeviceOwner
import Foundation
import KeyStores
import RealParts
import SecretMemory
import VaultCore
import VaultHeader
import VaultFormat

/// Unlocking with a share in a TPM, and a fingerprint: the real parts, in software.
struct OwnerFigures: Suite {
    static let figures = ["tpm-unlock", "fingerprint-overhead"]

    static func measure(_ bench: Bench) throws -> [Figure] {
        var figures: [Figure] = []
        if SoftwareTPM.isInstalled {
            figures.append(try tpmUnlock(bench))
        } else {
            bench.skip("tpm-unlock", "swtpm is not installed")
        }
        if FingerprintSensor.isInstalled {
            figures.append(try fingerprint(bench))
        } else {
            bench.skip("fingerprint-overhead", "fprintd or python3-dbusmock is not installed")
        }
        return figures
    }

    /// What a share and a generation in the chip add to an unlock.
    private static func tpmUnlock(_ bench: Bench) throws -> Figure {
        // The proxy says how long the chip itself works, on the very same commands.
        let chip = try TPMProxy(SoftwareTPM())
        var settings = VaultSettings.costsForTests()
        settings.tier = TPMAttemptTier(at: TPMLocation(chip.location))
        settings.anchor = TPMGenerationAnchor(at: TPMLocation(chip.location))
        let passcode = try BenchmarkVault.passcode()
        let paths = (bench.scratch.file("tpm"), bench.scratch.file("no-tpm"))
        let phrase = try Vault.create(at: paths.0, passcode: passcode, settings: settings)
        _ = try Vault.create(at: paths.1, passcode: passcode, settings: .costsForTests())
        let under = try Vault(at: paths.0, settings: settings)
        try under.enrollHardware(passcode: passcode, spending: under.burnAttempt(), phrase: phrase)
        let plain = try Vault(at: paths.1, settings: .costsForTests())
        let count = bench.options.count(101, quick: 21)
        chip.arm(at: nil) {}
        let rounds = try Rounds(
            count,
            [under, plain].map { vault in
                { _ in
                    vault.lock()
                    return try time { try BenchmarkVault.unlock(vault) }
                }
            })
        let (with, without) = (rounds.median(0) / 1e6, rounds.median(1) / 1e6)
        let working = chip.working / .milliseconds(1) / Double(count)
        return Figure(
            name: "tpm-unlock", value: (with - without) / working, unit: "x", absolute: .init(with - without, "ms"),
            bound: .atMost(15),
            detail:
                "what share and generation add to \(number(without)) ms; swtpm itself works \(number(working)) ms on "
                + "the \(chip.commands / count) commands")
    }

    /// From the question to the share, beyond what a client takes that does nothing but ask fprintd.
    private static func fingerprint(_ bench: Bench) throws -> Figure {
        let sensor = try FingerprintSensor()
        try sensor.enroll("anna")
        var places = OwnerAuthenticator.Places()
        places.systemBus = BusAddress(sensor.bus.address)
        places.daemonUser = getuid()
        let authenticator = OwnerAuthenticator(places)
        let keeper = OwnerKeeper()
        keeper.arm(try SecretBytes(zeroed: 32))
        guard let enrollment = authenticator.enrollment(of: .biometrics) else {
            throw BenchmarkError("the virtual sensor knows no finger")
        }
        keeper.note(enrollment)
        let rounds = try Rounds(
            bench.options.count(41, quick: 11),
            [
                { _ in
                    let finger = LaidFinger(sensor)
                    return try time {
                        guard case .released = authenticator.confirm(.biometrics, keeper: keeper, finger) else {
                            throw BenchmarkError("the finger was not recognised")
                        }
                    }
                },
                { _ in
                    try time {
                        let finger = unsafe Unmanaged.passRetained(LaidFinger(sensor))
                        defer { unsafe finger.release() }
                        let code = unsafe raw_fprint(
                            sensor.bus.address,
                            { context in
                                guard let context = unsafe context else { return }
                                unsafe Unmanaged<LaidFinger>.fromOpaque(context).takeUnretainedValue().show(.touch)
                            }, finger.toOpaque())
                        guard code == 0 else { throw BenchmarkError("fprintd answered \(code)") }
                    }
                },
            ])
        let (ours, raw) = (rounds.median(0) / 1e6, rounds.median(1) / 1e6)
        return Figure(
            name: "fingerprint-overhead", value: rounds.ratio(0, to: 1), unit: "x", absolute: .init(ours, "ms"),
            bound: .atMost(2), detail: "fprintd's virtual sensor; a bare client \(number(raw)) ms")
    }
}

/// Lays the right finger on the sensor as soon as it waits.
private final class LaidFinger: OwnerConversation {
    let cancellation = Cancellation()
    private let sensor: FingerprintSensor

    init(_ sensor: FingerprintSensor) { self.sensor = sensor }

    func show(_ guidance: OwnerGuidance) {
        guard guidance == .touch else { return }
        do { try sensor.touch("SCAN anna") } catch { cancellation.cancel() }
    }

    func expect(_ finger: OwnerFinger) {}
    func ask(_ prompt: OwnerPrompt) -> SecretBytes? { nil }
}
