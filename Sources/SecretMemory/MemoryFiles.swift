internal import CPlatform

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
}
