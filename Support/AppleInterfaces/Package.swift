// swift-tools-version: 6.3
// Stand-ins for Apple's frameworks, written from Apple's public documentation, so that Apple code is compiled and run
// on Linux. Never part of the product: the root manifest names this package only under HOLDFAST_CHECK_APPLE. The strict
// stand-in for SwiftUI is compiled by scripts/check-apple itself, once with UIKit and once without.
import PackageDescription

let package = Package(
    name: "AppleInterfaces",
    products: [
        .library(
            name: "AppleInterfaces",
            targets: [
                "DarwinOverGlibc", "AppleScripting", "LocalAuthentication", "Security", "CryptoKit", "CommonCrypto",
            ]),
        // Views that run. The type check has a SwiftUI of its own (scripts/check-apple).
        .library(name: "AppleViews", targets: [
                "SwiftUI", "UIKit", "AppKit", "VisionKit", "CoreImage", "UniformTypeIdentifiers", "FoundationGaps",
            ]),
    ],
    targets: [
        // Libcrypto behind a header without its types: who imports CryptoKit need not find OpenSSL.
        .target(
            name: "CStandInCrypto", path: "CStandInCrypto", linkerSettings: [.linkedLibrary("crypto")]),
        .target(name: "CommonCrypto", path: "CommonCrypto", linkerSettings: [.linkedLibrary("crypto")]),
        // The bodies of the module Darwin, without its header: only what asks for that module by a flag finds it.
        .target(name: "DarwinOverGlibc", path: "DarwinOverGlibc"),
        .target(name: "AppleScripting", dependencies: ["DarwinOverGlibc"], path: "AppleScripting"),
        .target(name: "LocalAuthentication", dependencies: ["AppleScripting", "Security"], path: "LocalAuthentication"),
        .target(name: "Security", dependencies: ["AppleScripting"], path: "Security"),
        .target(
            name: "CryptoKit", dependencies: ["AppleScripting", "LocalAuthentication", "Security", "CStandInCrypto"],
            path: "CryptoKit"),
        .target(name: "FoundationGaps", path: "FoundationGaps"),
        .target(name: "CoreImage", path: "CoreImage"),
        .target(name: "UniformTypeIdentifiers", path: "UniformTypeIdentifiers"),
        .target(name: "UIKit", dependencies: ["CoreImage", "FoundationGaps"], path: "UIKit"),
        // Beside UIKit, which no system has: what a Mac tells is heard in the same tests.
        .target(name: "AppKit", path: "AppKit"),
        .target(name: "VisionKit", dependencies: ["UIKit"], path: "VisionKit"),
        // In Swift 6 mode the compiler does not emit its bindings.
        .target(
            name: "SwiftUI", dependencies: ["UIKit", "CoreImage", "UniformTypeIdentifiers", "FoundationGaps"],
            path: "RunningSwiftUI",
            swiftSettings: [.swiftLanguageMode(.v5), .unsafeFlags(["-suppress-warnings"])]),
    ]
)
