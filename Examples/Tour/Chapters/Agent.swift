internal import VaultFormat
internal import AgentMessages
internal import Holdfast
internal import HoldfastAgent
internal import HoldfastCommand
internal import SystemCalls

extension Chapter {
    static let agent = Chapter(
        title: "The agent",
        steps: [
            Step("started as a process of its own, locked") { tour in
                let agent = try TourAgent(home: tour.home, runtime: tour.scratch)
                tour.agent = agent
                let status = try agent.client().status()
                try tour.expect(!status.isUnlocked, "it is open before anybody opened it")
                return "process \(status.process), as holdfast unlock starts it"
            },
            Step("refused a wrong passcode") { tour in
                let agent = try tour.runningAgent()
                let wrong = try Tour.secret(Samples.wrongPasscode)
                let refusal = try await tour.expectRefusal(.wrongPasscode, "\"\(Samples.wrongPasscode)\"") {
                    _ = try agent.client().unlock(.passcode, wrong)
                }
                return refusal.reason
            },
            Step("opened for every command") { tour in
                let passcode = try Tour.secret(tour.passcode)
                let locksIn = try tour.runningAgent().client().unlock(.passcode, passcode)
                return "locks after \(Format.wait(.milliseconds(Int64(clamping: locksIn ?? 0)))) without use"
            },
            Step("asked it for a value, as holdfast get does") { tour in
                let item = Samples.items[0]
                let agent = try tour.runningAgent()
                guard let path = RecordName(collection: item.collection, name: item.name) else {
                    throw TourFailure(description: "\"\(item.name)\" is no name")
                }
                let start = MonotonicClock.nanoseconds
                var bytes: [UInt8] = []
                try agent.client().get(path) { piece in
                    for offset in 0..<piece.byteCount { bytes.append(piece.byte(at: offset)) }
                }
                let microseconds = (MonotonicClock.nanoseconds - start) / 1000
                try tour.expect(bytes == Array(item.text.utf8), "\(item.kind) is not what was stored")
                return "\(bytes.count) bytes in \(microseconds) us, without a passcode"
            },
            Step("asked it for a value by its reference, as holdfast run does") { tour in
                let item = Samples.items[0]
                let reference = try SecretReference(collection: item.collection, item: item.name)
                let value = try tour.runningAgent().client().value(of: reference)
                try tour.expect(value.count == item.text.utf8.count, "\(reference.text) has another size")
                return reference.text
            },
            Step("kept a password for git, and answered its question") { tour in
                let agent = try tour.runningAgent()
                let address = "protocol=https\nhost=example.org\n"
                let stored = try Tour.secret(address + "username=ada\npassword=a password of the tour\n")
                _ = try agent.client().credential(.store, collection: "git", stored)
                let answer = try agent.client().credential(.get, collection: "git", Tour.secret(address))
                let other = try agent.client().credential(
                    .get, collection: "git", Tour.secret("protocol=https\nhost=example.org.evil.example\n"))
                try tour.expect(answer.count > 0 && other.count == 0, "another server's question was answered")
                if let path = RecordName(collection: "git", name: "https://ada@example.org") {
                    try agent.client().remove(path)
                }
                return "\(answer.count) bytes for https://example.org, none for another server"
            },
            Step("locked") { tour in
                let agent = try tour.runningAgent()
                try agent.client().lock()
                try await tour.expectRefusal(.locked, "listing the records") { _ = try agent.client().list(nil) }
                return "its keys are gone, listing is refused"
            },
            Step("ended") { tour in
                let agent = try tour.runningAgent()
                try agent.client().shutDown()
                let code = agent.waitForEnd()
                tour.agent = nil
                try tour.expect(code == 0, "it ended with \(code)")
                return "nothing of it is left"
            },
        ])
}

extension Tour {
    fileprivate func runningAgent() throws -> TourAgent {
        guard let agent else { throw TourFailure(description: "the agent was not started") }
        return agent
    }
}

/// The agent of the tour's own vault, ended with this object.
final class TourAgent {
    private let home: String
    private let runtime: String
    private var process: Int32

    /// - Parameters:
    ///   - options: Of `holdfast agent`.
    ///   - environment: What it finds in its environment besides ours.
    init(home: String, runtime: String, options: [String] = [], environment: [String] = []) throws {
        guard let program = TourProcess.program("holdfast") else {
            throw TourFailure(description: "there is no holdfast beside the tour")
        }
        let words = AgentCommand.arguments(home: home) + ["--idle=900", "--timeout=900"] + options
        let found = try AgentLaunch.connect(
            home: home, runtime: runtime, program: environment.isEmpty ? program : "/usr/bin/env",
            arguments: environment.isEmpty ? words : ["env"] + environment + [program] + words.dropFirst())
        switch consume found {
        case .running: throw TourFailure(description: "an agent was there already")
        case .started(_, let process): self.process = process
        }
        self.home = home
        self.runtime = runtime
    }

    func client() throws -> AgentClient {
        guard let client = try AgentClient(home: home, runtime: runtime) else {
            throw TourFailure(description: "the agent has gone")
        }
        // The tour hides from other programs of its user, and so from the agent.
        try client.introduce()
        return client
    }

    /// - Returns: The exit code, or 1000 and the signal that ended it.
    func waitForEnd() -> Int32 {
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) == -1, errno == EINTR {}
        process = 0
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 1000 + status & 0x7F
    }

    deinit {
        guard process != 0 else { return }
        kill(process, SIGKILL)
        _ = waitForEnd()
    }
}
