// swift-tools-version: 6.3
import PackageDescription

let settingsWithoutVisibility: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("ImmutableWeakCaptures"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
]
let settings = settingsWithoutVisibility + [.enableUpcomingFeature("MemberImportVisibility")]

// One C library, one system-library target, one Swift target that imports it (checked by scripts/check-layout).
// Apple systems bring their own frameworks instead; what they lack comes as packages with the Apple backends.
// HOLDFAST_CHECK_APPLE builds the Apple branch on Linux, against stand-ins (scripts/check-apple).
#if os(Linux)
let checksApple = Context.environment["HOLDFAST_CHECK_APPLE"] != nil
let checksAppleWhole = Context.environment["HOLDFAST_CHECK_APPLE"] == "all"
let isApple = checksApple
#else
let checksApple = false
let checksAppleWhole = true
let isApple = true
#endif
let linuxLibraryNames = [
    "CSodium", "COpenSSL", "CArgon2", "CLMDB", "CPlatform",
    "CTSS2",
    "CSecret", "CPAM", "CSystemd",
    "CZlib",
    "CSQLite",
    "CCurl", "CQREncode", "CQRDecode",
    "CMicrohttpd",
    "CPQ", "CHiredis",
]
let appleLibraryNames = ["CPlatform", "CZlib", "CSQLite"]
/// C libraries that come as packages where no system has them: one under names of ours, one whose module has ours.
let wrappedLibraryNames = ["CLMDB"]
let packagedLibraries: [String: Target.Dependency] = ["CArgon2": .product(name: "CArgon2", package: "argon2")]
let systemLibraryNames = isApple ? appleLibraryNames : linuxLibraryNames
/// Those that a program loads at the first call (Sources/LateLibraries).
let lateLibraryNames: Set = ["CSodium", "COpenSSL", "CArgon2", "CLMDB", "CTSS2"]
let libraryNames = isApple ? appleLibraryNames + wrappedLibraryNames : linuxLibraryNames

