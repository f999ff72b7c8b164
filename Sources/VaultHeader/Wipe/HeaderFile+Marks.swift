package import KeyStores
package import VaultFormat
package import VaultStorage

extension HeaderFile {
    /// A copy of the header that a wipe has not come to yet.
    package static func left(in bytes: [UInt8]) -> Header? {
        for start in [0, Header.copySize] where bytes.count >= start + Header.copySize {
            let copy = Array(bytes[start..<start + Header.copySize])
            if let header = try? Header(parsing: copy, checksum: checksum) { return header }
        }
        return nil
    }

    /// Marks of wipes in place of either copy, whatever their origin.
    package static func marks(in bytes: [UInt8]) -> [WipeMark] {
        [0, WipeMark.size].compactMap { start in
            guard bytes.count >= start + WipeMark.size, bytes[start...].starts(with: WipeMark.magic) else { return nil }
            return try? WipeMark(parsing: Array(bytes[start..<start + WipeMark.size]), checksum: checksum)
        }
    }

    /// The mark of a wipe that this home began, and whose the things are that it may let go of.
    package static func genuineMark(in bytes: [UInt8], _ home: HomeDirectory) -> (mark: WipeMark, owner: HardwareOwner)?
    {
        for mark in marks(in: bytes) {
            if let key = WipeKeyFile.stored(in: home, vault: mark.vault, evenIfLinked: true),
                key.authenticates(mark)
            {
                return (mark, key.owner)
            }
        }
        return nil
    }
}

extension VaultError {
    static let strangeMark = VaultError.damaged(
        "the header was overwritten with the mark of a wipe that this home did not begin; nothing else was erased")
}
