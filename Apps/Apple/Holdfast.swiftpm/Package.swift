// swift-tools-version: 6.0
import AppleProductTypes
import PackageDescription

// An app package: Xcode and Swift Playgrounds open the folder.
let package = Package(
    name: "Holdfast",
    platforms: [.iOS("18.0")],
    products: [
        .iOSApplication(
            name: "Holdfast", targets: ["App"], bundleIdentifier: "org.holdfast.Holdfast", displayVersion: "0.1",
            bundleVersion: "1", appIcon: .placeholder(icon: .lock), accentColor: .presetColor(.blue),
            supportedDeviceFamilies: [.pad, .phone],
            supportedInterfaceOrientations: [.portrait, .landscapeLeft, .landscapeRight],
            additionalInfoPlistContentFilePath: "Info.plist")
    ],
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
