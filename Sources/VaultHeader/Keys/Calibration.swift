internal import Cryptography
internal import SecretMemory
internal import VaultFormat
internal import VaultStorage
internal import SystemCalls

/// Finds Argon2id costs that take at least a quarter of a second on this machine.
enum Calibration {
    /// In ns; the cheap costs of tests are not for measuring.
    private static let target: UInt64 = DerivationLimits.standard == .shipped ? 250_000_000 : 0
    private static let floor = DerivationLimits.standard.floor
    /// More memory hurts an attacker more than more passes do, but a phone or a small server must still open the vault.
    private static let mostMemoryKiB: UInt32 = 256 << 10

    /// Never below 3 passes over 64 MiB, however slow the machine.
    static func costs() throws(VaultError) -> DerivationParameters {
        var costs = floor
        var time = try measure(costs)
        while time < target && costs.memoryKiB < mostMemoryKiB {
            let larger = DerivationParameters(passes: costs.passes, memoryKiB: costs.memoryKiB * 2)
            do throws(VaultError) {
                time = try measure(larger)
            } catch {
                if error.code == .outOfMemory { break }  // a small machine: more passes then
                throw error
            }
            costs = larger
        }
        // The better of two runs: one disturbance must not make every later unlock cheap.
        time = min(time, try measure(costs))
        while time < target && costs.passes < 32 {
            let factor = min(4, (target + time - 1) / max(time, 1))
            costs = DerivationParameters(
                passes: max(costs.passes + 1, costs.passes * UInt32(factor)), memoryKiB: costs.memoryKiB)
            time = try measure(costs)
        }
        return costs
    }

    private static func measure(_ costs: DerivationParameters) throws(VaultError) -> UInt64 {
        let sample = try secretMemory(SecretBytes(zeroed: 16))
        let salt = [UInt8](repeating: 0, count: Slot.saltSize)
        let start = nanoseconds()
        _ = try crypto(
            unsafe Argon2id.derive(
                sample, salt: salt.span.bytes, passes: Int(costs.passes), memoryKiB: Int(costs.memoryKiB)))
        return nanoseconds() - start
    }

    /// This thread's own time: what else the machine does meanwhile must not make the costs look higher than they are.
    private static func nanoseconds() -> UInt64 { ThreadClock.nanoseconds }
}
