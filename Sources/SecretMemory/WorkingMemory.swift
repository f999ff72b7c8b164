internal import CPlatform

/// What work with secrets leaves on a thread: no code of ours keeps a secret outside of ``SecretBytes``, but the
/// compiler and the libraries put parts of keys and of texts into registers and onto the stack, and there they stay,
/// also on the stack of a thread that has ended, until something else happens to overwrite them.
///
/// Both calls clear what functions left that have *returned*. So they stand where such work is over, in the function
/// that called it: at the end of each operation on a vault, and where a thread that did some goes to rest.
package enum WorkingMemory {
    /// How far down the stack work has gone.
    package enum Depth: Int, Sendable {
        // As reading a record goes: 3,200 bytes of the release build, 3,700 with a cipher that the processor has no
        // instructions for, 4,250 where the first error is made; 8,000 of the debug build.
        #if DEBUG
        case reading = 8704
        #else
        case reading = 4608
        #endif
        /// As any other operation on records goes: 7,600 bytes for writing.
        case operation = 12_288
    }

    /// Clears the vector registers and the stack below the caller.
    ///
    /// Takes 55 ns for a read, and 120 ns for the others.
    package static func wipe(_ depth: Depth = .operation) {
        cplatform_wipe_far(depth.rawValue)
        cplatform_wipe_near()
        cplatform_wipe_registers()
    }

    /// The same for all of the stack below the caller that is in memory, 256 KiB at most: for what derives keys, or
    /// locks.
    ///
    /// Takes some microseconds.
    package static func wipeAll() {
        cplatform_wipe_pages(LockedPages.pageSize)
        wipe()
    }
}
