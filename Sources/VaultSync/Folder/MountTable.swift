internal import SystemCalls

/// On what kind of file system a folder lies, as the kernel says it.
package enum MountTable {
    /// File systems on which every change passes this kernel, so that it can tell of them. On any other, a server, a
    /// driver outside of the kernel or another machine may change files unseen.
    private static let local: Set<[UInt8]> = Set(
        [
            "ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "jfs", "reiserfs", "nilfs2", "bcachefs", "zfs", "vfat",
            "exfat", "ntfs3", "hfsplus", "udf", "tmpfs", "ramfs", "overlay", "ecryptfs",
        ].map { Array($0.utf8) })

    /// Whether the kernel tells of all changes in an open folder.
    static func tellsAllChanges(in folder: borrowing OwnedDescriptor) -> Bool {
        guard let information = contents("/proc/self/fdinfo/\(folder.number)", limit: 64 * 1024),
            let mounts = contents("/proc/self/mountinfo", limit: 4 << 20)
        else { return false }
        return tellsAllChanges(information, mounts)
    }

    /// - Parameters:
    ///   - information: What `/proc/self/fdinfo` has of a descriptor.
    ///   - mounts: `/proc/self/mountinfo`.
    package static func tellsAllChanges(_ information: [UInt8], _ mounts: [UInt8]) -> Bool {
        guard let mount = mount(in: information), let kind = kind(of: mount, in: mounts) else { return false }
        return local.contains(kind)
    }

    private static func contents(_ path: String, limit: Int) -> [UInt8]? {
        guard let file = try? OwnedDescriptor(path, O_RDONLY) else { return nil }
        return try? file.readAll(limit: limit)
    }

    /// The number behind `mnt_id:`.
    private static func mount(in information: [UInt8]) -> [UInt8]? {
        for line in information.split(separator: newline) where line.starts(with: "mnt_id:".utf8) {
            return line.split { $0 == space || $0 == tab }.last.map(Array.init)
        }
        return nil
    }

    /// The word behind the lone hyphen in the line of a mount.
    private static func kind(of mount: [UInt8], in mounts: [UInt8]) -> [UInt8]? {
        for line in mounts.split(separator: newline) {
            let words = line.split(separator: space)
            guard words.first.map({ $0.elementsEqual(mount) }) == true else { continue }
            guard let hyphen = words.firstIndex(where: { $0.elementsEqual("-".utf8) }), hyphen + 1 < words.count else {
                return nil
            }
            return Array(words[hyphen + 1])
        }
        return nil
    }

    private static let newline = UInt8(ascii: "\n")
    private static let space = UInt8(ascii: " ")
    private static let tab = UInt8(ascii: "\t")
}
