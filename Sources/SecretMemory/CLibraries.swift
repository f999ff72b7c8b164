#if canImport(CSodium)
internal import CSodium
#endif

/// The C libraries that a program on Linux loads when it needs them (`Sources/LateLibraries`). One that cannot be
/// loaded ends the process with status 127 and a line on standard error, as the system's loader does.
package enum CLibraries {
    /// Loads all that a vault needs: before something is done that must not be cut short, and before anybody is
    /// served.
    package static func load() {
        #if canImport(CSodium)
        late_load_all()
        #endif
    }

    /// Loads what the identity server needs: all but LMDB.
    package static func loadForServer() {
        #if canImport(CSodium)
        late_load_server()
        #endif
    }
}
