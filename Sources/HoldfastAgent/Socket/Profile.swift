internal import VaultCore
internal import VaultStorage
internal import SystemCalls

/// Which vault an agent serves: the folder itself, however its path is written.
package struct Profile: Sendable, Hashable {
    /// The device that the home is on.
    package let device: UInt64
    /// The home's inode there.
    package let inode: UInt64

    /// - Throws: `agentUnavailable` when the descriptor cannot be examined.
    init(home descriptor: Int32) throws(VaultError) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw .system("examining the home") }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }

    /// The name of its socket in a folder that may hold those of other profiles.
    var socketName: String { "\(String(device, radix: 16))-\(String(inode, radix: 16)).sock" }
}