func library(_ name: String, _ dependencies: [String] = [], c libraries: [String] = []) -> Target {
    let all = dependencies + libraries.filter(libraryNames.contains)
    let packaged = isApple ? libraries.compactMap { packagedLibraries[$0] } : []
    let late = !isApple && !lateLibraryNames.isDisjoint(with: libraries) ? ["LateLibraries"] : []
    return .target(name: name, dependencies: (all + late).map { .byName(name: $0) } + packaged, swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: [String]) -> Target {
    .testTarget(
        name: name, dependencies: (["TestSupport"] + dependencies).map { .byName(name: $0) }, swiftSettings: settings)
}

// `Holdfast` re-exports these. Who imports it names them too: the build must see that their layout is used.
let exported = [
    "Holdfast", "AppLockCore", "VaultCore", "VaultHeader", "VaultLog", "VaultStorage", "KeyStores", "DeviceOwner",
    "VaultFormat",
    "OneTimeCodes", "Items", "Cryptography", "SecretMemory",
]

// The processes that the crash tests kill and that the agent's tests talk to, and the library that makes a disk fail
// (LD_PRELOAD). Never installed.
let crashTests: [Target] = [
    .executableTarget(
        name: "CrashSubject",
        dependencies: [
            "SeededNumbers", "DeviceOwner", "KeyStores", "VaultCore", "VaultHeader", "VaultLog", "VaultStorage",
            "VaultFormat", "VaultSync", "SyncFormat",
            "Cryptography", "SecretMemory", "SystemCalls",
        ],
        path: "Tests/CrashSubject",
        swiftSettings: settings),
    .target(name: "FaultInjection", path: "Tests/FaultInjection"),
    tests(
        "CrashTests",
        [
            "CrashSubject", "RealParts", "KeyStores", "VaultCore", "VaultHeader", "VaultLog", "VaultStorage",
            "VaultFormat", "VaultSync", "SyncFormat",
            "Cryptography", "SecretMemory", "SystemCalls",
        ]),
]
let agentTests: [Target] = [
    .executableTarget(
        name: "AgentSubject",
        dependencies: [
            "HoldfastAgent", "DeviceOwner", "KeyStores", "VaultCore", "VaultHeader", "VaultStorage", "SecretMemory",
            "SystemCalls", "WipingHeap",
            "MemorySearch",
        ],
        path: "Tests/AgentSubject",
        swiftSettings: settings),
    .executableTarget(
        name: "AppSubject",
        dependencies: [
            "Holdfast", "AppLockCore", "DeviceOwner", "Items", "OneTimeCodes", "VaultCore",
            "VaultStorage",
            "Cryptography",
            "SecretMemory", "SystemCalls",
            "MemorySearch",
        ],
        path: "Tests/AppSubject", swiftSettings: settings),
    tests(
        "AgentTests",
        [
            "AgentSubject", "AppSubject", "HoldfastAgent", "AgentMessages", "ProgramProtocols", "ProgramAccess",
            "AppLockCore",
            "KeyStores",
            "RealParts",
            "Items", "VaultSync", "SyncFormat",
            "VaultCore", "VaultHeader", "VaultLog", "VaultStorage",
            "VaultFormat", "MemorySearch",
            "Cryptography", "SecretMemory",
        ]),
    // Looks through the memory of another process.
    .target(name: "MemorySearch", path: "Tests/MemorySearch"),
]
// No app gets it: scripts/with-swift asks for it, which every build of the tests goes through.
let crashProducts: [Product] =
    Context.environment["HOLDFAST_TESTS"] == nil
    ? [] : [.library(name: "FaultInjection", type: .dynamic, targets: ["FaultInjection"])]

// The owner in front of the device.
let ownerTests: [Target] = [
    .executableTarget(
        name: "KeyStoreSubject",
        dependencies: [
            "DeviceOwner", "KeyStores", "VaultCore", "VaultHeader", "VaultFormat", "Cryptography",
            "SecretMemory", "SystemCalls",
        ],
        path: "Tests/KeyStoreSubject", swiftSettings: settings),
    tests(
        "KeyStoresTests",
        [
            "VaultWipe",
            "KeyStoreSubject", "KeyStores", "DeviceOwner", "RealParts", "VaultCore", "VaultHeader", "VaultStorage",
            "VaultFormat", "Cryptography",
            "SecretMemory",
        ]),
    tests(
        "DeviceOwnerTests",
        [
            "DeviceOwner", "AppLockCore", "VaultCore", "VaultHeader", "VaultStorage", "KeyStores", "VaultFormat",
            "RealParts", "SecretMemory",
        ]),
]
let ownerTargets: [Target] =
    [library("DeviceOwner", ["VaultFormat", "SecretMemory", "SystemCalls"], c: ["CPAM", "CSystemd"])] + ownerTests

// The identity: its client and what verifies access.
let identityTargets: [Target] = [
    library("BetterAuthMessages"),
    // What verifies access and a server's keys. A server needs this, and nothing of the client.
    library(
        "BetterAuthVerification",
        ["BetterAuthMessages", "Gzip", "Cryptography", "SecretMemory", "SystemCalls"]),
    library(
        "BetterAuth",
        ["BetterAuthVerification", "BetterAuthMessages", "Cryptography", "SecretMemory"]),
    // HTTP, which nothing else needs.
    library("BetterAuthTransport", ["BetterAuthVerification", "SystemCalls"], c: ["CCurl"]),
    tests("BetterAuthTransportTests", ["BetterAuthTransport", "BetterAuth", "BetterAuthVerification", "RealParts"]),
    tests(
        "BetterAuthTests",
        [
            "BetterAuth", "BetterAuthVerification", "BetterAuthTransport", "BetterAuthServer", "BetterAuthMessages",
            "MemoryServerStore", "RealParts",
        ] + exported),
    .testTarget(
        name: "BetterAuthMessagesTests",
        dependencies: ["TestSupport", "BetterAuthMessages", "BetterAuthVerification", "Cryptography", "SecretMemory"]
            .map { .byName(name: $0) },
        exclude: ["Vectors"], swiftSettings: settings),
]

// The identity server.
let serverTargets: [Target] = [
    library("BetterAuthServer", ["BetterAuthMessages", "Cryptography", "SecretMemory", "SystemCalls"], c: ["CSQLite"]),
    library(
        "BetterAuthHTTP",
        [
            "BetterAuthVerification", "BetterAuthServer", "BetterAuthMessages", "Cryptography", "SystemCalls",
            "RequestLengths",
        ],
        c: ["CMicrohttpd"]),
    // For programs: what libmicrohttpd hears of a request's length.
    .target(name: "RequestLengths"),
    library(
        "BetterAuthPostgres", ["BetterAuthVerification", "BetterAuthServer", "BetterAuthMessages", "SystemCalls"],
        c: ["CPQ", "CHiredis"]),
    .executableTarget(
        name: "HoldfastServer",
        dependencies: [
            "CommandLineArguments",
            "BetterAuthHTTP", "BetterAuthPostgres", "BetterAuthServer", "BetterAuthVerification", "BetterAuthMessages",
            "KeyStores", "Cryptography", "SecretMemory", "SystemCalls",
        ].map { .byName(name: $0) },
        swiftSettings: settings),
    // Killed by the tests at random moments. Never installed.
    .executableTarget(
        name: "ServerSubject",
        dependencies: ["BetterAuthPostgres", "BetterAuthServer", "BetterAuthMessages", "Cryptography"].map {
            .byName(name: $0)
        },
        path: "Tests/ServerSubject", swiftSettings: settings),
    // A server's store for tests.
    .target(
        name: "MemoryServerStore", dependencies: ["BetterAuthServer", "BetterAuthMessages"],
        path: "Tests/MemoryServerStore", swiftSettings: settings),
    tests(
        "BetterAuthServerTests",
        [
            "BetterAuthServer", "BetterAuthHTTP", "BetterAuthPostgres", "BetterAuth", "BetterAuthVerification",
            "HoldfastServer", "CommandLineArguments", "ServerSubject", "MemoryServerStore",
            "RealParts", "BetterAuthMessages", "Cryptography", "SecretMemory",
        ]),
]

// What every user interface shows. The views are for Apple's systems; scripts/check-apple runs them over stand-ins.
let viewTargets: [Target] =
    isApple
    ? [
        .target(
            name: "HoldfastViews", dependencies: (["HoldfastUI"] + exported).map { .byName(name: $0) },
            resources: [.process("Resources")], swiftSettings: settings)
    ] : []
let viewProducts: [Product] = isApple ? [.library(name: "HoldfastViews", targets: ["HoldfastViews"])] : []
let interfaceTargets: [Target] =
    viewTargets + [
        // What the doctor finds, for the command and the user interfaces.
        library(
            "HoldfastDoctor",
            [
                "DeviceOwner", "KeyStores", "AppLockCore", "VaultCore", "VaultStorage", "VaultFormat",
                "Cryptography", "SecretMemory",
                "SystemCalls",
            ]),
        library("QRCodes", c: ["CQREncode"]),
        library(
            "HoldfastUI",
            exported + [
                "HoldfastDoctor", "QRCodes", "BetterAuth", "BetterAuthVerification", "BetterAuthMessages",
                "BetterAuthTransport", "Imports", "SystemCalls",
            ] + (isApple ? [] : ["HoldfastAgent", "AgentMessages"])),
        tests(
            "HoldfastUITests",
            [
                "HoldfastUI", "HoldfastDoctor", "QRCodes", "BetterAuth", "BetterAuthVerification", "BetterAuthMessages",
                "BetterAuthServer", "MemoryServerStore", "SystemCalls",
            ] + exported + (isApple ? [] : ["RealParts"])),
    ]

/// Stand-ins for what only Apple's systems have (scripts/check-apple).
let standIns = "Support/AppleInterfaces"
let sectionTargets =
    systemLibraryNames.map {
        // The check reads the shim as Apple's compiler does.
        .systemLibrary(name: $0, path: (checksApple && $0 == "CPlatform" ? standIns : "Sources") + "/\($0)")
    } + crashTests + agentTests + ownerTargets + identityTargets + serverTargets + interfaceTargets

let package = Package(
    name: "holdfast",
    defaultLocalization: "en",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "Holdfast", targets: ["Holdfast"]),
        .library(name: "HoldfastUI", targets: ["HoldfastUI"]),
        .library(name: "BetterAuth", targets: ["BetterAuth", "BetterAuthTransport"]),
        .library(name: "BetterAuthVerification", targets: ["BetterAuthVerification"]),
        .library(name: "HoldfastTesting", targets: ["HoldfastTesting"]),
        .executable(name: "holdfast", targets: ["HoldfastProgram"]),
        .executable(name: "holdfast-tour", targets: ["HoldfastTour"]),
        .executable(name: "holdfast-server", targets: ["HoldfastServer"]),
    ] + crashProducts + viewProducts,
    targets: sectionTargets + [
        library("SystemCalls"),
        library("SecretMemory", ["SystemCalls"], c: ["CSodium", "CPlatform"]),
        // What C libraries are called through on Linux.
        .target(name: "LateLibraries"),
        // For programs: what they free is wiped.
        .target(name: "WipingHeap"),
        library("Cryptography", ["SecretMemory", "SystemCalls"], c: ["COpenSSL", "CArgon2"]),
        library("OneTimeCodes", ["Cryptography", "SecretMemory"]),
        library("VaultFormat"),
        library(
            "KeyStores", ["DeviceOwner", "VaultFormat", "Cryptography", "SecretMemory", "SystemCalls"],
            c: ["CTSS2", "CSecret"]),
        library(
            "VaultStorage", ["VaultFormat", "Cryptography", "SecretMemory", "SystemCalls"], c: ["CLMDB"]),
        library("VaultLog", ["VaultStorage", "VaultFormat", "Cryptography", "SecretMemory", "SystemCalls"]),
        // What lies in a home beside records and files: the header, the attempts, what opens slots, the keys of a wipe.
        library(
            "VaultHeader",
            [
                "VaultStorage", "VaultFormat", "KeyStores", "DeviceOwner", "Cryptography", "SecretMemory",
                "SystemCalls",
            ]),
        // The wipe: what destroys a home, without an open vault.
        library(
            "VaultWipe",
            ["VaultHeader", "VaultLog", "VaultStorage", "VaultFormat", "KeyStores", "Cryptography", "SystemCalls"]),
        // What the open compartment keeps on the disk, and what is sealed to a locked vault.
        library(
            "OpenStorage",
            ["VaultHeader", "VaultStorage", "VaultFormat", "Cryptography", "SecretMemory", "SystemCalls"]),
        // Making the folder of a vault, and what lies in a folder of backups.
        library(
            "VaultFolders",
            ["VaultWipe", "VaultHeader", "VaultLog", "VaultStorage", "VaultFormat", "Cryptography", "SystemCalls"]),
        library(
            "VaultCore",
            [
                "VaultFolders", "OpenStorage", "VaultWipe", "VaultHeader", "VaultLog", "VaultStorage", "VaultFormat",
                "DeviceOwner",
                "KeyStores",
                "Cryptography",
                "SecretMemory", "SystemCalls",
            ]),
        library(
            "Items",
            ["VaultCore", "VaultStorage", "VaultFormat", "Cryptography", "SecretMemory", "SystemCalls"]),
        library(
            "AppLockCore",
            [
                "DeviceOwner", "VaultCore", "VaultHeader", "VaultLog", "VaultStorage", "VaultFormat", "Cryptography",
                "SecretMemory",
                "SystemCalls",
            ]),
        library("AgentMessages", ["SyncFormat", "VaultFormat"]),
        // What travels between a user's devices: the merge and the bytes; pure.
        library("SyncFormat", ["VaultFormat"]),
        // The sync: keys, entries, roads.
        library(
            "VaultSync",
            [
                "SyncFormat", "Items", "VaultCore", "VaultStorage", "VaultFormat", "Cryptography", "SecretMemory",
                "SystemCalls",
            ]),
        tests("SyncFormatTests", ["SyncFormat", "VaultFormat"]),
        tests(
            "VaultSyncTests",
            [
                "VaultSync", "SyncFormat", "RealParts", "Items", "VaultCore", "VaultHeader", "VaultStorage",
                "VaultFormat", "Cryptography", "SecretMemory", "SystemCalls",
            ]),
        library("Gzip", ["SecretMemory"], c: ["CZlib"]),
        // Reads QR codes of images, in a process of its own.
        library("QRReading", ["SecretMemory", "SystemCalls"], c: ["CQRDecode"]),
        // Reads what other password managers write.
        library(
            "Imports",
            [
                "Items", "OneTimeCodes", "Gzip", "QRReading", "VaultCore", "VaultStorage", "VaultFormat",
                "Cryptography",
                "SecretMemory",
                "SystemCalls",
                // The keys that the agent offers to SSH programs, which only Linux has.
            ] + (isApple ? [] : ["ProgramAccess"])),
        tests(
            "ImportsTests",
            [
                "Imports", "Gzip", "QRReading", "Items", "OneTimeCodes", "VaultCore", "VaultHeader", "VaultStorage",
                "VaultFormat",
                "Cryptography",
                "SecretMemory", "SystemCalls",
            ]),
        // What git, ssh, templates and other programs hand to the agent's endpoints: pure parsers.
        library("ProgramProtocols", ["VaultFormat"]),
        library(
            "ProgramAccess",
            [
                "ProgramProtocols", "Items", "KeyStores", "VaultCore", "VaultStorage", "VaultFormat",
                "Cryptography",
                "SecretMemory", "SystemCalls",
            ]),
        library(
            "Holdfast",
            [
                "BetterAuth", "BetterAuthVerification", "BetterAuthMessages", "AppLockCore", "KeyStores", "VaultCore",
                "VaultHeader",
                "VaultLog", "VaultStorage",
                "DeviceOwner",
                "VaultFormat", "OneTimeCodes", "Items", "Cryptography", "SecretMemory",
            ]),
        library(
            "HoldfastAgent",
            [
                "OpenStorage",
                "AgentMessages", "ProgramProtocols", "ProgramAccess", "AppLockCore", "DeviceOwner", "KeyStores",
                "VaultCore", "VaultHeader",
                "VaultLog", "VaultStorage",
                "VaultFormat", "VaultSync", "SyncFormat", "Items", "Cryptography", "SecretMemory", "SystemCalls",
            ]),
        library("CommandLineArguments", ["SystemCalls"]),
        .target(
            name: "HoldfastCommand",
            dependencies: (exported + [
                "OpenStorage",
                "VaultWipe",
                "CommandLineArguments",
                "HoldfastDoctor", "HoldfastAgent", "AgentMessages", "ProgramProtocols", "ProgramAccess", "BetterAuth",
                "BetterAuthVerification", "BetterAuthTransport",
                "BetterAuthMessages", "QRCodes", "QRReading", "WipingHeap", "Imports", "VaultSync", "SystemCalls",
            ]).map { .byName(name: $0) },
            swiftSettings: settings),
        // The program `holdfast`: its first lines alone, so that the tour takes what it needs of the command.
        .executableTarget(
            name: "HoldfastProgram",
            dependencies: ["HoldfastCommand", "SystemCalls"].map { .byName(name: $0) },
            swiftSettings: settings),
        // The tour that `make run` takes. Never installed.
        .executableTarget(
            name: "HoldfastTour",
            dependencies: (exported + [
                "VaultWipe",
                "HoldfastCommand", "CommandLineArguments", "HoldfastAgent", "BetterAuth", "BetterAuthVerification",
                "BetterAuthTransport", "BetterAuthMessages", "Imports", "SystemCalls",
            ]).map { .byName(name: $0) },
            path: "Examples/Tour", swiftSettings: settings),

        // For the tests of apps: no other target below Sources imports it (checked by scripts/check-layout).
        library("HoldfastTesting", exported + ["SystemCalls"]),
        // What all tests share, and the part of it that the processes they start use.
        .target(
            name: "SeededNumbers", dependencies: ["SystemCalls"], path: "Tests/SeededNumbers", swiftSettings: settings),
        .target(
            name: "TestSupport",
            dependencies: [
                "SeededNumbers", "VaultCore", "VaultHeader", "VaultStorage", "VaultFormat", "SecretMemory",
                "SystemCalls",
            ],
            path: "Tests/TestSupport", swiftSettings: settings),
        tests("SecretMemoryTests", ["SecretMemory"]),
        tests("CryptographyTests", ["Cryptography", "SecretMemory", "SystemCalls"]),
        tests("OneTimeCodesTests", ["OneTimeCodes", "SecretMemory"]),
        tests("VaultFormatTests", ["VaultFormat"]),
        // The real parts that tests start: a software TPM, and what else runs as a process of its own.
        .target(
            name: "RealParts", dependencies: ["SeededNumbers"], path: "Tests/RealParts", swiftSettings: settings),
        tests(
            "VaultCoreTests",
            [
                "VaultFolders",
                "OpenStorage",
                "VaultWipe",
                "VaultCore", "VaultHeader", "VaultLog", "VaultStorage", "DeviceOwner", "KeyStores", "VaultFormat",
                "Cryptography",
                "SecretMemory", "SystemCalls", "MemorySearch",
            ]),
        tests(
            "ItemsTests",
            ["Items", "VaultCore", "VaultHeader", "VaultStorage", "VaultFormat", "Cryptography", "SecretMemory"]),
        tests(
            "AppLockCoreTests",
            [
                "AppLockCore", "VaultCore", "VaultHeader", "VaultLog", "VaultStorage", "VaultFormat", "Cryptography",
                "SecretMemory",
            ]),
        tests("HoldfastTests", exported),
        // What apps see: examples and attempts of theirs are compiled as another package.
        tests(
            "PublicSurfaceTests",
            ["HoldfastTesting", "RealParts", "BetterAuth", "BetterAuthTransport", "HoldfastUI"] + exported),
        tests("AgentMessagesTests", ["AgentMessages", "SyncFormat", "VaultFormat"]),
        tests("ProgramProtocolsTests", ["ProgramProtocols", "VaultFormat"]),
        tests(
            "CommandTests",
            [
                "HoldfastCommand", "HoldfastProgram", "HoldfastTour", "CommandLineArguments", "HoldfastAgent",
                "AgentMessages", "QRCodes", "QRReading", "RealParts", "MemorySearch",
                "BetterAuth",
                "BetterAuthVerification", "BetterAuthServer", "MemoryServerStore",
                "BetterAuthMessages",
            ] + exported),
    ],
    swiftLanguageModes: [.v6]
)

