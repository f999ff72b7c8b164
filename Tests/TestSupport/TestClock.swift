import Synchronization
package import VaultHeader

/// A clock that stands until the test moves it.
package final class TestClock: BootClock {
    private let state = Mutex(BootInstant(bootID: [UInt8](repeating: 1, count: 16), milliseconds: 1_000_000))

    package init() {}

    package func now() -> BootInstant { state.withLock { $0 } }

    package func advance(seconds: UInt64) { advance(milliseconds: seconds * 1000) }

    package func advance(milliseconds: UInt64) {
        state.withLock { $0 = BootInstant(bootID: $0.bootID, milliseconds: $0.milliseconds + milliseconds) }
    }

    package func set(_ instant: BootInstant) { state.withLock { $0 = instant } }

    /// Another boot, its clock starting near zero.
    package func reboot() {
        state.withLock { $0 = BootInstant(bootID: $0.bootID.map { $0 &+ 1 }, milliseconds: 5_000) }
    }
}
