internal import Synchronization
internal import SecretMemory

/// The tag of the last passcode known to be wrong, in locked memory only.
final class WrongTag: Sendable {
    private let tag = Mutex<SecretBytes?>(nil)

    func matches(_ other: [UInt8]) -> Bool {
        tag.withLock { tag in unsafe tag?.isEqual(to: other.span.bytes) ?? false }
    }

    /// One that cannot be kept is not kept: the passcode then counts again.
    func set(_ new: [UInt8]?) {
        tag.withLock { tag in
            guard let new else { return tag = nil }
            tag = unsafe try? SecretBytes(copying: new.span.bytes)
        }
    }
}
