internal import VaultFormat
internal import AgentMessages
internal import Holdfast
internal import HoldfastAgent
internal import HoldfastCommand
internal import SystemCalls

extension Chapter {
    /// What programs that nobody here wrote get from the agent.
    static let programs = Chapter(
        title: "Other programs",
        steps: [
            Step("an agent that asks with a program of the tour's") { tour in
                let programs = try TourPrograms(tour)
                tour.programs = programs
                _ = try programs.agent.client().unlock(.passcode, Tour.secret(tour.passcode))
                return programs.hasBus
                    ? "with a session bus of its own" : "without a session bus: dbus-daemon is not installed"
            },
            Step("asked before it gave away an item that asks") { tour in
                let programs = try tour.runningPrograms()
                var item = try Item(.login)
                try item.add(.secret, "password", Tour.secret(TourPrograms.password))
                try item.addTag("ask-until-lock")
                try programs.agent.client().put(item, as: TourPrograms.path("asks"), replacing: nil)
                for _ in 0..<2 { _ = try programs.agent.client().item(TourPrograms.path("asks")) }
                let (questions, leases) = (programs.questions, try programs.agent.client().leases().count)
                try tour.expect(questions == 1 && leases == 1, "\(questions) questions and \(leases) leases")
                return "one question, and a lease until the lock"
            },
            Step("ran a program with a value, and masked its output") { tour in
                let programs = try tour.runningPrograms()
                let line = try programs.command(
                    [
                        "run", "--env", "VALUE=holdfast://programs/asks/password", "--mask", "--", "sh", "-c",
                        "echo it is $VALUE",
                    ])
                try tour.expect(line == "it is <masked>", "it wrote \"\(line ?? "nothing")\"")
                return "the environment of one process, and \"\(line ?? "")\""
            },
            Step("filled in a template") { tour in
                let programs = try tour.runningPrograms()
                let template = tour.scratch + "/template"
                try tour.write(Array("it is {{ holdfast://programs/asks/password }}\n".utf8), to: template)
                let line = try programs.command(["inject", "--in", template])
                try tour.expect(line == "it is \(TourPrograms.password)", "the value is not in it")
                return "the value where the reference was"
            },
            Step("made an SSH key, and had OpenSSH sign with it") { tour in
                let programs = try tour.runningPrograms()
                let key = try programs.command(["ssh", "generate", "key", "--collection", TourPrograms.collection])
                let socket = try programs.agent.client().serveSSH()
                guard unsafe access("/usr/bin/ssh-keygen", X_OK) == 0 else { return "ssh-keygen is not installed" }
                let (file, signers) = (tour.scratch + "/key.pub", tour.scratch + "/signers")
                try tour.write(Array("\(key ?? "")\n".utf8), to: file)
                try tour.write(Array("tour \(key ?? "")\n".utf8), to: signers)
                let script = """
                    echo text | ssh-keygen -Y sign -q -f '\(file)' -n tour > '\(file).sig'
                    echo text | ssh-keygen -Y verify -f '\(signers)' -I tour -n tour -s '\(file).sig'
                    """
                let verdict = try programs.shell(script, ["SSH_AUTH_SOCK=\(socket)"])
                try tour.expect(
                    verdict?.hasPrefix("Good \"tour\" signature") == true, "it said \"\(verdict ?? "nothing")\"")
                return verdict ?? ""
            },
            Step("kept and found a password for libsecret") { tour in
                let programs = try tour.runningPrograms()
                guard programs.hasBus, unsafe access("/usr/bin/secret-tool", X_OK) == 0 else {
                    return "dbus-daemon or secret-tool is not installed"
                }
                try programs.agent.client().serveSecrets()
                let found = try programs.shell(
                    "printf 'a password' | secret-tool store --label='tour' user ada; secret-tool lookup user ada; echo"
                )
                try tour.expect(found == "a password", "secret-tool found \"\(found ?? "nothing")\"")
                if let path = RecordName(collection: "default", name: "tour") {
                    try programs.agent.client().remove(path)
                }
                return "over the session bus, as an item with the tag secret-service"
            },
            Step("and a lock ended all of that") { tour in
                let programs = try tour.runningPrograms()
                for name in ["asks", "key"] { try programs.agent.client().remove(TourPrograms.path(name)) }
                try programs.agent.client().lock()
                let leases = try programs.agent.client().leases().count
                try tour.expect(leases == 0, "\(leases) leases are left")
                try await tour.expectRefusal(.locked, "an item") {
                    _ = try programs.agent.client().item(TourPrograms.path("asks"))
                }
                try programs.agent.client().shutDown()
                let code = programs.agent.waitForEnd()
                tour.programs = nil
                try tour.expect(code == 0, "the agent ended with \(code)")
                return "no lease, no key, no value"
            },
        ])
}

