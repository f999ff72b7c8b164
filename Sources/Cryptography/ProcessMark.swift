internal import Synchronization
internal import SystemCalls

/// Tells a process from the one it was forked from, without a system call each time.
enum ProcessMark {
    /// A number that this process keeps and that a forked child does not have.
    @inline(__always)
    static var current: pid_t {
        guard let page = unsafe emptiedByForks.mark else { return getpid() }
        let mark = unsafe page.pointee.load(ordering: .relaxed)
        return mark != 0 ? mark : renew()
    }

    @inline(never)
    private static func renew() -> pid_t {
        let own = getpid()
        unsafe emptiedByForks.mark?.pointee.store(own, ordering: .relaxed)
        return own
    }

    /// In a page that the kernel empties in every forked child; nil where it cannot.
    @safe private struct Page: @unchecked Sendable {  // the atomic lives as long as the process
        let mark: UnsafeMutablePointer<Atomic<pid_t>>?
    }

    private static let emptiedByForks: Page = {
        #if os(Linux) && !canImport(Darwin)
        let size = Int(sysconf(Int32(_SC_PAGESIZE)))
        let flags = Int32(MAP_PRIVATE) | Int32(MAP_ANONYMOUS)
        guard let page = unsafe mmap(nil, size, PROT_READ | PROT_WRITE, flags, -1, 0), unsafe page != MAP_FAILED else {
            return unsafe Page(mark: nil)
        }
        guard unsafe madvise(page, size, Int32(MADV_WIPEONFORK)) == 0 else {
            unsafe munmap(page, size)
            return unsafe Page(mark: nil)
        }
        let mark = unsafe page.bindMemory(to: Atomic<pid_t>.self, capacity: 1)
        unsafe mark.initialize(to: Atomic(0))
        return unsafe Page(mark: mark)
        #else
        return unsafe Page(mark: nil)
        #endif
    }()
}