// The desktop app for Linux needs GTK and libadwaita, which no other build needs (scripts/desktop). It is in this
// package, so that what only it shows is not public. No strict memory safety in it: every call of GTK takes a raw
// pointer, and a mark on each line would say nothing. Raw pointers stay inside GtkKit and the few places that lend it
// secrets.
if Context.environment["HOLDFAST_GTK"] != nil {
    let desktopSettings: [SwiftSetting] = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InferIsolatedConformances"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .treatAllWarnings(as: .error),
        // Everything that touches GTK lives on the main thread.
        .defaultIsolation(MainActor.self),
    ]
    let interfaces = [
        "window", "setup", "vault", "detail", "settings", "log", "doctor", "identity", "cover", "sheets", "item",
        "import", "keeping", "restore", "stop", "prompt", "programs", "shortcuts", "health",
    ]
    package.products.append(.executable(name: "holdfast-desktop", targets: ["HoldfastDesktop"]))
    package.targets += [
        .systemLibrary(
            name: "CAdw", path: "Apps/Linux/Sources/CAdw", pkgConfig: "libadwaita-1",
            providers: [.apt(["libadwaita-1-dev"])]),
        .target(
            name: "GtkKit", dependencies: (["CAdw"] + exported).map { .byName(name: $0) },
            path: "Apps/Linux/Sources/GtkKit", swiftSettings: desktopSettings),
        .executableTarget(
            name: "HoldfastDesktop",
            dependencies: (["GtkKit", "CAdw", "HoldfastUI", "QRReading"] + exported).map { .byName(name: $0) },
            path: "Apps/Linux/Sources/HoldfastDesktop",
            resources: interfaces.map { .embedInCode("Resources/\($0).ui") } + [.embedInCode("Resources/style.css")],
            swiftSettings: desktopSettings),
    ]
}

