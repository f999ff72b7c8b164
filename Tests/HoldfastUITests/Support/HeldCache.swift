import Foundation
import Holdfast
import Synchronization

/// Something of an app's that is erased when the test lets go of it.
final class HeldCache: WipeTarget {
    let identifier = "org.example.held"
    private let release = DispatchSemaphore(value: 0)
    private let state = Mutex((isReached: false, isGone: false))

    /// Whether a wipe has come to it.
    var isReached: Bool { state.withLock { $0.isReached } }
    var isGone: Bool { state.withLock { $0.isGone } }

    func letGo() { release.signal() }

    func erase() -> Int {
        state.withLock { $0.isReached = true }
        release.wait()
        state.withLock { $0.isGone = true }
        return 1
    }

    func isErased() -> Bool { isGone }
}
