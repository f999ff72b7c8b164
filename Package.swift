// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("ImmutableWeakCaptures"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
]

func library(_ name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = []) -> Target {
    .target(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, resources: resources, swiftSettings: settings)
}

// One C library, one system-library target, one Swift target that imports it (checked by scripts/check-layout).
#if os(Linux)
let systemLibraries: [Target] = ["CSodium", "COpenSSL", "CArgon2", "CLMDB", "CPlatform"].map {
    .systemLibrary(name: $0, path: "Sources/\($0)")
}

// The process that the crash tests kill, and the library that makes its disk fail (LD_PRELOAD). Never installed.
let crashTests: [Target] = [
    .executableTarget(
        name: "CrashSubject",
        dependencies: ["VaultCore", "Cryptography", "SecretMemory"],
        path: "Tests/CrashSubject",
        swiftSettings: settings),
    .target(name: "FaultInjection", path: "Tests/FaultInjection"),
    tests("CrashTests", ["CrashSubject", "VaultCore", "Cryptography", "SecretMemory"]),
]
let crashProducts: [Product] = [.library(name: "FaultInjection", type: .dynamic, targets: ["FaultInjection"])]
#endif

let package = Package(
    name: "holdfast",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "Holdfast", targets: ["Holdfast"]),
        .executable(name: "holdfast", targets: ["HoldfastCommand"]),
    ] + crashProducts,
    targets: systemLibraries + crashTests + [
        library("SecretMemory", ["CSodium", "CPlatform"]),
        library("Cryptography", ["SecretMemory", "COpenSSL", "CArgon2"]),
        library("VaultFormat"),
        library("VaultCore", ["VaultFormat", "Cryptography", "SecretMemory", "CLMDB"]),
        library("AppLockCore", ["VaultCore", "VaultFormat", "Cryptography", "SecretMemory"]),
        library("Holdfast", ["AppLockCore", "VaultCore", "VaultFormat", "Cryptography", "SecretMemory"]),
        .executableTarget(
            name: "HoldfastCommand",
            dependencies: ["Holdfast"],
            swiftSettings: settings),

        tests("SecretMemoryTests", ["SecretMemory"]),
        tests("CryptographyTests", ["Cryptography", "SecretMemory"]),
        tests("VaultFormatTests", ["VaultFormat"]),
        tests("VaultCoreTests", ["VaultCore", "VaultFormat", "Cryptography", "SecretMemory"]),
        tests("AppLockCoreTests", ["AppLockCore", "VaultCore", "VaultFormat", "SecretMemory"]),
    ],
    swiftLanguageModes: [.v6]
)
