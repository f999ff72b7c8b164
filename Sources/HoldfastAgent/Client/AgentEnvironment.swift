internal import SystemCalls

/// What of its starter's environment a program of ours gets.
///
/// The variables of a process can be read for as long as it runs, a lock or not, and a shell's may be secrets. So
/// nothing is handed on but what is named here.
enum AgentEnvironment {
    /// What a program needs to show something.
    private static let display: Set = [
        "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "XAUTHORITY", "XDG_RUNTIME_DIR",
        "XDG_SESSION_TYPE", "XDG_CURRENT_DESKTOP", "DBUS_SESSION_BUS_ADDRESS",
    ]
    /// What an agent needs besides. The last ones are for backtraces, sanitizers and the TPM's library.
    private static let agent = display.union([
        "SHELL", "PATH", "LANGUAGE", "TZ", "TERM", "TMPDIR", "DISPLAY", "WAYLAND_DISPLAY", "DBUS_SYSTEM_BUS_ADDRESS",
        "SWIFT_BACKTRACE", "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS", "TSS2_LOG",
    ])
    /// What the names of an agent's further variables begin with: places and languages, our own settings, and the
    /// loader's, which has read them when this process began.
    private static let agentPrefixes = ["XDG_", "LC_", "HOLDFAST_", "LD_"]

    /// The variables of this process that its agent gets, with the runtime folder that its client will look in.
    static func forAgent(_ runtime: String?) -> [[UInt8]] {
        let folder = "XDG_RUNTIME_DIR"
        return Spawn.environment().filter { variable in
            let name = name(of: variable)
            return name != folder
                && (agent.contains(name) || agentPrefixes.contains { name.utf8.starts(with: $0.utf8) })
        } + (runtime.map { [Array("\(folder)=\($0)".utf8)] } ?? [])
    }

    /// The variables of this process that a program needs to show something.
    static func forDisplay() -> [[UInt8]] { Spawn.environment().filter { display.contains(name(of: $0)) } }

    private static func name(of variable: [UInt8]) -> String {
        String(decoding: variable.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
    }
}
