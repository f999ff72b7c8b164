package import SecretMemory
internal import SystemCalls
package import VaultFormat

/// Shares in files that only their user may open, for machines with nothing better and only where the caller says so. A
/// file guards nothing against a copy of the disk, and one that was removed is in every older copy.
package struct FileShares: ShareStore {
    package let kind = KeyStoreKind.file
    private let folder: ShareFolder

    /// - Parameter folder: Made when the first share is put there, for its user alone.
    package init(in folder: String) { self.folder = ShareFolder(path: folder) }

    private static let size = 32
    private static let backend = "file"

    package func assurance(of rule: ShareRule) -> Assurance { .none }

    /// The file is made under its own name and filled: half of one is left by a process that was killed, and no header
    /// names it yet.
    package func make(
        _ share: borrowing SecretBytes, as name: ShareName, under rule: ShareRule,
        note: (ShareItem) throws(ShareFailure) -> Void
    ) throws(ShareFailure) -> ShareItem {
        try shareFailures(in: kind) {
            guard share.count == FileShares.size else { throw KeyStoreError(.failure, "a share has 32 bytes") }
            try folder.probe()
            let item = ShareItem(name, .named(kind, backend: FileShares.backend))
            if let parent = try? folder.open() {
                defer { close(parent) }
                if rule.replaces {
                    _ = FileShares.empty(name.file, parent)
                    unsafe unlinkat(parent, name.file, 0)
                }
                var status = stat()
                guard unsafe fstatat(parent, name.file, &status, AT_SYMLINK_NOFOLLOW) != 0 else {
                    throw ShareFailure.nameTaken
                }
            }
            try note(item)
            let parent = try folder.open(making: true)
            defer { close(parent) }
            let file: Int32
            do throws(BeneathError) {
                file = try Beneath(parent).file(name.file, O_RDWR | O_CREAT | O_EXCL)
            } catch {
                if error == .system(EEXIST) { throw ShareFailure.nameTaken }
                throw ShareFolder.failure(error, "creating a share's file")
            }
            defer { close(file) }
            let written = share.withBytes { bytes in
                unsafe bytes.withUnsafeBytes { unsafe pwrite(file, $0.baseAddress, $0.count, 0) }
            }
            guard written == share.count, fsync(file) == 0, fsync(parent) == 0,
                try FileShares.content(of: file).isEqual(to: share)
            else {
                let failure = ShareFolder.failure("writing a share's file")
                unsafe unlinkat(parent, name.file, 0)
                folder.removeIfEmpty()
                throw failure
            }
            return item
        }
    }

    package func read(_ item: ShareItem, of vault: VaultID) throws(ShareFailure) -> SecretBytes {
        try item.check(kind, of: vault)
        return try shareFailures(in: kind) {
            do {
                let parent = try folder.open()
                defer { close(parent) }
                return try take(item.name.file, parent)
            } catch let error as KeyStoreError where error.code == .notFound {
                throw ShareFailure.lost(.notThere)
            }
        }
    }

    private func take(_ name: String, _ parent: Int32) throws -> SecretBytes {
        let file: Int32
        do throws(BeneathError) { file = try Beneath(parent).file(name, O_RDONLY) } catch {
            switch error {
            case .link, .notRegular, .notFolder: throw ShareFailure.lost(.replaced)
            default: throw ShareFolder.failure(error, "opening a share's file")
            }
        }
        defer { close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0 else { throw ShareFolder.failure("looking at a share's file") }
        guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
            throw KeyStoreError(.damaged, "the share's file is not one that only its owner may use")
        }
        guard status.st_size == FileShares.size else {
            throw ShareFailure.lost(status.st_size < FileShares.size ? .unfinished : .replaced)
        }
        let share = try FileShares.content(of: file)
        guard try !share.isEqual(to: SecretBytes(zeroed: FileShares.size)) else { throw ShareFailure.lost(.emptied) }
        return share
    }

    private static func content(of file: Int32) throws -> SecretBytes {
        var got = 0
        let share = try SecretBytes(count: size) { bytes in
            unsafe bytes.withUnsafeMutableBytes { got = unsafe pread(file, $0.baseAddress, $0.count, 0) }
        }
        guard got == size else { throw ShareFolder.failure("reading a share's file") }
        return share
    }

    /// A link, or a file with another name elsewhere, is removed and not overwritten: what is behind it may be somebody
    /// else's.
    package func revoke(_ item: ShareItem, of vault: VaultID) throws(ShareFailure) -> Revocation {
        guard item.isOf(kind, vault) else { return .anothers }
        return try shareFailures(in: kind) {
            let parent: Int32
            do throws(KeyStoreError) { parent = try folder.open() } catch {
                if error.code == .notFound { return .gone }
                throw error
            }
            defer { close(parent) }
            let name = item.name.file
            let isEmptied = FileShares.empty(name, parent)
            guard unsafe unlinkat(parent, name, 0) == 0 || errno == ENOENT else {
                guard isEmptied else { throw ShareFolder.failure("removing a share's file") }
                return .emptied
            }
            guard fsync(parent) == 0 || isEmptied else { throw ShareFolder.failure("removing a share's file") }
            folder.removeIfEmpty()
            return .gone
        }
    }

    /// Whether a file of ours was there, and is known to hold zeros now.
    private static func empty(_ name: String, _ parent: Int32) -> Bool {
        guard let file = try? Beneath(parent).file(name, O_RDWR) else { return false }
        defer { close(file) }
        let zeros = [UInt8](repeating: 0, count: size)
        guard unsafe pwrite(file, zeros, zeros.count, 0) == zeros.count, fsync(file) == 0,
            let read = try? content(of: file)
        else { return false }
        return unsafe read.isEqual(to: zeros.span.bytes)
    }

    package func probe() throws(ShareFailure) { try shareFailures(in: kind) { try folder.probe() } }
}

extension ShareName {
    fileprivate var file: String { text + ".share" }
}
