internal import BetterAuth
internal import BetterAuthMessages
internal import Holdfast
internal import SystemCalls

/// The identity's server with everything around it, on ports of this machine that the system chooses: the keeper of a
/// key chain, the service that publishes it, the server, and two application servers. Processes of `holdfast-server`.
final class TourServers {
    /// A server that has said that it is ready.
    struct Ready {
        let name: String
        let address: ServerAddress
        /// What it named behind its address: its key, or the chain's id.
        let key: String
    }

    let auth: Ready
    let keys: Ready
    let apps: [Ready]
    /// The id of the key chain: all that a client has to know.
    let chain: DigestText
    private var processes: [TourProcess] = []

    var count: Int { processes.count }

    /// - Parameter folder: Does not exist yet.
    /// - Throws: ``TourFailure`` for one that does not come up.
    init(_ program: String, in folder: String, _ tour: Tour) throws {
        for path in [folder, folder + "/chain"] {
            try tour.expect(unsafe mkdir(path, 0o700) == 0, "no folder \(path): \(SystemError.last)")
        }
        var processes: [TourProcess] = []
        func start(_ name: String, _ words: String...) throws -> Ready {
            let process = try TourProcess(program, [words[0], "--listen=127.0.0.1:0"] + words.dropFirst())
            processes.append(process)
            let parts = process.line()?.split(separator: " ") ?? []
            guard parts.count == 3, parts[0] == "ready", let address = try? ServerAddress(String(parts[1])) else {
                throw TourFailure(description: "holdfast-server \(words[0]) did not say that it is ready")
            }
            return Ready(name: name, address: address, key: String(parts[2]))
        }
        for token in ["sign", "admin"] {
            let random = try SecureRandom.bytes(32).map { Character(Unicode.Scalar(0x61 + $0 % 26)) }
            try tour.write(Array(String(random).utf8), to: "\(folder)/\(token)")
        }
        let beginning = try TourProcess(program, ["init-chain", "--folder=\(folder)/chain"])
        while beginning.line() != nil {}
        try tour.expect(beginning.end() == 0, "holdfast-server init-chain makes a key chain")
        let keeper = try start(
            "the chain's keeper", "hsm", "--folder=\(folder)/chain", "--sign-token-file=\(folder)/sign",
            "--admin-token-file=\(folder)/admin")
        keys = try start("the key service", "keys", "--hsm=\(keeper.address)", "--trust=\(keeper.key)")
        auth = try start(
            "the server", "serve", "--database=\(folder)/accounts.db", "--hsm=\(keeper.address)",
            "--hsm-token-file=\(folder)/sign", "--key-service=\(keys.address)")
        apps = try ["east", "west"].map { [keys] name in
            try start("app server \(name)", "app", "--name=\(name)", "--keys=\(keys.address)", "--trust=\(keeper.key)")
        }
        guard let chain = DigestText(keeper.key) else { throw TourFailure(description: "the key chain has no id") }
        self.chain = chain
        self.processes = processes
    }

    /// Asks all of them to end, the last one first.
    /// - Returns: Their exit codes.
    func end() -> [Int32] {
        defer { processes = [] }
        return processes.reversed().map { $0.end() }
    }
}
