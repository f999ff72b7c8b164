#if canImport(Security)
internal import Cryptography
internal import Foundation

/// Tells this installation of an app from an earlier one: the keychain outlives an app that is removed, its container does
/// not.
///
/// The policy: shares of an earlier installation open nothing, because the other halves went with its container. They are
/// deleted before the new installation's first share is stored, and until that succeeded none is. A mark that is lost in
/// another way (a container put back without it) therefore costs one entry of the passcode, and no data.
package struct InstallMark: Sendable {
    private let path: String

    /// Beside the app's other files, where the system keeps them.
    package static let standard = InstallMark(path: standardPath)

    /// - Parameter path: The file of the mark; its folder is made when it is missing.
    package init(path: String) { self.path = path }

    private static var standardPath: String {
        let folder = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first?.path
        let app = Bundle.main.bundleIdentifier ?? "app"
        return "\(folder ?? NSHomeDirectory())/\(app)/holdfast-installation"
    }

    /// The mark: 32 hexadecimal digits. Where there is none yet, leftovers are deleted and one is made.
    /// - Throws: ``KeyStoreError``: leftovers that cannot be deleted now (a locked device), or a folder that cannot be
    ///   written.
    func current() throws(KeyStoreError) -> String {
        if let mark = read() { return mark }
        try Keychain.delete(nil)
        let mark: String
        do throws(CryptographyError) {
            mark = try SecureRandom.bytes(16).map(InstallMark.hex).joined()
        } catch { throw KeyStoreError(.failure, "no random mark can be had") }
        do {
            let file = URL(fileURLWithPath: path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            // Written beside it and renamed: there is never half a mark.
            try Data(mark.utf8).write(to: file, options: .atomic)
        } catch { throw KeyStoreError(.failure, "the mark of this installation cannot be written") }
        // Another thread may have been quicker; the file decides.
        guard let written = read() else { throw KeyStoreError(.failure, "the mark cannot be read back") }
        return written
    }

    private func read() -> String? {
        guard let text = try? String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8),
            InstallMark.isMark(text[...])
        else { return nil }
        return text
    }

    static func isMark(_ text: Substring) -> Bool {
        text.utf8.count == 32
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
            }
    }

    private static func hex(_ byte: UInt8) -> String {
        String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }
}
#endif
