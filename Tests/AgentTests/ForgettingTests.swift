import AgentMessages
import Cryptography
import Foundation
import HoldfastAgent
import KeyStores
import MemorySearch
import RealParts
import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultHeader
import VaultFormat
import VaultStorage

/// After a lock nothing of the vault is left anywhere in the process: every page and every register is looked at.
@Suite(.serialized, .enabled(if: Needles.canSearch, Needles.cannotSearch))
struct ForgettingTests {
    private static let rounds = TestRun.isSoak ? 50 : 4

    /// How a vault is opened.
    enum Way: CaseIterable, Sendable {
        case passcode, phrase, pin, owner

        var isThere: Bool {
            switch self {
            case .passcode, .phrase: true
            case .pin: SoftwareTPM.isInstalled
            case .owner: AccountModule.path != nil
            }
        }
    }

    /// With memory that the kernel hides, where it has some, and without: then what a lock must wipe is seen, too.
    static let memories = [
        "hidden": ["SUBJECT_TRACED": "1"], "locked": ["SUBJECT_TRACED": "1", "SUBJECT_LOCKED_PAGES": "1"],
    ]

    @Test("with", arguments: Way.allCases.filter(\.isThere), ["hidden", "locked"])
    func anAgentForgetsAll(_ way: Way, _ memory: String) throws {
        let scene = try Scene(way)
        let agent = try TestAgent(
            scene.scratch, parts: scene.parts.merging(ForgettingTests.memories[memory] ?? [:]) { $1 })
        if way == .owner {
            // Only after the passcode, and as long as the agent is there.
            try scene.open(agent, .passcode)
            try agent.lock()
        }
        for round in 0..<ForgettingTests.rounds {
            try scene.open(agent, way)
            // Much of what is used overwrites what unlocking left, so not in every round.
            if round % 2 == 1 { try scene.use(agent) }
            try agent.lock()
            try scene.expectNothing(in: agent.pid, "round \(round)")
        }
    }

    @Test(arguments: ["hidden", "locked"])
    func `what other programs were given and gave is forgotten`(_ memory: String) throws {
        let scene = try Scene(.passcode)
        let pinentry = try ScriptedPinentry(scene.scratch)
        let agent = try TestAgent(
            scene.scratch, parts: pinentry.part.merging(ForgettingTests.memories[memory] ?? [:]) { $1 })
        for round in 0..<ForgettingTests.rounds {
            try scene.open(agent, .passcode)
            try scene.useFaces(agent)
            let (asking, question) = try scene.useAsked(agent, pinentry)
            defer { close(question) }
            try agent.lock()
            #expect(try asking.receive()?.code == "locked")
            try scene.expectNothing(in: agent.pid, "round \(round)")
        }
    }

    @Test(
        .enabled(if: PrivateBus.isInstalled, "dbus-daemon is not installed: no program uses the Secret Service"),
        arguments: ["hidden", "locked"])
    func `what programs of the session bus stored, read and asked is forgotten, and the passcode typed for them`(
        _ memory: String
    ) throws {
        let scene = try Scene(.passcode)
        let bus = try PrivateBus()
        let pinentry = try ScriptedPinentry(scene.scratch)
        let agent = try TestAgent(
            scene.scratch,
            parts: pinentry.part.merging(bus.environment) { $1 }.merging(ForgettingTests.memories[memory] ?? [:]) { $1 }
        )
        try agent.client().serveSecrets()
        let programs = try BusPrograms(bus)
        for round in 0..<ForgettingTests.rounds {
            if round % 2 == 0 {
                try scene.open(agent, .passcode)
            } else {
                try scene.plant()
                try programs.tell("search", scene.name(22))
                try pinentry.enter(scene.passcode)
                try programs.tell("unlock", scene.name(23))
            }
            for word in ["use_secure", "use_plain"] {
                try programs.tell(word, scene.name(17), scene.value(26), scene.value(50), scene.value(700))
            }
            try programs.tell("keep", scene.name(18), scene.name(24), scene.value(60))
            try programs.tell("keep", scene.name(19), scene.name(25), scene.value(5000))
            // The sessions stay open.
            try agent.lock()
            try scene.expectNothing(in: agent.pid, "round \(round)")
        }
    }

    @Test(arguments: ["hidden", "locked"])
    func `a passphrase that outlives the lock is known again, and is nowhere`(_ memory: String) throws {
        let scene = try Scene(.passcode)
        let home = scene.scratch.path + "/device"
        var settings = scene.scratch.settings
        settings.shareStores = { .files(in: $0 + "/shares") }
        try Vault.createAtDevice(at: home, settings: settings)
        let agent = try TestAgent(
            scene.scratch, home: home,
            parts: ["SUBJECT_SHARES": "1"].merging(ForgettingTests.memories[memory] ?? [:]) { $1 })
        let socket = try agent.client().serveSSH()
        for round in 0..<ForgettingTests.rounds {
            let passphrase = scene.value(30)
            _ = try agent.client().openUnasked()
            #expect(try scene.ssh(locks: true, passphrase, socket))
            #expect(try !scene.ssh(locks: false, scene.value(30), socket))
            try agent.lock()
            try scene.expectNothing(in: agent.pid, "round \(round)")
            #expect(try scene.ssh(locks: false, passphrase, socket))
        }
    }

