import Foundation
import TestSupport
import Testing

/// The rule for a later version of the format (Docs/vault-format.md 16), tried on one that was made up: a home of
/// version 1 comes to it while it is in use, from wherever it was stopped, and this version's program refuses it then.
@Suite(.enabled(if: MigrationTrial.hasPython, "no python3 with cryptography, argon2 and lmdb: no migration is tried"))
struct MigrationTrialTests {
    @Test("a migration that is killed at any point is continued, and its backup is the way back", .seeded)
    func steps() throws {
        let trial = try MigrationTrial()
        #expect(
            try trial.run("step", isUpdating: false).errors.contains("make a backup"), "there is no way without one")
        #expect(try trial.program("backup", trial.backup).code == 0)
        #expect(try trial.program("put", "one more", input: "x").code == 0)
        #expect(try trial.run("step", isUpdating: false).errors.contains("the backup is not what the vault has now"))
        let values = try trial.read().values
        #expect(values.count == 8)

        var names: [String] = []
        var generator = SeededGenerator()
        let points = TestRun.sample(MigrationTrial.points, MigrationTrial.points.count, using: &generator)
        for point in points + [nil] {
            let run = try trial.run("each", dyingAt: point)
            try #require(run.code == (point == nil ? 0 : 1000 + SIGKILL), "\(point ?? "") \(run.errors)")
            for step in try trial.steps(run) + [point == nil ? nil : trial.read()].compactMap({ $0 }) {
                names.append(step.step ?? "killed: \(point ?? "")")
                #expect(step.values == values && step.isIntact && step.entries >= 10, "\(names) \(step)")
            }
            // Whatever of it is version 1's still: this version's program changes nothing.
            try trial.expectRefusals(all: point == nil || TestRun.isCheck)
        }
        let torn = points.contains("first copy") ? ["second copy", "root"] : ["header"]
        for step in torn + ["log renamed", "record", "open", "forget", "done"] {
            #expect(names.contains(step), "\(names)")
        }
        let end = try trial.read(byPasscode: true)
        #expect(end.values == values && end.versions == [2], "a slot that version 1 wrapped opens")