extension Tour {
    fileprivate func runningPrograms() throws -> TourPrograms {
        guard let programs else { throw TourFailure(description: "the agent was not started") }
        return programs
    }
}

/// An agent for other programs: with a session bus of its own where there is a daemon for one, and a pinentry that says
/// yes. Ended with this object.
final class TourPrograms {
    static let collection = "programs"
    static let password = "a password of the tour"

    let agent: TourAgent
    private let tour: Tour
    private let bus: TourProcess?
    private let log: String

    var hasBus: Bool { bus != nil }

    /// Where the tour's bus is: a path of its own, which is short enough for an address.
    private static func address(_ tour: Tour) -> String { "unix:path=\(tour.scratch)/bus" }

    init(_ tour: Tour) throws {
        self.tour = tour
        log = tour.scratch + "/questions"
        let pinentry = tour.scratch + "/pinentry"
        let script = """
            #!/bin/sh
            echo OK
            while read -r line; do
                case $line in
                CONFIRM) echo >> '\(log)'; echo OK ;;
                OPTION* | SET*) echo OK ;;
                *) echo 'ERR 536871187 Unknown command' ;;
                esac
            done

            """
        try tour.write(Array(script.utf8), to: pinentry)
        unsafe _ = chmod(pinentry, 0o700)
        let daemon = "/usr/bin/dbus-daemon"
        if unsafe access(daemon, X_OK) == 0 {
            let address = TourPrograms.address(tour)
            let started = try TourProcess(
                daemon, ["--session", "--nofork", "--nopidfile", "--address=\(address)", "--print-address"])
            bus = started.line() == nil ? nil : started
        } else {
            bus = nil
        }
        agent = try TourAgent(
            home: tour.home, runtime: tour.scratch, options: ["--pinentry=\(pinentry)"],
            environment: bus == nil ? [] : ["DBUS_SESSION_BUS_ADDRESS=\(TourPrograms.address(tour))"])
    }

    static func path(_ name: String) throws -> RecordName {
        guard let path = RecordName(collection: collection, name: name) else {
            throw TourFailure(description: "\"\(name)\" is no name")
        }
        return path
    }

    /// Questions that were asked so far.
    var questions: Int {
        let file = unsafe open(log, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return 0 }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 64)
        return max(0, unsafe read(file, &bytes, bytes.count))
    }

    /// The first line that `holdfast` writes.
    func command(_ words: [String]) throws -> String? {
        guard let program = TourProcess.program("holdfast") else {
            throw TourFailure(description: "there is no holdfast beside the tour")
        }
        return try run([program] + words, [])
    }

    /// The first line that a script of the shell writes.
    func shell(_ script: String, _ variables: [String] = []) throws -> String? {
        try run(["sh", "-c", script], variables)
    }

    private func run(_ words: [String], _ variables: [String]) throws -> String? {
        let all =
            ["HOLDFAST_HOME=\(tour.home)", "XDG_RUNTIME_DIR=\(tour.scratch)"] + variables
            + (hasBus ? ["DBUS_SESSION_BUS_ADDRESS=\(TourPrograms.address(tour))"] : [])
        return try TourProcess("/usr/bin/env", all + words).line()
    }
}
