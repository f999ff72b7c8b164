internal import CPlatform
internal import SystemCalls

/// Files that lie in memory and not on a disk.
package enum MemoryFiles {
    /// Whether what is written through a descriptor stays in memory (tmpfs, ramfs). Memory may still be swapped out. False where
    /// the system does not say.
    package static func contains(_ descriptor: Int32) -> Bool {
        #if os(Linux) && !canImport(Darwin)
        return cplatform_is_memory(descriptor) == 1
        #else
        return false
        #endif
    }

    /// Makes an empty file in memory that no folder names, for this user alone: it goes with the last descriptor of it, however a program ends.
    /// - Returns: Its descriptor, which other programs do not inherit; nil, with `errno`, where the system makes none.
    package static func make() -> Int32? {
        #if os(Linux) && !canImport(Darwin)
        let descriptor = unsafe cplatform_memfd("holdfast")
        guard descriptor >= 0 else { return nil }
        guard fchmod(descriptor, 0o600) == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
        #else
        errno = ENOSYS
        return nil
        #endif
    }
}