        // Back: what the vault had when it rose, by this version's program.
        let old = try Sandbox()
        let restored = try old.run("restore", trial.backup)
        #expect(restored.code == 0, "\(restored.errors)")
        let phrase = try old.lines(trial.phrase)
        let verified = try old.run("verify", "--phrase-fd=4", descriptors: [4: phrase])
        #expect(verified.code == 0, "\(verified.text)\(verified.errors)")
        let back = try trial.read(at: old.home)
        #expect(back.version == 1 && back.isIntact && back.values == values)
    }

    @Test("a kill between header and root record leaves a vault that only the next version writes to")
    func killedBetween() throws {
        let trial = try MigrationTrial()
        #expect(try trial.run("step", dyingAt: "header").code == 1000 + SIGKILL)
        try trial.expectRefusals(all: false)
        #expect(try trial.steps(trial.run("step")).map(\.step) == ["root"])
        #expect(try trial.next("put", "default", "note", input: "of the next version").code == 0)
        let values = try trial.read().values
        #expect(try trial.finish().values == values)
    }

    @Test("an agent that has the vault open says why it is shut, and writes not even that into the log")
    func agent() throws {
        let trial = try MigrationTrial()
        #expect(try trial.program("unlock").code == 0)
        #expect(try trial.program("get", "note", isAlone: false).text == "sunflower\n")
        #expect(try trial.steps(trial.run("step")).map(\.step) == ["header"])
        let before = try trial.contents()
        for words in [["get", "note"], ["get", "note"], ["put", "new"], ["list"], ["status"]] {
            let refused = try trial.program(words, isAlone: false)
            #expect(refused.code == 5 && refused.errors.contains(MigrationTrial.named), "\(words) \(refused.errors)")
        }
        #expect(try trial.program("lock", "--shut-down", isAlone: false).code == 0)
        #expect(try trial.contents() == before)
        #expect(try trial.finish().isIntact)
    }

    @Test("who reads a large value meanwhile gets all of it")
    func longRead() throws {
        let trial = try MigrationTrial()
        let pipe = trial.sandbox.path + "/pipe"
        try #require(unsafe mkfifo(pipe, 0o600) == 0)
        let end = unsafe open(pipe, O_RDWR | O_CLOEXEC)
        try #require(end >= 0)
        defer { close(end) }
        let reader = try Child(
            raw: ["get", "file", "--collection", "files", "--phrase-fd=4"].map { Array($0.utf8) },
            descriptors: [1: .ours(end), 4: trial.sandbox.lines(trial.phrase)], environment: trial.environment)
        var taken = [UInt8](repeating: 0, count: 1)
        try #require(unsafe read(end, &taken, 1) == 1)  // it has the file open by now
        #expect(try trial.finish().isIntact)
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while taken.count < MigrationTrial.file.count {
            let count = unsafe read(end, &buffer, buffer.count)
            try #require(count > 0)
            taken += buffer[..<count]
        }
        #expect(reader.wait() == 0)
        // Not within the expectation: telling a million bytes apart would take it an hour.
        let isWhole = taken == MigrationTrial.file
        #expect(isWhole)
    }

    @Test("who stores a large value meanwhile is refused, and takes it away again")
    func longWrite() throws {
        let trial = try MigrationTrial()
        let values = try trial.read().values
        var ends: [Int32] = [-1, -1]
        try #require(unsafe pipe(&ends) == 0)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let writer = try Child(
            raw: ["put", "long", "--phrase-fd=4"].map { Array($0.utf8) },
            descriptors: [
                0: .ours(ends[0]), 2: .output(trial.sandbox.path + "/errors"),
                4: trial.sandbox.lines(trial.phrase),
            ], environment: trial.environment)
        close(ends[0])
        let files = trial.sandbox.home + "/files"
        func hasPart() throws -> Bool {
            try FileManager.default.contentsOfDirectory(atPath: files).contains { $0.hasPrefix(".part-") }
        }
        try FileHandle(fileDescriptor: ends[1]).write(contentsOf: Data(MigrationTrial.file + MigrationTrial.file))
        try wait { try hasPart() }
        #expect(try trial.steps(trial.run("step")).map(\.step) == ["header"])
        close(ends[1])
        #expect(writer.wait() == 1)
        let said = String(decoding: try trial.sandbox.bytes("errors"), as: UTF8.self)
        #expect(said.contains("another process gave the vault new keys"), "\(said)")
        #expect(try !hasPart())
        let end = try trial.finish()
        #expect(end.values == values && end.isIntact)
    }

    @Test("what was stored while the header rose is there, and what was refused says why")
    func writers() throws {
        let trial = try MigrationTrial()
        // Each ends at its first refusal; what it stored is the number of its lines.
        let script = """
            for n in $(seq 1 1000); do
                echo "$1 $n" | "$0" put "$1 $n" --phrase-fd 4 4< phrase 2> errors-$1 || exit $?
                echo $n >> stored-$1
            done
            """
        _ = try trial.sandbox.file((trial.phrase + "\n").utf8, "phrase")
        let loops = try ["a", "b", "c"].map { name in
            let script = "cd '\(trial.sandbox.path)'\n" + script
            return try Child(
                "/bin/bash", raw: ["-c", script, Program.path, name].map { Array($0.utf8) },
                environment: trial.environment)
        }
        let begun = try trial.sandbox.run(
            "/bin/bash",
            raw: [
                "-c",
                Sandbox.awaiting + "cd '\(trial.sandbox.path)'; for n in a b c; do await '[ -s stored-'$n' ]'; done",
            ]
            .map { Array($0.utf8) })
        try #require(begun.code == 0, "\(begun.errors)")
        #expect(try trial.steps(trial.run("step")).map(\.step) == ["header"])
        var stored = 0
        for (name, loop) in zip(["a", "b", "c"], loops) {
            let code = loop.wait()
            let said = String(decoding: try trial.sandbox.bytes("errors-\(name)"), as: UTF8.self)
            // One that had the vault open already waited for the lock, and lacks the new keys.
            let isNamed = code == 5 && said.contains(MigrationTrial.named)
            #expect(isNamed || code == 1 && said.contains("another process gave the vault new keys"), "\(code) \(said)")
            stored += try trial.sandbox.bytes("stored-\(name)").count { $0 == 10 }
        }
        let read = try trial.finish()
        #expect(stored >= 3 && read.isIntact && read.values.count == 7 + stored, "\(stored) \(read)")
    }

    @Test("of a new passcode and a new version at once, each happens whole or not at all")
    func passcode() throws {
        let trial = try MigrationTrial()
        let change = try Child(
            raw: ["passcode", "change", "--passcode-fd=3"].map { Array($0.utf8) },
            descriptors: [
                1: .output(trial.sandbox.path + "/said"), 2: .output(trial.sandbox.path + "/errors"),
                3: trial.sandbox.lines(trial.passcode, "another passcode"),
            ], environment: trial.environment)
        #expect(try trial.finish().versions == [2])
        let code = change.wait()
        let said = String(decoding: try trial.sandbox.bytes("errors"), as: UTF8.self)
        #expect(code == 0 || code == 5 && said.contains(MigrationTrial.named), "\(code) \(said)")
        #expect(try trial.next("read", secret: code == 0 ? "another passcode" : trial.passcode).code == 0)
        if TestRun.isCheck {
            #expect(try trial.next("read", secret: code == 0 ? trial.passcode : "another passcode").code == 3)
        }
    }

    @Test("a rekey that was killed is finished by the next version")
    func rekey() throws {
        let trial = try MigrationTrial()
        let header = try trial.sandbox.bytes("home/header")
        // Nobody writes records, so the new keys are there and nothing is under them.
        let database = unsafe open(trial.sandbox.home + "/vault.mdb", O_RDONLY | O_CLOEXEC)
        try #require(database >= 0 && flock(database, LOCK_EX) == 0)
        let words = trial.sandbox.path + "/words"
        let rekey = try Child(
            raw: ["passcode", "change", "--rekey", "--passcode-fd=3", "--phrase-out-fd=5"]
                .map { Array($0.utf8) },
            descriptors: [
                3: trial.sandbox.lines(trial.passcode, trial.passcode), 5: .output(words),
            ], environment: trial.environment)
        try wait { try trial.sandbox.bytes("home/header").suffix(8192) != header.suffix(8192) }
        kill(rekey.pid, SIGKILL)
        #expect(rekey.wait() == 1000 + SIGKILL)
        close(database)
        trial.phrase = try String(contentsOfFile: words, encoding: .utf8).trimmingCharacters(in: .newlines)
        let values = try trial.read().values
        #expect(values.count == 7)
        let end = try trial.finish()
        #expect(end.values == values && end.isIntact && end.versions == [2])
    }

    private func wait(until condition: () throws -> Bool) throws {
        var tries = 0
        while try !condition() {
            tries += 1
            try #require(tries < Int(Patience.seconds) * 100)
            usleep(10_000)
        }
    }

    @Test("files of a later version beside a header of version 1 open nothing, give no attempt and are kept")
    func strangeFiles() throws {
        let trial = try MigrationTrial()
        #expect(try trial.program("backup", trial.backup).code == 0)
        for (name, size) in [("ledger", 4096), ("log.state", 512), ("open.key", 128), ("open.pub", 160)] {
            let sandbox = try MigrationTrial().sandbox
            try MigrationTrial.rise("home/" + name, size, sandbox)
            let status = try sandbox.run("status", "--json")
            #expect(status.code == 0, "\(name) \(status.errors)")
            #expect(try status.json()["isPasscodeClosed"] as? Bool == false)
            if name == "ledger" {
                #expect(try status.json()["remainingAttempts"] as? Int == 1)
                #expect(try sandbox.run("get", "note", passcode: "not it").code == 4, "a delay runs")
            }
            if name == "open.key" {
                let open = try sandbox.run("put", "new", "--open", input: .file(sandbox.file("x".utf8)))
                #expect(open.code == 5 && open.errors.contains("newer version"), "\(open.errors)")
            }
            let note = try sandbox.run(
                "get", "note", "--phrase-fd=4", descriptors: [4: sandbox.lines(trial.phrase)])
            #expect(note.code == 0 && note.text == "sunflower\n", "\(name) \(note.errors)")
            if name == "open.key" { #expect(sandbox.exists("home/open.mdb.damaged"), "set aside") }
        }
    }
}

