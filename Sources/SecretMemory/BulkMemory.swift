internal import Synchronization
internal import SystemCalls

/// Memory for what a file of another program holds, which may be far more than a user may lock (often 8 MiB).
///
/// Between ``begin(isAllowed:)`` and ``end(_:)``, transient secrets of this thread are locked as long as they take less
/// than 4 MiB together. Beyond that they lie in ordinary pages: wiped when they are freed, in no core file, in no child
/// process, but the system may swap them out. Keys stay out of it.
package enum BulkMemory {
    /// Bytes that are locked for it at most, so that enough is left for the vault.
    static let mostLocked = 4 << 20

    private static let locked = Atomic<Int>(0)

    /// Whether this thread is in such a scope: the value that a thread has of its own is nil or not.
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let isMade = unsafe pthread_key_create(&key, nil) == 0
        precondition(isMade, "no more values of threads")
        return key
    }()

    /// Begins a scope, or a part of one whose secrets are keys.
    /// - Parameter isAllowed: False for keys.
    /// - Returns: What to ``end(_:)`` it with.
    package static func begin(isAllowed: Bool) -> Bool {
        let outer = self.isAllowed
        set(isAllowed)
        return outer
    }

    /// Ends a scope on the thread that began it.
    package static func end(_ outer: Bool) { set(outer) }

    static var isAllowed: Bool { unsafe pthread_getspecific(key) != nil }

    private static func set(_ isAllowed: Bool) {
        _ = unsafe pthread_setspecific(key, isAllowed ? UnsafeRawPointer(bitPattern: 1) : nil)
    }

    /// Whether so many bytes more may be locked; they count until ``release(_:)``.
    static func claim(_ size: Int) -> Bool {
        let after = locked.add(size, ordering: .relaxed).newValue
        if after <= mostLocked { return true }
        release(size)
        return false
    }

    static func release(_ size: Int) { locked.subtract(size, ordering: .relaxed) }
}
