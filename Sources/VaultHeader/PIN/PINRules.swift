package import SecretMemory
internal import VaultFormat
package import VaultStorage

/// What can be a PIN. The chip gives a thief as many tries as the vault's rules say, at most ten: four characters are
/// enough unless they are the ones that everybody tries first.
package enum PINRules {
    package static let sizes = 4...64

    /// - Throws: `invalidPasscode`.
    package static func check(_ pin: borrowing SecretBytes, beside passcode: borrowing SecretBytes) throws(VaultError) {
        guard sizes.contains(pin.count) else {
            throw VaultError(.invalidPasscode, "a PIN has \(sizes.lowerBound) to \(sizes.upperBound) bytes")
        }
        guard !isRun(pin) else {
            throw VaultError(
                .invalidPasscode, "a PIN like 0000, 1234 or 4321 is what everybody tries first")
        }
        // It could be searched for wherever the passcode can.
        guard try !ComposedForm.isSame(pin, passcode) else {
            throw VaultError(.invalidPasscode, "the PIN has to be another one than the passcode")
        }
    }

    /// Whether each byte is the one before it, or one more, or one less, all the way. Takes the same time for all PINs
    /// of a size.
    private static func isRun(_ pin: borrowing SecretBytes) -> Bool {
        pin.withBytes { bytes in
            var isRun = (same: true, up: true, down: true)
            for index in 1..<bytes.byteCount {
                let step = Int(bytes[index]) - Int(bytes[index - 1])
                isRun.same = (step == 0) && isRun.same
                isRun.up = (step == 1) && isRun.up
                isRun.down = (step == -1) && isRun.down
            }
            return isRun.same || isRun.up || isRun.down
        }
    }
}

extension RawSpan {
    fileprivate subscript(index: Int) -> UInt8 { present(at: index, as: UInt8.self) }
}
