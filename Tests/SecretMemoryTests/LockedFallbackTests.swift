import Foundation
import TestSupport
import Testing

@testable import SecretMemory

#if os(Linux) && !canImport(Darwin)
/// What secrets lie in where the kernel hides nothing. This kernel may; its locked pages are made in any case.
@Suite struct LockedFallbackTests {
    @Test func pagesAreLockedOutOfCoreFilesAndNotInherited() throws {
        let size = LockedPages.pageSize * 2
        let pages = try unsafe LockedPages.mapLocked(size, at: nil)
        defer { unsafe munmap(pages, size) }
        let mapping = try #require(try Mapping.containing(UInt(bitPattern: pages)))
        // The sanitizers turn mlock(2) into nothing.
        for flag in TestRun.isSanitized ? ["dd", "dc"] : ["lo", "dd", "dc"] {
            #expect(mapping.flags.contains(flag), "\(flag): \(mapping)")
        }
        #expect(unsafe pages.load(as: UInt64.self) == 0)
    }

    @Test func atAFixedPlaceTheGuardsStay() throws {
        let page = LockedPages.pageSize
        let flags = Int32(MAP_PRIVATE) | Int32(MAP_ANONYMOUS)
        let reserved = try unsafe #require(mmap(nil, 3 * page, PROT_NONE, flags, -1, 0))
        defer { unsafe munmap(reserved, 3 * page) }
        let pages = try unsafe LockedPages.mapLocked(page, at: reserved + page)
        #expect(unsafe pages == reserved + page)
        let first = UInt(bitPattern: reserved)
        #expect(Probe.isReadable(first + UInt(page)) && Probe.isWritable(first + UInt(page)))
        for guarded in [first + UInt(page) - 1, first + 2 * UInt(page)] {
            #expect(!Probe.isReadable(guarded) && !Probe.isWritable(guarded))
        }
    }
}
#endif