// The benchmarks compare with SQLCipher, which no other build needs.
if Context.environment["HOLDFAST_BENCHMARKS"] != nil {
    package.products.append(.executable(name: "holdfast-bench", targets: ["HoldfastBenchmarks"]))
    package.targets += [
        .target(
            name: "CRawLoops", path: "Benchmarks/CRawLoops",
            linkerSettings: ["lmdb", "crypto", "dl", "systemd", "z"].map { .linkedLibrary($0) }),
        .executableTarget(
            name: "HoldfastBenchmarks",
            dependencies: [
                "CRawLoops", "RealParts", "HoldfastAgent", "AgentMessages", "BetterAuthServer", "BetterAuthMessages",
                "BetterAuthVerification", "VaultCore", "VaultHeader",
                "Items", "Imports", "VaultLog", "VaultStorage",
                "KeyStores", "DeviceOwner", "VaultFormat", "Cryptography", "SecretMemory",
            ],
            path: "Benchmarks/HoldfastBenchmarks", swiftSettings: settings),
    ]
}

// `make test` has the modules optimised that its tests hash and parse megabytes with, and derives keys at the least
// costs. It asks for that by this name, because nobody can depend on a package that has unsafe flags: no shipped binary
// has either.
if Context.environment["HOLDFAST_OPTIMIZED"] != nil {
    for target in package.targets where ["SecretMemory", "Cryptography", "VaultFormat"].contains(target.name) {
        target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-O"])]
    }
    for target in package.targets where target.name == "MemorySearch" { target.cSettings = [.unsafeFlags(["-O2"])] }
    // A command with a passcode takes a quarter of a second for it, and the tests start thousands.
    for target in package.targets where ["VaultFormat", "BetterAuth", "HoldfastCommand"].contains(target.name) {
        target.swiftSettings = (target.swiftSettings ?? []) + [.define("HOLDFAST_TEST_COSTS")]
    }
}

