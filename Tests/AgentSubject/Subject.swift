import DeviceOwner
import VaultStorage
import SystemCalls
import HoldfastAgent
import KeyStores
import MemorySearch
import SecretMemory
import Synchronization
import VaultCore
import VaultHeader

/// An agent with cheap key derivation whose clock is moved by the test: eight bytes on standard input, little-endian,
/// are milliseconds that passed. It ends with its input, so that no test leaves one behind.
///
/// The parts of a machine are named by the environment, of this program alone: SUBJECT_BUS, SUBJECT_PAM, SUBJECT_USER,
/// SUBJECT_TPM, SUBJECT_PINENTRY, SUBJECT_SHARES (a file for shares); LISTEN_FDS as a service manager sets it;
/// SUBJECT_PROMPT_PATIENCE and SUBJECT_FOLDER_PATIENCE are in milliseconds. SUBJECT_LOCKED_PAGES=1 goes without memory
/// that the kernel hides, SUBJECT_TRACED=1 lets the test look at the process.
///
/// Usage: AgentSubject HOME RUNTIME|- IDLE|- TIMEOUT|- PATIENCE. Standard output: `ready`, or the code of an error.
@main enum Subject {
    static func main() {
        let words = CommandLine.arguments
        guard words.count == 6, let patience = UInt64(words[5]) else { exit(2) }
        ProcessHardening.apply()
        if variable("SUBJECT_TRACED") != nil { memory_search_allow() }
        if variable("SUBJECT_LOCKED_PAGES") != nil { goWithoutHiddenMemory() }
        do throws(VaultError) {
            let clock = PipeClock()
            var settings = AgentSettings(
                home: words[1], runtime: words[2] == "-" ? nil : words[2], idle: UInt32(words[3]),
                timeout: UInt32(words[4]), program: "test", vault: .costsForTests(clock: clock))
            settings.messagePatience = patience
            settings.pinentry = variable("SUBJECT_PINENTRY")
            if let patience = variable("SUBJECT_PROMPT_PATIENCE").flatMap({ UInt64($0) }) {
                settings.promptPatience = patience
            }
            if let patience = variable("SUBJECT_FOLDER_PATIENCE").flatMap({ UInt64($0) }) {
                settings.folderPatience = patience
            }
            settings.passed = try PassedSockets.take()
            name(&settings)
            let agent = try Agent(settings, clock: clock)
            say("ready")
            agent.run()
        } catch {
            say("\(error.code)")
            exit(1)
        }
    }

    private static func name(_ settings: inout AgentSettings) {
        var places = OwnerAuthenticator.Places()
        places.systemBus = BusAddress(variable("SUBJECT_BUS") ?? "unix:path=/nonexistent/bus")
        places.daemonUser = getuid()
        places.passcodeRules = variable("SUBJECT_PAM") ?? "/nonexistent"
        places.passcodeUser = variable("SUBJECT_USER")
        settings.authenticator = OwnerAuthenticator(places)
        if variable("SUBJECT_BUS") != nil {
            settings.watch = .init(system: places.systemBus, session: places.systemBus)
        }
        let chip = variable("SUBJECT_TPM").map { TPMLocation($0) }
        if let chip { settings.vault.tier = TPMAttemptTier(at: chip) }
        let keepsInFiles = variable("SUBJECT_SHARES") != nil
        settings.vault.shareStores = { home in
            if keepsInFiles { return .files(in: home + "/shares") }
            return ShareStores(chip.map { [TPMShares(at: $0)] } ?? [], floors: []).reading(filesIn: home + "/shares")
        }
        settings.vault.armsOwner = true
    }

    /// What lies in locked pages can be read by whoever may trace the process, and is looked through, too.
    private static func goWithoutHiddenMemory() {
        memory_search_refuse_descriptors(1)
        let protection = ProcessHardening.memoryProtection
        memory_search_refuse_descriptors(0)
        guard protection.hasPrefix("locked pages") else { exit(4) }
    }

    private static func variable(_ name: String) -> String? {
        unsafe getenv(name).flatMap { unsafe String(validatingCString: $0) }
    }

    private static func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = unsafe write(STDOUT_FILENO, bytes, bytes.count)
    }
}

/// Starts where the tests' own clocks start.
final class PipeClock: AgentClock {
    private let milliseconds = Mutex<UInt64>(1_000_000)

    init() { _ = fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK) }

    var descriptor: Int32? { STDIN_FILENO }

    func now() -> BootInstant {
        drain()  // a client may have been heard before the pipe
        return BootInstant(bootID: [UInt8](repeating: 1, count: 16), milliseconds: milliseconds.withLock { $0 })
    }

    /// What is due is looked at whenever the agent wakes.
    func arm(_ instant: BootInstant?) {}

    func drain() {
        var more: UInt64 = 0
        while true {
            let count = unsafe read(STDIN_FILENO, &more, 8)
            if count == 0 { _exit(3) }  // the test has gone
            guard count == 8 else { return }
            milliseconds.withLock { $0 += UInt64(littleEndian: more) }
        }
    }
}
