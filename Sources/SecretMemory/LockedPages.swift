internal import CPlatform
internal import SystemCalls

/// Whole pages that are never swapped and never in a core file: the ground under slabs and guarded pages.
@safe enum LockedPages {
    static let pageSize = Int(sysconf(Int32(_SC_PAGESIZE)))

    /// Whether this kernel offers `memfd_secret(2)` (some ship it switched off).
    static let kernelHidesSecrets: Bool = {
        guard let pages = try? unsafe mapHidden(pageSize, at: nil) else { return false }
        unsafe munmap(pages, pageSize)
        return true
    }()

    /// Maps `size` bytes (a multiple of the page size), zeroed.
    static func map(_ size: Int) throws(SecretMemoryError) -> UnsafeMutableRawPointer {
        try unsafe kernelHidesSecrets ? mapHidden(size, at: nil) : mapLocked(size, at: nil)
    }

    /// Maps memory that the system may swap out, but that is in no core file where the system can, and in no child
    /// process (``BulkMemory``).
    static func mapOrdinary(_ size: Int, at fixed: UnsafeMutableRawPointer?) throws(SecretMemoryError)
        -> UnsafeMutableRawPointer
    {
        let placement = unsafe fixed == nil ? 0 : Int32(MAP_FIXED)
        let flags = Int32(MAP_PRIVATE) | Int32(MAP_ANONYMOUS) | placement
        guard let pages = unsafe mmap(fixed, size, PROT_READ | PROT_WRITE, flags, -1, 0), unsafe pages != MAP_FAILED
        else { throw .lockedMemoryExhausted(bytes: size) }
        unsafe keepToProcess(pages, size)
        return unsafe pages
    }

    /// Keeps pages out of core files and child processes.
    private static func keepToProcess(_ pages: UnsafeMutableRawPointer, _ size: Int) {
        #if os(Linux) && !canImport(Darwin)
        unsafe madvise(pages, size, Int32(MADV_DONTDUMP))
        unsafe madvise(pages, size, Int32(MADV_DONTFORK))
        #else
        unsafe minherit(pages, size, 2)  // VM_INHERIT_NONE, a macro that does not import
        #endif
    }

    /// Maps memory that is kept out of swap, and out of core files where the system can: for kernels that cannot hide
    /// it.
    static func mapLocked(_ size: Int, at fixed: UnsafeMutableRawPointer?) throws(SecretMemoryError)
        -> UnsafeMutableRawPointer
    {
        let placement = unsafe fixed == nil ? 0 : Int32(MAP_FIXED)
        let flags = Int32(MAP_PRIVATE) | Int32(MAP_ANONYMOUS) | placement
        guard let pages = unsafe mmap(fixed, size, PROT_READ | PROT_WRITE, flags, -1, 0), unsafe pages != MAP_FAILED
        else { throw .lockedMemoryExhausted(bytes: size) }
        guard unsafe mlock(pages, size) == 0 else {
            // At a fixed place the pages belong to the caller's reservation, which must not get a hole.
            if unsafe fixed == nil { unsafe munmap(pages, size) }
            throw .lockedMemoryExhausted(bytes: size)
        }
        // A forked child does not get it, as with memory that is hidden.
        unsafe keepToProcess(pages, size)
        return unsafe pages
    }

    /// Maps memory that no other process, and not even the kernel's own map, can reach; it counts against the same
    /// limit as `mlock`. A forked child does not get it: a secret has one owner.
    static func mapHidden(_ size: Int, at fixed: UnsafeMutableRawPointer?) throws(SecretMemoryError)
        -> UnsafeMutableRawPointer
    {
        #if os(Linux) && !canImport(Darwin)
        let descriptor = cplatform_memfd_secret()
        guard descriptor >= 0 else { throw .lockedMemoryExhausted(bytes: size) }
        defer { close(descriptor) }
        guard ftruncate(descriptor, off_t(size)) == 0 else { throw .lockedMemoryExhausted(bytes: size) }
        let placement = unsafe fixed == nil ? 0 : Int32(MAP_FIXED)
        let flags = Int32(MAP_SHARED) | placement
        guard let pages = unsafe mmap(fixed, size, PROT_READ | PROT_WRITE, flags, descriptor, 0),
            unsafe pages != MAP_FAILED
        else { throw .lockedMemoryExhausted(bytes: size) }
        unsafe madvise(pages, size, MADV_DONTFORK)
        return unsafe pages
        #else
        throw .lockedMemoryExhausted(bytes: size)
        #endif
    }
}
