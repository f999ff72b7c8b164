package import DeviceOwner
package import SecretMemory
package import VaultFormat

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Shares in files that only their user may open, for machines without anything better. Whoever reads the disk as this
/// user has them, and what is deleted may linger on the medium: the share by itself protects nothing, and says so.
package struct FileKeyStore: KeyStore {
    package let kind = KeyStoreKind.file
    package let assurance = Assurance.none
    private let folder: String

    /// - Parameter folder: Made when the first share is put there, for its user alone.
    package init(in folder: String) { self.folder = folder }

    package func put(
        _ share: borrowing SecretBytes, as name: String, releasedBy secret: borrowing SecretBytes
    ) throws(KeyStoreError) -> KeyStoreItem {
        try KeyStoreError.checkName(name)
        guard share.count == FileKeyStore.size else { throw KeyStoreError(.failure, "a share has 32 bytes") }
        guard unsafe mkdir(folder, 0o700) == 0 || errno == EEXIST else {
            throw FileKeyStore.failure("making the share's folder")
        }
        let parent = try open(folder: ())
        defer { close(parent) }
        let part = name + FileKeyStore.ending + ".part"
        unsafe unlinkat(parent, part, 0)
        let file = unsafe openat(parent, part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw FileKeyStore.failure("creating a share's file") }
        let written = share.withBytes { bytes in
            unsafe bytes.withUnsafeBytes { unsafe write(file, $0.baseAddress, $0.count) }
        }
        let isDurable = written == share.count && fsync(file) == 0
        close(file)
        guard isDurable, unsafe renameat(parent, part, parent, name + FileKeyStore.ending) == 0, fsync(parent) == 0
        else {
            let failure = FileKeyStore.failure("writing a share's file")
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
        let parent = try open(folder: ())
        defer { close(parent) }
        let file = unsafe openat(parent, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else {
            if errno == ENOENT { throw KeyStoreError(.notFound, "the share's file is not there") }
            throw FileKeyStore.failure("opening a share's file")
        }
        defer { close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
            status.st_mode & 0o077 == 0, status.st_size == FileKeyStore.size
        else { throw KeyStoreError(.damaged, "the share's file is not one that only its owner may use") }
        var got = 0
        let share: SecretBytes
        do throws(SecretMemoryError) {
            share = try SecretBytes(count: FileKeyStore.size) { bytes in
                unsafe bytes.withUnsafeMutableBytes { got = unsafe read(file, $0.baseAddress, $0.count) }
            }
        } catch { throw KeyStoreError(.outOfMemory, "\(error)") }
        guard got == FileKeyStore.size else { throw FileKeyStore.failure("reading a share's file") }
        return share
    }

    package func delete(_ item: KeyStoreItem) throws(KeyStoreError) {
        let name = try name(of: item)
        guard unsafe access(folder, F_OK) == 0 else { return }
        let parent = try open(folder: ())
        defer { close(parent) }
        let file = unsafe openat(parent, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
        if file >= 0 {
            let zeros = [UInt8](repeating: 0, count: FileKeyStore.size)
            _ = unsafe pwrite(file, zeros, zeros.count, 0)
            fsync(file)
            close(file)
        }
        guard unsafe unlinkat(parent, name, 0) == 0 || errno == ENOENT else {
            throw FileKeyStore.failure("removing a share's file")
        }
        fsync(parent)
        unsafe rmdir(folder)  // where it was the last one
    }

    package func probe() throws(KeyStoreError) {
        if unsafe access(folder, W_OK | X_OK) == 0 { return }
        let above = folder.lastIndex(of: "/").map { String(folder[..<$0]) } ?? "."
        guard errno == ENOENT, unsafe access(above, W_OK | X_OK) == 0 else {
            throw FileKeyStore.failure("writing into the share's folder")
        }
    }

    private static let size = 32
    private static let ending = ".share"

    private func name(of item: KeyStoreItem) throws(KeyStoreError) -> String {
        guard item.kind == .file, let name = String(validating: item.data, as: UTF8.self) else {
            throw KeyStoreError(.damaged, "this is no item of a file")
        }
        try KeyStoreError.checkName(name)
        return name + FileKeyStore.ending
    }

    private func open(folder _: Void) throws(KeyStoreError) -> Int32 {
        #if canImport(Glibc)
        let descriptor = unsafe Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        #else
        let descriptor = unsafe Darwin.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        #endif
        guard descriptor >= 0 else { throw FileKeyStore.failure("opening the share's folder") }
        return descriptor
    }

    private static func failure(_ doing: String) -> KeyStoreError {
        let number = errno
        let code: KeyStoreError.Code = [EACCES, EPERM, EROFS, ENOENT].contains(number) ? .unavailable : .failure
        return KeyStoreError(code, "\(doing): \(unsafe String(cString: strerror(number)))")
    }
}
