internal import Cryptography
package import VaultFormat
package import VaultStorage
internal import SystemCalls

/// The header on disk: two copies, each overwritten in place, never renamed, so that no old slot survives elsewhere.
package enum HeaderFile {
    package static let name = "header"
    package static let part = HomeDirectory.part(of: name)
    /// The file that says that a vault is being made here: it lies there until the header has its name.
    package static let creationMark = ".creating"

    package static func checksum(_ bytes: RawSpan) -> [UInt8] { FileChecksum.of(bytes) }

    /// What two copies say together.
    package struct Reading {
        package let header: Header
        /// One copy is damaged or older and must be rewritten from the other.
        let needsRepair: Bool
    }

    /// A valid first copy wins (it is written first), else the second; both invalid is damage.
    /// - Throws: `wiped` where a wipe of this home has put its mark; any other mark is only damage.
    package static func decide(_ bytes: [UInt8], _ home: HomeDirectory) throws(VaultError) -> Reading {
        guard genuineMark(in: bytes, home) == nil else {
            throw VaultError(.wiped, "this vault is being destroyed", remainingAttempts: 0)
        }
        let first = parse(bytes, at: 0)
        // They nearly always are the same, and one is checked in a tenth of the time of opening a vault.
        let areSame = bytes.prefix(Header.copySize) == bytes.dropFirst(Header.copySize)
        let second = areSame ? first : parse(bytes, at: Header.copySize)
        switch (first, second) {
        case (_, .failure(.newerVersion(let version))): throw VaultError(.newerVersion(version), in: "the vault")
        case (.failure(.unreleased), _), (_, .failure(.unreleased)): throw VaultError(.unreleased, in: name)
        case (.success(let first), .success(let second)):
            return Reading(header: first, needsRepair: first != second)
        case (.success(let first), .failure): return Reading(header: first, needsRepair: true)
        // A newer program's header must not be overwritten from an older copy.
        case (.failure(.newerVersion(let version)), _): throw VaultError(.newerVersion(version), in: "the vault")
        case (.failure, .success(let second)): return Reading(header: second, needsRepair: true)
        case (.failure(let error), .failure):
            // Another process has ended the wipe since these bytes were read.
            if let wiped = WipeReceiptFile.finished(in: home) { throw wiped }
            guard marks(in: bytes).isEmpty else { throw .strangeMark }
            throw VaultError(error, in: name)
        }
    }

    private static func parse(_ bytes: [UInt8], at offset: Int) -> Result<Header, FormatError> {
        guard bytes.count >= offset + Header.copySize else { return .failure(.wrongSize) }
        let copy = Array(bytes[offset..<offset + Header.copySize])
        return Result { () throws(FormatError) in
            // The mark of a newer program's wipe: that one must end it.
            if copy.starts(with: WipeMark.magic) { _ = try WipeMark(parsing: copy, checksum: checksum) }
            return try Header(parsing: copy, checksum: checksum)
        }
    }

    /// The version of a newer program's header; nil for any other, and where there is none. Changes nothing, unlike
    /// ``read(in:)``.
    package static func newerVersion(in home: HomeDirectory) -> UInt32? {
        guard let file = (try? home.openFile(name, O_RDONLY)) ?? nil,
            let bytes = try? file.read(Header.fileSize, at: 0)
        else { return nil }
        for offset in [Header.copySize, 0] {
            if case .failure(.newerVersion(let version)) = parse(bytes, at: offset) { return version }
        }
        return nil
    }

    /// Reads without the lock, for display; a writer at work is waited out by taking the lock.
    package static func read(in home: HomeDirectory) throws(VaultError) -> Header {
        guard let file = try home.openFile(name, O_RDONLY) else { throw missing(home) }
        do throws(VaultError) {
            let reading = try decide(file.read(Header.fileSize, at: 0), home)
            // At once: an old copy may still hold a slot that was revoked. A process that is writing now needs no help.
            if reading.needsRepair { _ = try? LockedHeader(in: home, patience: 0) }
            return reading.header
        } catch let error where error.code == .damaged {
            return try LockedHeader(in: home, forWriting: false).header
        }
    }

    /// Writes the first header of a vault that is being made, which gets its name at the end
    /// (``VaultCreation/finish()``).
    package static func create(_ header: Header, in home: HomeDirectory) throws(VaultError) {
        guard let file = try home.openFile(part, O_RDWR | O_CREAT | O_EXCL) else { throw missing(home) }
        let copy = try format(name, header.encoded(checksum: checksum))
        try file.write(copy + copy, at: 0)
        try file.synchronize()
    }

    /// The header of a vault that is being made.
    package static func unfinished(in home: HomeDirectory) throws(VaultError) -> Header {
        guard let file = try home.openFile(part, O_RDONLY) else { throw missing(home) }
        return try decide(file.read(Header.fileSize, at: 0), home).header
    }

    package static func missing(_ home: HomeDirectory) -> VaultError {
        if let wiped = WipeReceiptFile.finished(in: home) { return wiped }
        return home.exists("vault.mdb")
            ? .damaged("the header of \(home.path) is missing")
            : VaultError(.noVault, "there is no vault at \(home.path)")
    }
}

