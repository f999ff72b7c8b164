internal import CPlatform
internal import Synchronization

/// Small secrets without a system call each: slots of 32 to 4,096 bytes in locked slabs, one free list per size.
///
/// The link of a free slot lies in the slot itself, so the arena needs no memory of its own. A slot is wiped before it
/// returns to its list, so every slot handed out is zero but for the link, which is cleared on the way out. Slots that
/// nobody has had yet are on no list: a page of a slab, for which the kernel changes its own map, is made when it is
/// needed.
@safe final class SlabArena: Sendable {
    static let shared = SlabArena(isBulk: false)
    /// For ``BulkMemory``: its slabs may lie in memory that is not locked.
    static let bulk = SlabArena(isBulk: true)
    static let largestSlot = 4096
    private static let smallestSlotLog2 = 5  // 32 bytes
    private static let sizeClasses = 8
    /// Bytes added to a size class when its list is empty. An ordinary user may lock 8 MiB in all.
    private static let slabSize = 16 * 1024

    @safe private struct FreeLists: @unchecked Sendable {  // pointers into slabs that live as long as the process
        var heads = unsafe [UnsafeMutableRawPointer?](repeating: nil, count: SlabArena.sizeClasses)
        /// The rest of the newest slab of each size.
        var unused = unsafe [UnsafeMutableRawBufferPointer](
            repeating: UnsafeMutableRawBufferPointer(start: nil, count: 0), count: SlabArena.sizeClasses)
    }
    private let lists = Mutex(FreeLists())
    private let isBulk: Bool

    private init(isBulk: Bool) { self.isBulk = isBulk }

    private static func sizeClass(_ count: Int) -> Int {
        count <= 32 ? 0 : Int.bitWidth - (count - 1).leadingZeroBitCount - smallestSlotLog2
    }

    func allocate(_ count: Int) throws(SecretMemoryError) -> UnsafeMutableRawPointer {
        let index = SlabArena.sizeClass(count)
        return try unsafe lists.withLock { lists throws(SecretMemoryError) in
            guard let slot = unsafe lists.heads[index] else { return try unsafe unusedSlot(index, &lists) }
            unsafe lists.heads[index] = slot.load(as: UnsafeMutableRawPointer?.self)
            unsafe slot.storeBytes(of: nil, as: UnsafeMutableRawPointer?.self)
            return unsafe slot
        }
    }

    func free(_ slot: UnsafeMutableRawPointer, _ count: Int) {
        let index = SlabArena.sizeClass(count)
        unsafe cplatform_wipe(slot, count)
        lists.withLock { lists in
            unsafe slot.storeBytes(of: lists.heads[index], as: UnsafeMutableRawPointer?.self)
            unsafe lists.heads[index] = slot
        }
    }

    /// The first slot that nobody has had yet, of a new slab where there is none.
    private func unusedSlot(
        _ index: Int, _ lists: inout FreeLists
    ) throws(SecretMemoryError) -> UnsafeMutableRawPointer {
        let (size, slabSize) = (1 << (index + SlabArena.smallestSlotLog2), SlabArena.slabSize)
        if unsafe lists.unused[index].count == 0 {
            let slab = try unsafe isBulk ? SlabArena.mapBulk(slabSize) : LockedPages.map(slabSize)
            unsafe lists.unused[index] = UnsafeMutableRawBufferPointer(start: slab, count: slabSize)
        }
        let unused = unsafe lists.unused[index]
        unsafe lists.unused[index] = UnsafeMutableRawBufferPointer(rebasing: unused[size...])
        return unsafe unused.baseAddress.unsafelyUnwrapped
    }

    /// Slabs stay, so what is locked for them counts for good.
    private static func mapBulk(_ size: Int) throws(SecretMemoryError) -> UnsafeMutableRawPointer {
        if BulkMemory.claim(size) {
            if let pages = try? unsafe LockedPages.map(size) { return unsafe pages }
            BulkMemory.release(size)
        }
        return try unsafe LockedPages.mapOrdinary(size, at: nil)
    }
}