/// A copy of the fixtures' vault, the made-up program of the next version (Tests/MigrationTrial) and this one's.
final class MigrationTrial {
    static let python = "/usr/bin/python3"
    static let hasPython = {
        guard let sandbox = try? Sandbox() else { return false }
        let words = ["-c", "import cryptography, argon2, lmdb"].map { Array($0.utf8) }
        return (try? sandbox.run(python, raw: words).code) == 0
    }()
    private static let script = Program.root.appending(path: "Tests/MigrationTrial/version_2.py").path
    static let named = "the vault was written by a newer version of Holdfast (format version 2)"
    static let file = (0..<1_050_000).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 13) }

    let sandbox: Sandbox
    let passcode: String
    var phrase: String
    var backup: String { sandbox.path + "/backup" }

    struct Read: Decodable {
        let step: String?
        let values: [String: String]
        let versions: [Int]
        let version: Int
        let isIntact: Bool
        let entries: Int
    }

    init() throws {
        let release = try #require(FixtureTests.releases.first)
        sandbox = try FixtureTests.copied("vault", of: release)
        let expected = try FixtureTests.expected(release)
        (passcode, phrase) = (expected.passcode, expected.phrase)
        try FileManager.default.createDirectory(
            atPath: sandbox.path + "/runtime", withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
    }

    deinit { _ = try? program("lock", "--shut-down", isAlone: false) }

    var environment: [String: String] {
        [
            "HOLDFAST_HOME": sandbox.home, "HOME": sandbox.path, "TMPDIR": sandbox.path,
            "XDG_RUNTIME_DIR": sandbox.path + "/runtime",
        ]
    }

    /// Runs the program of the next version.
    /// - Parameter secret: A passcode; nil for the phrase.
    func next(
        _ words: String..., options: [String] = [], at home: String? = nil, secret: String? = nil, input: String = ""
    ) throws -> Sandbox.Result {
        let all = ["-B", MigrationTrial.script] + (secret == nil ? [] : ["--passcode"]) + options
        return try sandbox.run(
            MigrationTrial.python, raw: (all + [home ?? sandbox.home] + words).map { Array($0.utf8) },
            input: .file(sandbox.file(input.utf8)), descriptors: [3: sandbox.lines((secret ?? phrase) + "\n")],
            environment: environment)
    }

    /// Where a migration is killed within a step.
    static let points: [String?] = [
        "first copy", "log", "log.state", "record", "file", "old file", "open", "open.pub",
    ]

    /// - Parameters:
    ///   - what: One step, or the rest of them.
    ///   - isUpdating: Whether the backup is made, or brought up to date, before the header rises.
    func run(_ what: String, isUpdating: Bool = true, dyingAt point: String? = nil) throws -> Sandbox.Result {
        var options = isUpdating ? ["--backup", backup, "--program", Program.path] : ["--backup", backup]
        if let point { options += ["--die", point] }
        return try next(what, options: options)
    }

    /// What a run says after each of its steps.
    func steps(_ run: Sandbox.Result) throws -> [Read] {
        try run.text.split(separator: "\n").map { try JSONDecoder().decode(Read.self, from: Data($0.utf8)) }
    }

    /// Takes every step that is left.
    /// - Returns: What can be read then.
    func finish() throws -> Read {
        let run = try run("rest")
        try #require(run.code == 0, "\(run.errors)")
        return try #require(try steps(run).last)
    }

    func read(at home: String? = nil, byPasscode: Bool = false) throws -> Read {
        let result = try next("read", at: home, secret: byPasscode ? passcode : nil)
        try #require(result.code == 0, "\(result.errors)")
        return try JSONDecoder().decode(Read.self, from: Data(result.output))
    }

    /// Runs this version's program.
    /// - Parameter isAlone: Whether it gets the passcode, and needs no agent.
    func program(_ words: String..., isAlone: Bool = true, input: String? = nil) throws -> Sandbox.Result {
        try program(words, isAlone: isAlone, input: input)
    }

    func program(_ words: [String], isAlone: Bool = true, input: String? = nil) throws -> Sandbox.Result {
        let asks =
            isAlone && !MigrationTrial.asksNothing.contains(words[0]) && !words.contains("--open")
            && words.last != "show"
        return try sandbox.run(
            raw: words.map { Array($0.utf8) }, passcode: asks ? passcode : nil,
            input: input.map { .file(try sandbox.file($0.utf8)) } ?? .null, environment: environment)
    }

    private static let asksNothing = ["status", "backup", "restore", "lock", "self-destruct", "doctor"]

    /// All of the home, without LMDB's tables of readers and the identity's lock, which is empty.
    func contents() throws -> [String: Data?] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: sandbox.home)
            .filter { !$0.hasSuffix(".mdb-lock") && $0 != ".identity-lock" }
        return Dictionary(
            uniqueKeysWithValues: names.map { ($0, FileManager.default.contents(atPath: sandbox.home + "/" + $0)) })
    }

    private static let few = [["status"], ["get", "note"], ["put", "new"], ["put", "new", "--open"]]
    private static let rest = [
        ["verify"], ["backup", "elsewhere"], ["list"], ["rm", "note"], ["get", "open note", "--open"],
        ["verify", "--clean"], ["log"], ["log", "verify"],
        ["inbox", "list"], ["show", "logins/mail"], ["unlock"], ["wipe", "--yes"], ["passcode", "change"],
        ["enroll", "pin"], ["lock-policy", "show"], ["lock-policy", "set", "attemptLimit=4"],
        ["self-destruct", "status"], ["open-without-asking", "on"], ["hardware", "claim"],
        ["hardware", "leave", "--yes"], ["identity", "status"], ["trash", "list"], ["health"],
    ]

    /// This version's program names the version whatever it is asked, and nothing changes.
    func expectRefusals(all: Bool) throws {
        let before = try contents()
        for words in MigrationTrial.few + (all ? MigrationTrial.rest : []) {
            let refused = try program(words, input: "x")
            #expect(refused.code == 5 && refused.errors.contains(MigrationTrial.named), "\(words) \(refused.errors)")
        }
        let restored = try program("restore", backup)
        #expect(restored.code == 1 && restored.errors.contains("there is a vault at"), "\(restored.errors)")
        #expect(try contents() == before)
    }

    /// Gives each sector of a file another version, with a right checksum.
    static func rise(_ name: String, _ size: Int, _ sandbox: Sandbox) throws {
        let code = """
            import importlib.util, sys
            spec = importlib.util.spec_from_file_location("one", sys.argv[1])
            one = importlib.util.module_from_spec(spec); spec.loader.exec_module(one)
            data = bytearray(open(sys.argv[2], "rb").read()); size = int(sys.argv[3])
            for start in range(0, len(data) - size + 1, 4096 if len(data) > 4096 else size):
                sector = data[start:start + size]; sector[8] = 2
                data[start:start + size] = sector[:-32] + one.blake3(bytes(sector[:-32]))
            open(sys.argv[2], "wb").write(data)
            """
        let one = Program.root.appending(path: "scripts/holdfast_decrypt.py").path
        let result = try sandbox.run(
            python, raw: ["-B", "-c", code, one, sandbox.path + "/" + name, "\(size)"].map { Array($0.utf8) })
        try #require(result.code == 0, "\(result.errors)")
    }
}
