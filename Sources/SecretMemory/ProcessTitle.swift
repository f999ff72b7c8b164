internal import CPlatform

/// What the system calls this process in its lists.
package enum ProcessTitle {
    /// - Parameter name: At most 15 bytes; the system cuts what is longer.
    package static func set(_ name: String) {
        #if os(Linux) && !canImport(Darwin)
        _ = unsafe name.withCString { unsafe cplatform_set_name($0) }
        #endif
    }
}
