package import VaultStorage
internal import SystemCalls

/// A folder of the system's temporary folder, removed with this object and with everything in it.
package final class TemporaryFolder: Sendable {
    /// Its path; nothing is in it yet.
    package let path: String

    /// The system's temporary folder, without the slash that Apple's systems have at its end.
    static var parent: String {
        var parent = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
        while parent.count > 1, parent.hasSuffix("/") { parent.removeLast() }
        return parent
    }

    /// - Throws: `permissionDenied` when there is no temporary folder.
    package init() throws(VaultError) {
        let parent = TemporaryFolder.parent
        var template = Array("\(parent)/holdfast-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else {
            throw VaultError(.permissionDenied, "no folder can be made in \(parent)")
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { TemporaryFolder.remove(path) }

    /// Removes a folder and what is in it; links are removed, not followed.
    private static func remove(_ path: String) {
        if unsafe unlink(path) == 0 { return }
        guard let entries = unsafe opendir(path) else { return }
        while let entry = unsafe readdir(entries) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != ".", name != ".." { remove("\(path)/\(name)") }
        }
        unsafe closedir(entries)
        unsafe rmdir(path)
    }
}
