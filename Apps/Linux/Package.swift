// swift-tools-version: 6.3
import PackageDescription

// No strict memory safety here: every call of GTK takes a raw pointer, and a mark on each line would say nothing. Raw
// pointers stay inside GtkKit and the few places that lend it secrets.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
    // Everything that touches GTK lives on the main thread.
    .defaultIsolation(MainActor.self),
]

let package = Package(
    name: "holdfast-desktop",
    products: [.executable(name: "holdfast-desktop", targets: ["HoldfastDesktop"])],
    dependencies: [.package(name: "holdfast", path: "../..")],
    targets: [
        .systemLibrary(
            name: "CAdw", pkgConfig: "libadwaita-1", providers: [.apt(["libadwaita-1-dev"])]),
        .target(
            name: "GtkKit", dependencies: ["CAdw", .product(name: "Holdfast", package: "holdfast")],
            swiftSettings: settings),
        .executableTarget(
            name: "HoldfastDesktop",
            dependencies: [
                "GtkKit", "CAdw", .product(name: "HoldfastUI", package: "holdfast"),
                .product(name: "Holdfast", package: "holdfast"),
            ],
            resources: [
                .embedInCode("Resources/window.ui"), .embedInCode("Resources/setup.ui"),
                .embedInCode("Resources/vault.ui"), .embedInCode("Resources/detail.ui"),
                .embedInCode("Resources/settings.ui"), .embedInCode("Resources/log.ui"),
                .embedInCode("Resources/doctor.ui"), .embedInCode("Resources/identity.ui"),
                .embedInCode("Resources/cover.ui"), .embedInCode("Resources/sheets.ui"),
                .embedInCode("Resources/item.ui"), .embedInCode("Resources/import.ui"),
                .embedInCode("Resources/prompt.ui"), .embedInCode("Resources/programs.ui"),
                .embedInCode("Resources/shortcuts.ui"),
                .embedInCode("Resources/style.css"),
            ],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
