internal import CPlatform

/// What work with secrets leaves on a thread: no code of ours keeps a secret outside of ``SecretBytes``, but the compiler
/// and the libraries put parts of keys and of texts into registers and onto the stack, and there they stay, also on the
/// stack of a thread that has ended, until something else happens to overwrite them.
///
/// Both calls clear what functions left that have *returned*. So they stand where such work is over, in the function that
/// called it: at the end of each operation on a vault, and where a thread that did some goes to rest.
package enum WorkingMemory {
    /// Bytes of stack below a caller. Reading a record reaches about half as far.
    private static let near = 8192
    /// Pages of stack below a caller. Nothing of ours reaches as far, and the libraries below do not either.
    private static let most = 64

    /// Clears the vector registers and the stack below the caller, as far as reading and writing a record go.
    ///
    /// Takes some dozens of nanoseconds.
    package static func wipe() {
        cplatform_wipe_far(near)
        cplatform_wipe_near()
        cplatform_wipe_registers()
    }

    /// The same for all of the stack below the caller that is in memory: for what derives keys, or locks.
    ///
    /// Takes some microseconds, and a tenth of a millisecond in a process's first thread.
    package static func wipeAll() {
        cplatform_wipe_pages(most, LockedPages.pageSize)
        wipe()
    }
}
