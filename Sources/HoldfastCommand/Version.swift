/// Of the command and the library; the vault's format has a version of its own.
enum Version {
    static let text = "0.1.0"

    /// What `holdfast version` says behind it. A build of `make test` says what it is: what it writes is quick to
    /// guess.
    #if HOLDFAST_TEST_COSTS
    static let note = " (test build, not for secrets)"
    #else
    static let note = ""
    #endif
}