/// The header under its exclusive lock: only the holder of this value spends attempts or changes the header.
package struct LockedHeader: ~Copyable, Sendable {
    package let file: DurableFile
    package private(set) var header: Header
    /// Whether the next reader may find a header although writing it failed.
    package private(set) var isUncertain = false

    /// - Throws: `busy` when another holds the lock for long, `readOnly` or `permissionDenied` when `forWriting` and
    ///   the file cannot be written, `damaged`, `newerVersion`, `noVault`.
    /// - Parameter patience: Milliseconds that another holder is waited for: some key derivations at the ceiling cost.
    package init(in home: HomeDirectory, forWriting: Bool = true, patience: Int = 30_000) throws(VaultError) {
        let file = try LockedHeader.lock(home, flags: forWriting ? O_RDWR : O_RDONLY, patience)
        let reading = try HeaderFile.decide(file.read(Header.fileSize, at: 0), home)
        if reading.needsRepair && forWriting { try LockedHeader.store(reading.header, file) }
        header = reading.header
        self.file = file
    }

    /// - Parameter evenIfLinked: For a wipe, which takes a header out of a second name's reach before it writes.
    package static func lock(
        _ home: HomeDirectory, flags: Int32, _ patience: Int, evenIfLinked: Bool = false
    ) throws(VaultError) -> DurableFile {
        while true {
            guard let file = try home.openFile(HeaderFile.name, flags, evenIfLinked: evenIfLinked) else {
                throw HeaderFile.missing(home)
            }
            try file.lock(
                exclusive: true, patience: patience,
                orBusy: "another process has been using the vault's header for a long time")
            // The file may have been replaced while we waited: the lock must be on what the name means now.
            guard let current = try home.openFile(HeaderFile.name, O_RDONLY, evenIfLinked: evenIfLinked) else {
                throw HeaderFile.missing(home)
            }
            if try current.status().isSameFile(as: file.status()) { return file }
        }
    }

    /// Overwrites both copies, the first one first, and keeps the result. The generation goes up by one.
    ///
    /// A first copy that could not be written is put back: nothing has changed then. Once it is on the disk the change
    /// is made; an error after that says so.
    package mutating func replace(_ changed: Header, authenticate: ([UInt8]) throws(VaultError) -> [UInt8])
        throws(VaultError)
    {
        var changed = changed
        changed.generation = header.generation + 1
        let covered = try format(HeaderFile.name, changed.authenticatedBytes())
        changed.mac = try authenticate(covered)
        let copy = try LockedHeader.encoded(changed)
        do throws(VaultError) {
            try LockedHeader.write(copy, 0, file)
        } catch {
            // What a failed write or flush left may be read as if it had succeeded.
            isUncertain = !restoreFirstCopy()
            throw error
        }
        header = changed
        do throws(VaultError) {
            try LockedHeader.write(copy, 1, file)
        } catch {
            throw VaultError(
                error.code, "\(error.reason); the change was made, but its second copy is missing")
        }
    }

    /// Compares both copies with what was written.
    /// - Throws: `inputOutput` where the file does not give them back.
    package func readBack() throws(VaultError) {
        let copy = try LockedHeader.encoded(header)
        guard try file.read(Header.fileSize, at: 0) == copy + copy else {
            throw VaultError(.inputOutput, "the header was written and does not read back")
        }
    }

    /// After a write that failed: the first copy as it was.
    /// - Returns: Whether it is on the disk.
    @discardableResult
    package func restoreFirstCopy() -> Bool {
        do throws(VaultError) { try LockedHeader.write(LockedHeader.encoded(header), 0, file) } catch { return false }
        return true
    }

    private static func store(_ header: Header, _ file: borrowing DurableFile) throws(VaultError) {
        let copy = try encoded(header)
        for index in 0..<2 { try write(copy, index, file) }
    }

    private static func encoded(_ header: Header) throws(VaultError) -> [UInt8] {
        try format(HeaderFile.name, header.encoded(checksum: HeaderFile.checksum))
    }

    private static func write(_ copy: [UInt8], _ index: Int, _ file: borrowing DurableFile) throws(VaultError) {
        try file.write(copy, at: UInt64(index * Header.copySize))
        try file.synchronize()
    }
}
