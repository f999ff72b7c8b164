import AppleScripting
import Foundation
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif
import Holdfast
import Security
import TestSupport
import Testing

extension AppleBackends {
    /// What of an app goes with its vault.
    @Suite struct WipeTargets {
        let device = ScriptedDevice.current
        let folder: ScratchFolder

        init() throws {
            folder = try ScratchFolder("targets")
            device.reset()
        }

        private func write(_ name: String) throws -> String {
            let path = folder[name]
            try FileManager.default.createDirectory(
                atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
            try Data("x".utf8).write(to: URL(fileURLWithPath: path))
            return path
        }

        @Test func `a folder goes with all that is in it, and a link without what it points at`() throws {
            _ = try write("cache/a/b")
            let kept = try write("kept")
            try FileManager.default.createSymbolicLink(atPath: folder["cache/link"], withDestinationPath: kept)
            let target = FilesWipeTarget.folder("org.example.cache", at: folder["cache"])
            #expect(try !target.isErased() && target.erase() == 1 && target.isErased() && target.erase() == 0)
            #expect(FileManager.default.fileExists(atPath: kept))
            // The folder itself may be a link, one too that leads nowhere.
            try FileManager.default.createSymbolicLink(atPath: folder["cache"], withDestinationPath: folder["none"])
            #expect(try !target.isErased() && target.erase() == 1 && target.isErased())
        }

        @Test func `a database goes with its log, its index and its large values, and leaves its neighbour`() throws {
            for name in ["notes.store", "notes.store-wal", "notes.store-shm", ".notes_SUPPORT/_EXTERNAL_DATA/1"] {
                _ = try write(name)
            }
            let other = try write("notes.store2")
            let target = FilesWipeTarget.database("org.example.notes", at: folder["notes.store"])
            #expect(try target.erase() == 4 && target.isErased())
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["notes.store2"])
            #expect(FileManager.default.fileExists(atPath: other))
        }

        @Test func `the settings of one suite go, and no other`() throws {
            let (mine, other) = ("org.example.\(UUID())", "org.example.\(UUID())")
            defer { for suite in [mine, other] { UserDefaults.standard.removePersistentDomain(forName: suite) } }
            for suite in [mine, other] { UserDefaults.standard.setPersistentDomain(["a": 1, "b": 2], forName: suite) }
            let target = SettingsWipeTarget("org.example.settings", suite: mine)
            #expect(try !target.isErased() && target.erase() == 2 && target.isErased() && target.erase() == 0)
            #expect(UserDefaults.standard.persistentDomain(forName: other)?.count == 2)
        }

        @Test func `the items of one service go, and an answer that is no answer is an error`() throws {
            func add(_ service: String) {
                let item: [String: Any] = [
                    kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
                    kSecAttrAccount as String: "a", kSecValueData as String: Data([1]),
                    kSecAttrAccessible as String: kSecAttrAccessibleWhenUnlockedThisDeviceOnly,
                    kSecUseDataProtectionKeychain as String: true,
                ]
                var nothing: CFTypeRef?
                #expect(unsafe SecItemAdd(item as CFDictionary, &nothing) == errSecSuccess)
            }
            add("tokens")
            add("others")
            let target = KeychainWipeTarget("org.example.tokens", service: "tokens")
            #expect(try !target.isErased() && target.erase() == 1 && target.isErased() && target.erase() == 0)
            #expect(try !KeychainWipeTarget("org.example.others", service: "others").isErased())
            device.with { $0.failures["SecItemDelete"] = [errSecInteractionNotAllowed] }
            #expect(throws: KeychainWipeTarget.Failure.self) { try target.erase() }
        }

        @Test func `cookies and credentials go`() throws {
            let cookie = try #require(
                HTTPCookie(properties: [.name: "a", .value: "b", .domain: "example.org", .path: "/"]))
            HTTPCookieStorage.shared.setCookie(cookie)
            let target = WebWipeTarget("org.example.web")
            #expect(try !target.isErased())
            #expect(try target.erase() >= 1 && target.isErased())
        }
    }
}
