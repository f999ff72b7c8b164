import Foundation
import Testing

/// The privacy manifest against the sources. What is read at the build, not at run time: an upload is refused for it.
@Suite struct PrivacyTests {
    /// Calls for which Apple wants a reason, by category ("Describing use of required reason API").
    private static let listed = [
        "FileTimestamp": #"\b(stat|lstat|fstat|fstatat|getattrlist\w*)\(|\.(creation|modification)Date\b"#,
        "SystemBootTime": #"\b(systemUptime|mach_absolute_time)\b"#,
        "DiskSpace": #"\b(statfs|statvfs|fstatfs|fstatvfs)\(|volumeAvailableCapacity"#,
        "ActiveKeyboards": #"\bactiveInputModes\b"#,
        "UserDefaults": #"\bUserDefaults\b|\bAppStorage\b"#,
    ]
    /// Folders of `Sources` that no Apple system builds.
    private static let elsewhere = [
        "HoldfastCommand", "HoldfastServer", "HoldfastAgent", "BetterAuthHTTP", "BetterAuthPostgres", "OpenSSL", "PAM",
        "SystemBus", "Logind", "Fprint", "TPM2", "SecretService", "Curl",
    ]
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private func used() throws -> Set<String> {
        let sources = PrivacyTests.root.appending(path: "Sources")
        let files = try FileManager.default.subpathsOfDirectory(atPath: sources.path).map {
            sources.appending(path: $0)
        }
        var found: Set<String> = []
        for file in files where file.pathExtension == "swift" {
            if PrivacyTests.elsewhere.contains(where: file.pathComponents.contains) { continue }
            let text = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
                .filter { !$0.drop { $0 == " " }.hasPrefix("//") }.joined(separator: "\n")
            // Words as programs have them: in those of a text `UserDefaults.standard` is one word.
            for (category, pattern) in try PrivacyTests.listed.mapValues({
                try Regex($0).wordBoundaryKind(.simple)
            }) {
                if text.contains(pattern) { found.insert(category) }
            }
        }
        return found
    }

    @Test func `the manifest gives a reason for each category that is used, and for no other`() throws {
        let file = PrivacyTests.root.appending(path: "Sources/SystemCalls/PrivacyInfo.xcprivacy")
        let plist = try unsafe PropertyListSerialization.propertyList(from: Data(contentsOf: file), format: nil)
        let manifest = try #require(plist as? [String: Any])
        let types = try #require(manifest["NSPrivacyAccessedAPITypes"] as? [[String: Any]])
        let prefix = "NSPrivacyAccessedAPICategory"
        let named = types.compactMap { $0["NSPrivacyAccessedAPIType"] as? String }.map {
            String($0.dropFirst(prefix.count))
        }
        #expect(types.allSatisfy { ($0["NSPrivacyAccessedAPITypeReasons"] as? [String])?.isEmpty == false })
        #expect(try Set(named) == used() && named.count == Set(named).count)
        #expect(manifest["NSPrivacyTracking"] as? Bool == false)
    }
}
