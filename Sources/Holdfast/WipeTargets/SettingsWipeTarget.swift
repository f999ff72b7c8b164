#if canImport(Security)
internal import Foundation
public import VaultHeader

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// The settings of an app, or of one of its suites, that go with its vault: what `UserDefaults` and `@AppStorage` keep.
public struct SettingsWipeTarget: WipeTarget {
    /// Names the target for good, as `org.example.notes.settings`.
    public let identifier: String
    private let suite: String

    /// - Parameters:
    ///   - identifier: Names the target for good.
    ///   - suite: The suite's name, an app group for example; for `UserDefaults.standard` the app's bundle identifier.
    public init(_ identifier: String, suite: String) {
        self.identifier = identifier
        self.suite = suite
    }

    /// Removes every value of the suite.
    /// - Returns: How many there were.
    public func erase() throws -> Int {
        let count = values.count
        defaults.removePersistentDomain(forName: suite)
        return count
    }

    /// Whether none is left.
    public func isErased() throws -> Bool { values.isEmpty }

    private var values: [String: Any] { defaults.persistentDomain(forName: suite) ?? [:] }

    /// A group's suite is reached by its name alone; the app's own has none but the standard one.
    private var defaults: UserDefaults {
        suite == Bundle.main.bundleIdentifier ? .standard : UserDefaults(suiteName: suite) ?? .standard
    }
}

/// What an app's connections to the web have left in it, which goes with its vault: cookies, stored credentials, and
/// the answers in the shared cache. A `WKWebView` has stores of its own: end it, and remove its data by WebKit's own
/// function.
public struct WebWipeTarget: WipeTarget {
    /// Names the target for good, as `org.example.notes.web`.
    public let identifier: String

    /// - Parameter identifier: Names the target for good.
    public init(_ identifier: String) { self.identifier = identifier }

    /// Removes all of them.
    /// - Returns: How many cookies and credentials there were.
    public func erase() throws -> Int {
        let cookies = HTTPCookieStorage.shared.cookies ?? []
        for cookie in cookies { HTTPCookieStorage.shared.deleteCookie(cookie) }
        let spaces = URLCredentialStorage.shared.allCredentials
        for (space, credentials) in spaces {
            for credential in credentials.values { URLCredentialStorage.shared.remove(credential, for: space) }
        }
        URLCache.shared.removeAllCachedResponses()
        return cookies.count + spaces.values.reduce(0) { $0 + $1.count }
    }

    /// Whether no cookie and no credential is left. The cache removes its answers a moment later, and does not tell
    /// when.
    public func isErased() throws -> Bool {
        (HTTPCookieStorage.shared.cookies ?? []).isEmpty && URLCredentialStorage.shared.allCredentials.isEmpty
    }
}
#endif
