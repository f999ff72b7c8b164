internal import SystemCalls

extension HomeDirectory {
    /// The name that a file has until it is whole.
    package static func part(of name: String) -> String { ".\(name).part" }

    /// Puts a file under its name, in place of an older one. It is written under another name, flushed, and renamed: at no
    /// moment, power cuts included, is there half a file under its own. Durable when it returns.
    package func publish(
        _ name: String, _ write: (borrowing DurableFile) throws(VaultError) -> Void
    ) throws(VaultError) {
        let part = HomeDirectory.part(of: name)
        try clear(part)
        guard let file = try openFile(part, O_RDWR | O_CREAT | O_EXCL) else {
            throw .damaged("\(part) cannot be created")
        }
        do throws(VaultError) {
            try write(file)
            try file.synchronize()
            try putInPlace(part, as: name)
        } catch {
            _ = try? erase(part, overwriting: true)
            throw error
        }
    }

    /// Gives a file that is whole and on the disk its name, durably.
    package func putInPlace(_ part: String, as name: String) throws(VaultError) {
        if case .folder = try kind(of: name) { try clear(name) }
        try rename(part, to: name)
        try synchronize()
    }
}
