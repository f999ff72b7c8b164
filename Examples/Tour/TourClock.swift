internal import Holdfast
internal import Synchronization

/// A clock that goes by the minutes that a chapter says have passed, so that no countdown takes real time. Only the
/// tour's own vaults use it.
final class TourClock: BootClock {
    private let passed = Mutex<UInt64>(0)
    private let start = SystemBootClock().now()

    func now() -> BootInstant {
        BootInstant(bootID: start.bootID, milliseconds: start.milliseconds + passed.withLock { $0 })
    }

    func advance(seconds: UInt64) { passed.withLock { $0 += seconds * 1000 } }
}
