import Foundation
import RealParts
import TestSupport
import Testing

/// The units of Docs under systemd itself: it starts the service for the socket, confined as they say, and gives its
/// units what comes over it.
@Suite(
    .enabled(if: UserManager.isAllowed, "systemd cannot be run here: no unit of it has loaded a credential"))
struct CredentialUnitTests {
    private let sandbox: AgentSandbox
    private let units: String

    init() throws {
        sandbox = try AgentSandbox()
        units = sandbox.path + "/units"
        try FileManager.default.createDirectory(atPath: units, withIntermediateDirectories: false)
    }

    /// A unit of Docs, with the program and the places of this test.
    private func unit(_ name: String, _ more: String = "") throws {
        var text = try String(contentsOfFile: "Docs/\(name)", encoding: .utf8)
        text = text.replacing("/usr/local/bin/holdfast", with: Program.path)
            .replacing("/var/lib/holdfast", with: sandbox.path + "/device")
        try (text + more).write(toFile: "\(units)/\(name)", atomically: true, encoding: .utf8)
    }

    /// A service that appends what it gets to a file.
    private func service(_ name: String, _ socket: String) throws {
        try """
        [Service]
        Type=oneshot
        LoadCredential=db:\(socket)
        ExecStart=/bin/sh -c 'cat %d/db >> \(sandbox.path)/\(name).out'

        """.write(toFile: "\(units)/\(name).service", atomically: true, encoding: .utf8)
    }

    private func run(_ script: String) throws -> Sandbox.Result {
        let file = try sandbox.file(
            ("""
            cd "$HOME"
            start() { systemctl --user start "$1" > /dev/null 2>&1 || true; }
            status() { systemctl --user show -P ExecMainStatus "$1"; }

            """ + script).utf8)
        let words = try UserManager.words(file, units: units)
        return try sandbox.sandbox.run(
            "/bin/bash", raw: words.dropFirst().map { Array($0.utf8) },
            environment: sandbox.variables.merging(["HOLDFAST": Program.path]) { $1 })
    }

    @Test func `a unit of the user's gets its secret from the unlocked agent, and does not start without it`() throws {
        try unit("holdfast-agent-credentials.socket")
        try unit(
            "holdfast-agent-credentials.service",
            "\n[Service]\nEnvironment=HOLDFAST_HOME=\(sandbox.home)\nStandardError=append:\(sandbox.path)/journal\n")
        try service("web", "%t/holdfast/credentials.sock")
        try service("other", "%t/holdfast/credentials.sock")
        let passcode = try sandbox.file((Prepared.passcode + "\n").utf8)
        let result = try run(
            """
            "$HOLDFAST" unlock --passcode-fd 5 > /dev/null 5< '\(passcode)'
            echo s3cret | "$HOLDFAST" put credentials/web.service/db
            start holdfast-agent-credentials.socket
            stat -c %a "$XDG_RUNTIME_DIR/holdfast" "$XDG_RUNTIME_DIR/holdfast/credentials.sock"
            start web.service; status web.service; cat web.out
            start other.service; status other.service
            "$HOLDFAST" lock > /dev/null
            start web.service; status web.service; cat web.out; ls other.out 2>&1
            "$HOLDFAST" lock --shut-down > /dev/null
            """)
        // 243 is systemd's code of credentials that it could not load.
        #expect(
            result.text == """
                700
                600
                0
                s3cret
                243
                243
                s3cret
                ls: cannot access 'other.out': No such file or directory

                """, "\(result.text) \(result.errors)")
        let journal = try String(decoding: sandbox.bytes("journal"), as: UTF8.self)
        #expect(journal.contains("gave web.service its credential db"), "\(journal)")
        #expect(journal.contains("the vault is locked") && !journal.contains("s3cret"), "\(journal)")
    }

    @Test func `a unit of the system's gets its secret from a vault that opens without asking`() throws {
        try unit("holdfast-credentials.socket")
        // The software TPM of other tests has no group, and this machine may have none either.
        try unit(
            "holdfast-credentials.service",
            "\n[Service]\nSupplementaryGroups=\nStandardError=append:\(sandbox.path)/journal\n")
        try service("web", "/run/holdfast/credentials.sock")
        let result = try run(
            """
            "$HOLDFAST" init --device --file --home device 2> /dev/null
            echo s3cret | "$HOLDFAST" put credentials/web.service/db --home device
            start holdfast-credentials.socket
            start web.service; status web.service; cat web.out
            "$HOLDFAST" rm --yes credentials/web.service/db --home device
            start web.service; status web.service
            """)
        #expect(result.text == "0\ns3cret\n243\n", "\(result.text) \(result.errors)")
    }
}
