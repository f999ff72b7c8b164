internal import SystemCalls

extension VaultError {
    /// An `errno` as one of our codes, with the system's words.
    package static func system(_ number: Int32, _ doing: String) -> VaultError {
        let words = SystemError(number)
        switch number {
        case ENOSPC, EDQUOT:
            return VaultError(.diskFull, "\(doing): \(words); what was stored before is unchanged")
        case EEXIST: return VaultError(.exists, "\(doing): \(words)")
        case EROFS: return VaultError(.readOnly, "\(doing): \(words)")
        case EACCES, EPERM: return VaultError(.permissionDenied, "\(doing): \(words)")
        case ENOMEM: return VaultError(.outOfMemory, "\(doing): \(words)")
        default: return VaultError(.inputOutput, "\(doing): \(words)")
        }
    }
}

/// Repeats a system call that a signal interrupted; throws its `errno` as ours.
@discardableResult
package func system<T: SignedInteger>(_ doing: @autoclosure () -> String, _ call: () -> T) throws(VaultError) -> T {
    while true {
        let result = call()
        if result >= 0 { return result }
        let number = errno
        if number != EINTR { throw .system(number, doing()) }
    }
}
