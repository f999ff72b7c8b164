internal import SystemCalls

/// How much a run does: a part of what takes long in `make test`, with counts that still find what is wrong; the whole
/// in `make check`; far more in `make soak`. Tests and the processes that they start ask the same.
package enum TestExtent {
    /// Set by `make soak`.
    package static let isSoak = unsafe getenv("HOLDFAST_SOAK") != nil

    /// Set by `make check`, and in `make soak` too.
    package static let isCheck = isSoak || (unsafe getenv("HOLDFAST_CHECK") != nil)

    /// Entries of the security log after which the vaults of tests begin another file of it; the format's own number
    /// but in `make test`.
    package static let entriesPerSegment: UInt64 = isCheck ? 8191 : 64
}
