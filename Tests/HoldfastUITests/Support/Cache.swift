import Holdfast
import Synchronization

/// Something of an app's.
final class Cache: WipeTarget {
    let identifier = "org.example.cache"
    private let erased = Mutex(false)
    var isGone: Bool { erased.withLock { $0 } }

    func erase() -> Int {
        erased.withLock { $0 = true }
        return 1
    }

    func isErased() -> Bool { isGone }
}
