internal import Synchronization
internal import VaultStorage
internal import SystemCalls

/// A few readers that threads take and give back without waiting for each other.
///
/// Each place has one word that says whose it is. A thread that finds an idle reader takes it by changing the word, and
/// returns it the same way. Only the holder of the gate's monitor fills places, empties them, and recalls the readers
/// in use; a recalled one does not become idle again.
@safe final class ReaderSlots: @unchecked Sendable {  // a reader belongs to the thread that changed its place's word
    /// One place. Its word is the thread that has the reader, with one of ``Use`` in the lowest bits.
    @safe struct Slot: ~Copyable {
        fileprivate let word = Atomic<UInt>(Use.empty)
        fileprivate var reader: Unmanaged<RecordReader>?
        /// Keeps neighbours, which other threads change, out of this one's line of the cache.
        private let padding = (UInt64(0), UInt64(0), UInt64(0), UInt64(0), UInt64(0), UInt64(0))
    }

    fileprivate enum Use {
        static let empty: UInt = 0
        static let idle: UInt = 1
        static let taken: UInt = 2
        static let recalled: UInt = 3
        static let mask: UInt = 3
    }

    private static let count = 4
    private let slots: UnsafeMutablePointer<Slot>

    init() {
        unsafe slots = .allocate(capacity: ReaderSlots.count)
        for index in 0..<ReaderSlots.count { unsafe (slots + index).initialize(to: Slot()) }
    }

    deinit {
        for index in 0..<ReaderSlots.count { unsafe slots[index].reader?.release() }
        unsafe slots.deinitialize(count: ReaderSlots.count)
        unsafe slots.deallocate()
    }

    /// This thread as a word, with room for a ``Use``.
    static var thisThread: UInt { CurrentThread.word & ~Use.mask }

    /// An idle reader, for this thread alone until it is given back; nil when there is none.
    @inline(__always)
    func take() -> TakenReader? {
        let mine = ReaderSlots.thisThread | Use.taken
        for index in 0..<ReaderSlots.count {
            let slot = unsafe slots + index
            guard unsafe slot.pointee.word.load(ordering: .relaxed) == Use.idle,
                unsafe slot.pointee.word.compareExchange(
                    expected: Use.idle, desired: mine, successOrdering: .acquiring, failureOrdering: .relaxed
                ).exchanged, let reader = unsafe slot.pointee.reader
            else { continue }
            return unsafe TakenReader(slot: slot, word: mine, reader: reader)
        }
        return nil
    }
}

/// A reader in use by the thread that took it.
@safe struct TakenReader {
    fileprivate let slot: UnsafeMutablePointer<ReaderSlots.Slot>
    fileprivate let word: UInt
    /// Kept by the slot for as long as it is taken.
    let reader: Unmanaged<RecordReader>

    /// Makes the reader idle again; false when it was recalled, and then goes back through
    /// ``ReaderSlots/takeBack(_:)``.
    @inline(__always)
    func giveBack() -> Bool {
        unsafe slot.pointee.word.compareExchange(
            expected: word, desired: ReaderSlots.Use.idle, successOrdering: .releasing, failureOrdering: .relaxed
        ).exchanged
    }
}

/// For the holder of the gate's monitor.
extension ReaderSlots {
    /// Puts a reader into an empty place, idle; false when there is none.
    func fill(_ reader: RecordReader) -> Bool {
        for index in 0..<ReaderSlots.count {
            let slot = unsafe slots + index
            guard unsafe slot.pointee.word.load(ordering: .relaxed) == Use.empty else { continue }
            unsafe slot.pointee.reader = .passRetained(reader)
            unsafe slot.pointee.word.store(Use.idle, ordering: .releasing)
            return true
        }
        return false
    }

    /// Takes an idle reader out of its place.
    func withdraw() -> RecordReader? {
        for index in 0..<ReaderSlots.count {
            if let reader = unsafe empty(slots + index, ifItIs: Use.idle) { return reader }
        }
        return nil
    }

    /// Takes all idle readers out of their places, and recalls the others.
    func recall() -> [RecordReader] {
        var idle: [RecordReader] = []
        for index in 0..<ReaderSlots.count {
            let slot = unsafe slots + index
            while true {
                if let reader = unsafe empty(slot, ifItIs: Use.idle) { idle.append(reader) }
                let word = unsafe slot.pointee.word.load(ordering: .relaxed)
                if word & Use.mask == Use.idle { continue }  // given back since
                let isRecalled =
                    unsafe word & Use.mask != Use.taken
                    || slot.pointee.word.compareExchange(
                        expected: word, desired: word & ~Use.mask | Use.recalled, ordering: .relaxed
                    ).exchanged
                if isRecalled { break }
            }
        }
        return idle
    }

    /// The end of a recalled reader's use.
    func takeBack(_ taken: TakenReader) -> RecordReader? {
        unsafe empty(taken.slot, ifItIs: taken.word & ~Use.mask | Use.recalled)
    }

    /// Whether a thread other than these uses a recalled reader of this unlocking or an earlier one.
    func isRecalledUsed(upTo last: UInt64, besidesBy threads: [UInt]) -> Bool {
        for index in 0..<ReaderSlots.count {
            let slot = unsafe slots + index
            let word = unsafe slot.pointee.word.load(ordering: .relaxed)
            guard word & Use.mask == Use.recalled, let reader = unsafe slot.pointee.reader else { continue }
            // The place keeps it until its thread is let into the monitor.
            let generation = unsafe reader._withUnsafeGuaranteedRef { $0.generation }
            if generation <= last && !threads.contains(word & ~Use.mask) { return true }
        }
        return false
    }

    private func empty(_ slot: UnsafeMutablePointer<Slot>, ifItIs word: UInt) -> RecordReader? {
        // To a word that no thread changes until the reader has left.
        guard
            unsafe slot.pointee.word.compareExchange(
                expected: word, desired: Use.recalled, successOrdering: .acquiring, failureOrdering: .relaxed
            ).exchanged
        else { return nil }
        let reader = unsafe slot.pointee.reader
        unsafe slot.pointee.reader = nil
        unsafe slot.pointee.word.store(Use.empty, ordering: .releasing)
        return unsafe reader?.takeRetainedValue()
    }
}
