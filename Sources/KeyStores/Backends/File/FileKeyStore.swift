package import DeviceOwner
internal import HomeFiles
package import SecretMemory
package import VaultFormat
internal import SystemCalls

/// Shares in files that only their user may open, for machines without anything better. Anyone who reads the disk as
/// this user has them, and deleted data may stay on the medium: such a share protects nothing, and its assurance says
/// so.
package struct FileKeyStore: KeyStore {
    package let kind = KeyStoreKind.file
    package let assurance = Assurance.none
    private let folder: ShareFolder

    /// - Parameter folder: Made when the first share is put there, for its user alone.
    package init(in folder: String) { self.folder = ShareFolder(path: folder) }

    package func put(
        _ share: borrowing SecretBytes, as name: String, releasedBy secret: borrowing SecretBytes
    ) throws(KeyStoreError) -> KeyStoreItem {
        try KeyStoreError.checkName(name)
        guard share.count == FileKeyStore.size else { throw KeyStoreError(.failure, "a share has 32 bytes") }
        let parent = try folder.open(making: true)
        defer { close(parent) }
        let part = name + FileKeyStore.ending + ".part"
        unsafe unlinkat(parent, part, 0)
        let file: Int32
        do throws(BeneathError) { file = try Beneath(parent).file(part, O_WRONLY | O_CREAT | O_EXCL) } catch {
            throw ShareFolder.failure(error, "creating a share's file")
        }
        let written = share.withBytes { bytes in
            unsafe bytes.withUnsafeBytes { unsafe write(file, $0.baseAddress, $0.count) }
        }
        let isDurable = written == share.count && fsync(file) == 0
        close(file)
        guard isDurable, unsafe renameat(parent, part, parent, name + FileKeyStore.ending) == 0, fsync(parent) == 0
        else {
            let failure = ShareFolder.failure("writing a share's file")
            unsafe unlinkat(parent, part, 0)
            throw failure
        }
        return KeyStoreItem(.file, data: Array(name.utf8))
    }

    package func redeem(
        _ item: KeyStoreItem, _ release: borrowing OwnerRelease
    ) throws(KeyStoreError) -> SecretBytes { try take(item) }

    package func roundTrip() throws(KeyStoreError) {
        try roundTrip { item, _ throws(KeyStoreError) in try take(item) }
    }

    private func take(_ item: KeyStoreItem) throws(KeyStoreError) -> SecretBytes {
        let name = try name(of: item)
        let parent = try folder.open()
        defer { close(parent) }
        let file: Int32
        do throws(BeneathError) { file = try Beneath(parent).file(name, O_RDONLY) } catch {
            throw ShareFolder.failure(error, "opening a share's file")
        }
        defer { close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0, status.st_uid == geteuid(), status.st_mode & 0o077 == 0,
            status.st_size == FileKeyStore.size
        else { throw KeyStoreError(.damaged, "the share's file is not one that only its owner may use") }
        var got = 0
        let share: SecretBytes
        do throws(SecretMemoryError) {
            share = try SecretBytes(count: FileKeyStore.size) { bytes in
                unsafe bytes.withUnsafeMutableBytes { got = unsafe read(file, $0.baseAddress, $0.count) }
            }
        } catch { throw KeyStoreError(error) }
        guard got == FileKeyStore.size else { throw ShareFolder.failure("reading a share's file") }
        return share
    }

    /// Overwrites and removes a share's file. A file with another name elsewhere, a link, or anything else there is
    /// removed and not overwritten: the file behind it may be someone else's.
    package func delete(_ item: KeyStoreItem) throws(KeyStoreError) {
        let name = try name(of: item)
        let parent: Int32
        do throws(KeyStoreError) { parent = try folder.open() } catch {
            if error.code == .notFound { return }
            throw error
        }
        defer { close(parent) }
        if let file = try? Beneath(parent).file(name, O_WRONLY) {
            let zeros = [UInt8](repeating: 0, count: FileKeyStore.size)
            _ = unsafe pwrite(file, zeros, zeros.count, 0)
            fsync(file)
            close(file)
        }
        guard unsafe unlinkat(parent, name, 0) == 0 || errno == ENOENT else {
            throw ShareFolder.failure("removing a share's file")
        }
        fsync(parent)
        folder.removeIfEmpty()
    }

    package func probe() throws(KeyStoreError) { try folder.probe() }

    private static let size = 32
    private static let ending = ".share"

    private func name(of item: KeyStoreItem) throws(KeyStoreError) -> String {
        guard item.kind == .file, let name = String(validating: item.data, as: UTF8.self) else {
            throw KeyStoreError(.damaged, "this is no item of a file")
        }
        try KeyStoreError.checkName(name)
        return name + FileKeyStore.ending
    }
}
