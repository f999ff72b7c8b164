import Testing

/// The stand-ins for Apple's frameworks are seen by scripts/check-apple alone. One that leaked into this build would
/// take the place of the real backends.
@Suite struct AppleModulesTests {
    @Test func noneOfAppleModulesIsVisibleHere() {
        #if os(Linux)  // because: this is the build that must not see them
        var seen: [String] = []
        #if canImport(CryptoKit)
        seen.append("CryptoKit")
        #endif
        #if canImport(LocalAuthentication)
        seen.append("LocalAuthentication")
        #endif
        #if canImport(Security)
        seen.append("Security")
        #endif
        #if canImport(SwiftUI)
        seen.append("SwiftUI")
        #endif
        #if canImport(Darwin)
        seen.append("Darwin")
        #endif
        #if canImport(UIKit)
        seen.append("UIKit")
        #endif
        #expect(seen.isEmpty)
        #endif
    }
}
