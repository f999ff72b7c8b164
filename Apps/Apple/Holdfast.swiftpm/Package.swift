// swift-tools-version: 6.0
import PackageDescription

// An app package: Xcode and Swift Playgrounds open the folder as an app for iPhone and iPad. They alone know the
// product of such an app; `swift build` compiles the same sources for a Mac, of which Docs/apple.md makes an app.
#if canImport(AppleProductTypes)
import AppleProductTypes

let products: [Product] = [
    .iOSApplication(
        name: "Holdfast", targets: ["App"], bundleIdentifier: "org.holdfast.Holdfast", displayVersion: "0.1",
        bundleVersion: "1", appIcon: .placeholder(icon: .lock), accentColor: .presetColor(.blue),
        supportedDeviceFamilies: [.pad, .phone],
        supportedInterfaceOrientations: [.portrait, .landscapeLeft, .landscapeRight],
        additionalInfoPlistContentFilePath: "Info.plist")
]
#else
let products: [Product] = [.executable(name: "Holdfast", targets: ["App"])]
#endif

let package = Package(
    name: "Holdfast",
    platforms: [.iOS("18.0"), .macOS("15.0")],
    products: products,
    dependencies: [.package(name: "holdfast", path: "../../..")],
    targets: [
        .executableTarget(
            name: "App",
            dependencies: [
                .product(name: "HoldfastUI", package: "holdfast"), .product(name: "HoldfastViews", package: "holdfast"),
            ], path: ".", exclude: ["Info.plist"])
    ],
    swiftLanguageModes: [.v6]
)
