internal import Synchronization
package import VaultCore

/// A clock that stands until a test moves it: delays after wrong passcodes and the days for which an enrolled finger is
/// accepted run on it.
public final class TestClock: Sendable {
    private let state = Mutex(BootInstant(bootID: [UInt8](repeating: 1, count: 16), milliseconds: 1_000_000))

    /// A clock of a device that was started a while ago.
    package init() {}

    /// Lets time pass.
    /// - Parameter duration: Whole milliseconds; a negative duration lets none pass.
    public func advance(by duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let milliseconds = UInt64(clamping: seconds) * 1000 + UInt64(clamping: attoseconds / 1_000_000_000_000_000)
        state.withLock { $0 = BootInstant(bootID: $0.bootID, milliseconds: $0.milliseconds + milliseconds) }
    }

    /// Restarts the device: the clock begins again near zero, and a delay begins again with it.
    public func restartDevice() {
        state.withLock { $0 = BootInstant(bootID: $0.bootID.map { $0 &+ 1 }, milliseconds: 5_000) }
    }
}

extension TestClock: BootClock {
    package func now() -> BootInstant { state.withLock { $0 } }
}