// Apple systems have the libraries that an app is made of; the command, the agent and the server are for Linux.
let appleTargets: Set<String> = [
    "SystemCalls", "SecretMemory", "Cryptography", "OneTimeCodes", "VaultFormat", "DeviceOwner",
    "KeyStores", "VaultStorage", "VaultLog", "VaultHeader", "VaultWipe", "VaultFolders", "OpenStorage",
    "VaultCore", "Items",
    "Gzip", "QRReading", "Imports",
    "AppLockCore",
    "BetterAuthMessages", "BetterAuthVerification", "BetterAuth", "BetterAuthTransport",
    "BetterAuthServer", "Holdfast",
    "HoldfastDoctor", "QRCodes", "HoldfastUI", "HoldfastViews", "HoldfastTesting",
]
let appleTests: Set<String> = [
    "SecretMemoryTests", "CryptographyTests", "OneTimeCodesTests", "VaultFormatTests", "VaultCoreTests", "ItemsTests",
    "AppLockCoreTests", "HoldfastTests",
    "HoldfastUITests", "BetterAuthMessagesTests",
]
/// What all of them need.
let testLibraries: Set<String> = ["TestSupport", "SeededNumbers", "MemoryServerStore"]
/// What the check runs besides: the backends of Apple's over stand-ins, and every screen.
let checkedTests: Set<String> = ["AppleBackendTests", "BetterAuthTransportTests", "RealParts", "ViewTests"]
/// Apps that the check runs, each a module of its own, since each has a main function.
let examples = ["AccountClient", "AutoDestruct", "FaceIDLock", "Fallback", "MacLock", "OwnLockScreen", "UIKitLock"]
let sampleNames = (examples + ["App"]).map { "Sample\($0)" }
func sample(_ name: String) -> Target {
    let file = name.dropFirst("Sample".count)
    let isApp = !examples.contains { $0 == file }
    return .target(
        name: name, dependencies: (["HoldfastUI", "HoldfastViews"] + exported).map { .byName(name: $0) },
        path: isApp ? "Apps/Apple/Holdfast.swiftpm" : "Examples/Apple",
        exclude: isApp ? ["Info.plist", "Package.swift"] : examples.filter { $0 != file }.map { "\($0).swift" },
        swiftSettings: settings + [
            .unsafeFlags(
                ["-parse-as-library"] + ["-entry-point-function-name", "\(name)_main"].flatMap { ["-Xfrontend", $0] })
        ])
}
/// Backends over Linux libraries.
let linuxBackends = [
    "Cryptography": ["Backends/OpenSSL"],
    "DeviceOwner": ["Backends/PAM", "Backends/SystemBus", "Backends/Logind", "Backends/Fprint"],
    "KeyStores": ["Backends/TPM2", "Backends/SecretService"],
    "BetterAuthTransport": ["Backends/Curl"],
]
/// Tests of parts that only Linux has.
let linuxTests = [
    "HoldfastUITests": ["DoctorModelTests.swift", "OwnerPartsTests.swift", "QRMatrixTests.swift"],
    "CryptographyTests": ["AgreementTests.swift", "SSHSigningTests.swift"],
]
if isApple {
    package.products.removeAll { ["holdfast", "holdfast-tour", "holdfast-server", "FaultInjection"].contains($0.name) }
    package.targets.append(
        tests(
            "AppleBackendTests",
            ["HoldfastUI", "VaultFolders"] + exported))
    if checksApple {
        package.targets.append(
            tests(
                "ViewTests",
                [
                    "HoldfastViews", "HoldfastUI", "HoldfastDoctor", "BetterAuth", "BetterAuthVerification",
                    "BetterAuthMessages", "BetterAuthServer", "MemoryServerStore", "SystemCalls",
                ] + sampleNames + exported))
        package.targets += sampleNames.map(sample)
    }
    let wanted = appleTargets.union(testLibraries).union(!checksApple || checksAppleWhole ? appleTests : [])
        .union(libraryNames).union(checksApple ? checkedTests.union(sampleNames) : [])
        // The other programs, whose files it reads, are there on Linux.
        .union(checksApple && checksAppleWhole ? ["ImportsTests"] : [])
    package.targets.removeAll { !wanted.contains($0.name) }
    for target in package.targets {
        target.exclude += (linuxBackends[target.name] ?? []) + (linuxTests[target.name] ?? [])
    }
}
// What no Apple system has comes as a package: the check takes packages of the same names and headers over Debian's
// libraries.
if isApple {
    package.dependencies +=
        checksApple
        ? ["CLMDB", "argon2"].map { .package(path: "\(standIns)/Packages/\($0)") }
        : [
            .package(url: "https://github.com/agisboye/CLMDB.git", .upToNextMinor(from: "0.9.33")),
            // Tags of its authors are dates. This copy of their sources has a version; another one is to be compared
            // first.
            .package(url: "https://github.com/youjinp/argon2.git", "0.0.2"..<"0.0.3"),
        ]
    package.targets.append(
        .target(
            name: "CLMDB", dependencies: [.product(name: "LMDB", package: "CLMDB")],
            path: "Support/AppleLibraries/CLMDB"))
}
// What an app's privacy report asks of the library: in the module that every product is built from.
for target in package.targets where target.name == "SystemCalls" {
    if isApple {
        target.resources = [.copy("PrivacyInfo.xcprivacy")]
    } else {
        target.exclude.append("PrivacyInfo.xcprivacy")
    }
}
if checksApple {
    package.dependencies.append(.package(path: standIns))
    // Given as a flag, so that the test runner that SwiftPM generates does not find a Darwin: it would ask for XCTest.
    let darwin = "-fmodule-map-file=\(Context.packageDirectory)/\(standIns)/Darwin/module.modulemap"
    for target in package.targets where target.type != .system && !wrappedLibraryNames.contains(target.name) {
        target.dependencies.append(.product(name: "AppleInterfaces", package: "AppleInterfaces"))
        if (["HoldfastViews", "ViewTests"] + sampleNames).contains(target.name) {
            target.dependencies.append(.product(name: "AppleViews", package: "AppleInterfaces"))
        }
        // Foundation on Linux makes `stat` a member of a module that nobody imports. Which imports are missing is seen
        // in the targets with a backend of Apple's here, and in all others by the ordinary build.
        if linuxBackends[target.name] == nil {
            let optimized = (target.swiftSettings ?? []).dropFirst(settings.count)
            target.swiftSettings = settingsWithoutVisibility + optimized
        }
        target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-Xcc", darwin])]
        // Testing would bring an overlay for a UIKit that is not there.
        if target.name == "ViewTests" {
            target.swiftSettings?.append(.unsafeFlags(["-Xfrontend", "-disable-cross-import-overlays"]))
        }
    }
}