    @Test(
        .enabled(if: SoftwareTPM.isInstalled, "swtpm is not installed: no SSH key is made in a TPM"),
        arguments: ["hidden", "locked"])
    func `what a TPM wants to hear before it signs is forgotten, also while it signs`(_ memory: String) throws {
        let scene = try Scene(.passcode)
        let chip = try SoftwareTPM()
        let agent = try TestAgent(
            scene.scratch,
            parts: ["HOLDFAST_TPM": chip.location].merging(ForgettingTests.memories[memory] ?? [:]) { $1 })
        for round in 0..<ForgettingTests.rounds {
            try scene.open(agent, .passcode)
            let key = try scene.addChipKey(chip, agent)
            let socket = try agent.client().serveSSH()
            try scene.sign(key, socket)
            let connections = try scene.beginSigning(key, socket, 6)
            defer { for connection in connections { close(connection) } }
            try agent.lock()
            try scene.expectNothing(in: agent.pid, "round \(round)")
        }
    }

    @Test(
        .enabled(if: PrivateBus.hasMocks, "python3-dbusmock is not installed: sleep is not tested"),
        arguments: ["hidden", "locked"])
    func `the machine goes to sleep when what was asked and used is forgotten`(_ memory: String) throws {
        let bus = try PrivateBus()
        try bus.mock("logind", name: "org.freedesktop.login1")
        let scene = try Scene(.passcode)
        // It keeps what asks for as long as it can.
        let pinentry = try ScriptedPinentry(scene.scratch, script: ScriptedPinentry.stubborn)
        let agent = try TestAgent(
            scene.scratch,
            parts: pinentry.part.merging(["SUBJECT_BUS": bus.address]) { $1 }
                .merging(ForgettingTests.memories[memory] ?? [:]) { $1 })
        for round in 0..<ForgettingTests.rounds {
            try bus.wait("what delays sleep") { bus.delaysSleep }
            try scene.open(agent, .passcode)
            let (asking, question) = try scene.useAsked(agent, pinentry)
            defer { close(question) }
            try bus.sleep(true)
            try bus.wait("sleep") { !bus.delaysSleep }
            try scene.expectNothing(in: agent.pid, "round \(round)")
            #expect(try asking.receive()?.code == "locked")
            try bus.sleep(false)
        }
    }

    @Test("with", arguments: [Way.passcode, .phrase], ["hidden", "locked"])
    func anAppForgetsKeysAndValues(_ way: Way, _ memory: String) throws {
        let scene = try Scene(way)
        let app = try TestApp(scene.scratch.home, parts: ForgettingTests.memories[memory] ?? [:])
        for round in 0..<ForgettingTests.rounds {
            switch way {
            case .passcode: try app.perform("p", scene.passcode)
            default: try app.perform("r", scene.phrase)
            }
            if round % 2 == 1 {
                try app.perform("w", scene.value(900))
                try app.perform("g")
                let values = (1...4).map { scene.value(30 + $0) } + [scene.base32()]
                // By which the password that the item has in the end is looked for in a list of breached ones.
                let digest = try secret(values[3]).withBytes { try SHA1.hash(ofSecret: $0) }
                scene.rememberKey(digest.revealed(), "the SHA-1 of a password")
                try app.perform("i", values.joined(separator: " "))
            }
            try app.perform("l")
            try scene.expectNothing(in: app.pid, "round \(round)")
        }
    }

    @Test func aRefusedSecretIsForgottenToo() throws {
        let scene = try Scene(.passcode)
        let agent = try TestAgent(scene.scratch, parts: ["SUBJECT_TRACED": "1"])
        let wrong = try scene.wrongPasscode()
        let client = try agent.client()
        #expect(errorCode { _ = try client.unlock(.passcode, secret(wrong)) } == .wrongPasscode)
        try scene.expectNothing(in: agent.pid, "a wrong passcode")
        #expect(throws: VaultError.self) { _ = try client.unlock(.recoveryPhrase, secret(scene.phrase + " abandon")) }
        try scene.expectNothing(in: agent.pid, "a phrase of 25 words")
        let app = try TestApp(scene.scratch.home, parts: [:])
        #expect(throws: TestApp.Failed.self) { try app.perform("p", wrong) }
        try scene.expectNothing(in: app.pid, "a wrong passcode")
        #expect(throws: TestApp.Failed.self) { try app.perform("r", scene.phrase + " abandon") }
        try scene.expectNothing(in: app.pid, "a phrase of 25 words")
    }
}

extension PrivateBus {
    /// Whether somebody has the mocked logind wait before the machine sleeps.
    fileprivate var delaysSleep: Bool {
        let found = try? python(
            """
            logind = bus.get_object('org.freedesktop.login1', '/org/freedesktop/login1')
            print(len(logind.ListInhibitors(dbus_interface='org.freedesktop.login1.Manager')))
            """)
        return found != "0\n"
    }

    fileprivate func sleep(_ begins: Bool) throws {
        try emit(
            "org.freedesktop.login1", path: "/org/freedesktop/login1", interface: "org.freedesktop.login1.Manager",
            member: "PrepareForSleep", signature: "b", begins ? "True" : "False")
    }
}
