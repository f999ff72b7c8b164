internal import CPlatform
internal import SystemCalls

#if canImport(CSodium)
internal import CSodium
#endif

/// Pages of their own for one secret, between two inaccessible pages; the bytes end at the upper guard (but for
/// alignment), so that a run over the end faults instead of reaching a neighbour.
@safe enum GuardedPages {
    private static func roundedToPages(_ count: Int) -> Int {
        let page = LockedPages.pageSize
        return max(page, (count + page - 1) / page * page)
    }

    /// Distance from the first usable page to the secret: keeps 16-byte alignment.
    private static func offset(_ count: Int) -> Int { (roundedToPages(count) - count) & ~15 }

    static func allocate(_ count: Int) throws(SecretMemoryError) -> UnsafeMutableRawPointer {
        #if canImport(CSodium)
        guard LockedPages.kernelHidesSecrets else { return try unsafe allocateWithSodium(count) }
        #endif
        return try unsafe allocateMapped(count) { at throws(SecretMemoryError) in
            let size = roundedToPages(count)
            return try unsafe LockedPages.kernelHidesSecrets
                ? LockedPages.mapHidden(size, at: at) : LockedPages.mapLocked(size, at: at)
        }
    }

    /// As ``allocate(_:)``, in memory that is not locked (``BulkMemory``); freed with ``freeMapped(_:_:)``.
    static func allocateOrdinary(_ count: Int) throws(SecretMemoryError) -> UnsafeMutableRawPointer {
        try unsafe allocateMapped(count) { at throws(SecretMemoryError) in
            try unsafe LockedPages.mapOrdinary(roundedToPages(count), at: at)
        }
    }

    private static func allocateMapped(
        _ count: Int, _ map: (UnsafeMutableRawPointer) throws(SecretMemoryError) -> UnsafeMutableRawPointer
    ) throws(SecretMemoryError) -> UnsafeMutableRawPointer {
        let page = LockedPages.pageSize
        let size = roundedToPages(count)
        let flags = Int32(MAP_PRIVATE) | Int32(MAP_ANONYMOUS)
        guard let reserved = unsafe mmap(nil, size + 2 * page, PROT_NONE, flags, -1, 0),
            unsafe reserved != MAP_FAILED
        else { throw .lockedMemoryExhausted(bytes: count) }
        do throws(SecretMemoryError) { return try unsafe map(reserved + page) + offset(count) } catch {
            unsafe munmap(reserved, size + 2 * page)
            throw .lockedMemoryExhausted(bytes: count)
        }
    }

    static func free(_ secret: UnsafeMutableRawPointer, _ count: Int) {
        #if canImport(CSodium)
        guard LockedPages.kernelHidesSecrets else {
            unsafe sodium_free(secret)  // wipes
            return
        }
        #endif
        unsafe freeMapped(secret, count)
    }

    static func freeMapped(_ secret: UnsafeMutableRawPointer, _ count: Int) {
        unsafe cplatform_wipe(secret, count)
        let page = LockedPages.pageSize
        unsafe munmap(secret - offset(count) - page, roundedToPages(count) + 2 * page)
    }

    #if canImport(CSodium)
    private static func allocateWithSodium(_ count: Int) throws(SecretMemoryError) -> UnsafeMutableRawPointer {
        guard Sodium.isReady else { throw .libraryUnavailable }
        guard let secret = unsafe sodium_malloc(max(count, 1)) else { throw .lockedMemoryExhausted(bytes: count) }
        // sodium_malloc continues if its own mlock fails; this fails.
        guard unsafe sodium_mlock(secret, max(count, 1)) == 0 else {
            unsafe sodium_free(secret)
            throw .lockedMemoryExhausted(bytes: count)
        }
        unsafe memset(secret, 0, count)
        return unsafe secret
    }
    #endif
}
