import BetterAuthMessages
import Foundation
import RealParts
import TestSupport
import Testing

/// Mistakes in options are all found before the first byte is written, each with the place where it stands.
@Suite struct JudgementTests {
    /// A line of a configuration, and what is said of it; `FOLDER` stands for the test's own.
    struct Row: CustomTestStringConvertible {
        let line: String
        /// Behind the file, the line and the name of the option.
        let said: String
        var status: Int32 = 2
        var testDescription: String { line }
    }

    private static let rows = [
        Row(line: "connection = 3", said: "there is no option connection; did you mean connections?"),
        Row(line: "connections = x", said: "must be a whole number from 1 to 1000000"),
        Row(line: "listen = 127.0.0.1:1", said: "it is repeated; remove one of the lines"),
        Row(line: "share-port = true", said: "must be yes or no"),
        Row(line: "new-keys = yes", said: "it is for the command line only"),
        Row(line: "log = loud", said: "must be one of: error, warning, notice, requests"),
        Row(
            line: "access-seconds = 0", said: "must be a time from 1s to 365d, such as 90s, 15min, 12h or 3d"),
        Row(
            line: "trusted-proxy = 10.0.0.0/33",
            said: "10.0.0.0/33 is not a block of addresses; write one such as 10.0.0.0/8"),
        Row(line: "metrics-from = all", said: "all is not a block of addresses; write one such as 10.0.0.0/8"),
        Row(
            line: "audit-log = /nonexistent/dir/a",
            said: "/nonexistent/dir: No such file or directory; make this folder, or name a file in another one"),
        Row(
            line: "audit-log = FOLDER/open",
            said: "FOLDER/open: it belongs to another user, or others may write it; name a file with --audit-log that "
                + "this user owns and nobody else may write"),
        Row(line: "audit-log = FOLDER/a.db", said: "FOLDER/a.db is what database names; name another file"),
        Row(line: "keys-file = FOLDER/./a.db", said: "FOLDER/./a.db is what database names; name another file"),
        Row(
            line: "admin-socket = /nonexistent/b",
            said: "/nonexistent: No such file or directory; make this folder, or name a file in another one"),
        Row(
            line: "admin-socket = FOLDER/text",
            said: "FOLDER/text exists and is not a socket; move it away, or name another"),
        Row(
            line: "admin-socket = FOLDER/\(String(repeating: "s", count: 100))",
            said: "the name is too long for a socket; name one in a folder with a shorter name"),
        Row(
            line: "keys-file = FOLDER/text",
            said: "FOLDER/text is no file of server keys; put a copy of the keys back, or name another file with "
                + "--keys-file"),
        Row(
            line: "keys-file = FOLDER/text/k",
            said: "FOLDER/text is no folder; name a file in another one"),
        Row(line: "tls-certificate = nope", said: "it also requires --tls-key"),
        Row(line: "redis = rediss://x", said: "has no TLS (rediss://): use a tunnel to the other machine"),
        Row(line: "redis = redis://:hunter2@here", said: "this URL contains a password, which every process can read"),
        Row(line: "keys-file = FOLDER/a.db-wal", said: "FOLDER/a.db-wal is what database names; name another file"),
        Row(line: "audit-log = FOLDER/a.db-journal", said: "FOLDER/a.db-journal is what database names"),
        Row(line: "admin-socket = FOLDER/a.db-shm", said: "FOLDER/a.db-shm is what database names"),
        Row(
            line: "admin-socket = FOLDER/taken",
            said: "FOLDER/taken.new exists and is not a socket; move it away, or name another"),
        Row(line: "attributes = FOLDER/te\0xt", said: "it has a zero byte"),
        Row(line: "redis = unix:/nowhere", said: "it is for PostgreSQL; with a SQLite file it does nothing"),
        Row(line: "redis-lost = refuse", said: "it does nothing without --redis"),
        Row(line: "audit-full = warn", said: "it does nothing without --audit-log"),
        Row(line: "audit-addresses = yes", said: "it does nothing without --audit-log"),
        Row(line: "rotate-keys-seconds = 600", said: "600: the file of keys has no room for so many"),
        Row(line: "attributes = FOLDER/text", said: "FOLDER/text is not one line of compact JSON"),
        Row(line: "attributes = /nowhere", said: "/nowhere: No such file or directory", status: 1),
        Row(line: "hsm = here", said: "it also requires --hsm-token-file and --key-service"),
        Row(line: "key-service = http://127.0.0.1:1", said: "it also requires --hsm and --hsm-token-file"),
    ]

    private let fixture: StoreFixture
    private var folder: String { fixture.folder }
    private var path: String { folder + "/server.conf" }

    init() throws {
        fixture = try StoreFixture(.memory)
        try "text\n".write(toFile: fixture.folder + "/text", atomically: true, encoding: .utf8)
        try "".write(toFile: fixture.folder + "/taken.new", atomically: true, encoding: .utf8)
        try "{}\n".write(toFile: fixture.folder + "/open", atomically: true, encoding: .utf8)
        unsafe chmod(fixture.folder + "/open", 0o666)
    }

    private func write(_ lines: [String]) throws {
        try (lines.joined(separator: "\n") + "\n").replacing("FOLDER", with: folder)
            .write(toFile: path, atomically: true, encoding: .utf8)
    }

    private func listing() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).filter { !$0.hasPrefix("result-") }.sorted()
    }

    /// What `check-config` says, after `serve` said the same and made nothing.
    private func judged(_ status: Int32, _ environment: [String] = []) throws -> [String] {
        let before = try listing()
        let checked = try runServerCommand(["check-config", path], folder, before: ["env"] + environment)
        let served = try runServerCommand(["serve", "--config", path], folder, before: ["env"] + environment)
        #expect(checked.status == status && served.status == status, "\(checked) \(served)")
        #expect(checked.output == served.output)
        #expect(try listing() == before)
        #expect(!checked.output.contains("hunter2"))
        return checked.output.split(separator: "\n").map(String.init)
    }

    private static let base = ["listen = 127.0.0.1:0", "database = FOLDER/a.db"]

    @Test(arguments: rows) func `a mistake is told with file, line and name, and serve makes nothing`(_ row: Row) throws
    {
        try write(Self.base + [row.line])
        let lines = try judged(row.status)
        let name = row.line.prefix { $0 != " " }
        let said = row.said.replacing("FOLDER", with: folder)
        let expected = "\(path):3: \(name): \(said)"
        #expect(lines.contains { $0.hasPrefix(expected) }, "\(lines)")
        #expect(lines.count == (row.line.hasPrefix("hsm = here") ? 2 : 1), "\(lines)")
    }

    /// Lines of files that were written elsewhere end otherwise.
    @Test func `a line that ends in a carriage return hides no other`() throws {
        try write(Self.base + ["# a comment\r", "connections = 0\r", "redis-lost = refuse\r"])
        let lines = try judged(2)
        #expect(lines.count == 2 && lines[0].hasPrefix("\(path):4: connections: "), "\(lines)")
        #expect(lines[1].hasPrefix("\(path):5: redis-lost: "), "\(lines)")
    }

    @Test func `another program's database, and one of a later version, are told before they are opened`() throws {
        let made = try runServerCommand(["init", "--database", folder + "/a.db"], folder)
        #expect(made.status == 0, "\(made.output)")
        let whole = try Data(contentsOf: URL(fileURLWithPath: folder + "/a.db"))
        for (place, byte, part) in [
            (68, 0x41, "is the database of another program"), (63, 0x63, "update the program"),
            (60, 0xFF, "is the database of another program"), (3, 0x20, "is no SQLite database"),
        ] as [(Int, UInt8, String)] {
            var changed = whole
            changed[place] = byte
            try changed.write(to: URL(fileURLWithPath: folder + "/b.db"))
            try write(["listen = 127.0.0.1:0", "database = FOLDER/b.db", "keys-file = FOLDER/a.db.keys"])
            let lines = try judged(2)
            #expect(lines.count == 1 && lines[0].contains(part), "\(lines)")
        }
        try write(["listen = 127.0.0.1:0", "database = FOLDER/a.db"])
        #expect(try runServerCommand(["check-config", path], folder).status == 0)
    }

    /// It may hold a password.
    @Test(arguments: ["postgres:/u:hunter2@h/x", "u:hunter2@h", "postgresql:u:hunter2"])
    func `what looks like a URL with a mistake makes no file, and is not repeated`(_ text: String) throws {
        try write(["listen = 127.0.0.1:0", "database = \(text)"])
        let lines = try judged(2)
        #expect(lines.count == 1 && lines[0].contains("like a URL without its beginning"), "\(lines)")
    }

    @Test func `the socket of a running server is no reason to make a database`() throws {
        let socket = folder + "/admin.sock"
        let server = try ServerProcess(
            ["serve", "--listen", "127.0.0.1:0", "--database", folder + "/a.db", "--admin-socket", socket],
            folder: folder)
        let before = try listing()
        let second = try runServerCommand(
            ["serve", "--listen", "127.0.0.1:0", "--database", folder + "/b.db", "--admin-socket", socket], folder)
        #expect(second.status == 1 && second.output.contains("another server"), "\(second.output)")
        #expect(try listing() == before)
        server.process.end(SIGTERM)
    }

    @Test func `many mistakes are found in one run, wherever they stand`() throws {
        try write([
            "listen = here", "database = mysql://x/y", "", "tls-key = FOLDER/none", "tls-certificate = FOLDER/none",
            "trusted-proxy = 10.0.0.0/8", "trusted-proxy = all", "nonsense", "connections = 0",
        ])
        let lines = try judged(2, ["HOLDFAST_SERVER_LOG=loud", "HOLDFAST_SERVER_METRICS_FROM=::1 x"])
        let expected = [
            "$HOLDFAST_SERVER_LOG: must be one of: error, warning, notice, requests",
            "\(path):8: nonsense: it has no value; write nonsense = ...",
            "\(path):9: connections: must be a whole number from 1 to 1000000",
            "\(path):1: listen: here is not an address to listen on; "
                + "write --listen 127.0.0.1:8080 or --listen '[::1]:8080'",
            "\(path):7: trusted-proxy: all is not a block of addresses; write one such as 10.0.0.0/8",
            "\(path):5: tls-certificate: \(folder)/none: No such file or directory",
            "\(path):4: tls-key: \(folder)/none: No such file or directory",
            "$HOLDFAST_SERVER_METRICS_FROM: x is not a block of addresses; write one such as 10.0.0.0/8",
            "\(path):2: database: takes a file or postgres://..., and no other URL",
        ]
        #expect(lines == expected)
    }

    @Test func `what is missing, and what the command line says, has a place too`() throws {
        try write(["log = error"])
        #expect(
            try judged(2) == [
                "\(path): listen: missing; write listen = HOST:PORT",
                "\(path): database: missing; write database = WHERE",
            ])
        let before = try listing()
        let served = try runServerCommand(
            [
                "serve", "--listen", "127.0.0.1:0", "--database", "postgres://x/y", "--trusted-proxy", "q",
                "--admin-socket", "/nonexistent/s",
            ], folder)
        #expect(served.status == 2)
        #expect(
            served.output.split(separator: "\n").map(String.init) == [
                "--trusted-proxy: q is not a block of addresses; write one such as 10.0.0.0/8",
                "--database: with PostgreSQL, --keys-file is required: all processes over one database share it",
                "--database: with PostgreSQL, --redis is required: it keeps what expires",
                "--admin-socket: /nonexistent: No such file or directory; make this folder, or name a file in another one",
            ])
        #expect(try listing() == before)
    }

    @Test func `a certificate and a key that are no pair, or no certificate, are told before anything is made`() throws
    {
        let (certificate, key) = (folder + "/certificate", folder + "/key")
        try makeCertificate(certificate, key)
        try makeCertificate(folder + "/other", folder + "/other-key")
        let pair = ["tls-certificate = FOLDER/certificate", "tls-key = FOLDER/other-key"]
        // A renewal may be under way: it may come by itself.
        try write(Self.base + pair)
        #expect(
            try judged(1) == [
                "\(path):3: tls-certificate: \(certificate) and \(folder)/other-key do not belong together; "
                    + "name a certificate and its key"
            ])
        try write(Self.base + ["tls-certificate = FOLDER/text", "tls-key = FOLDER/key"])
        #expect(
            try judged(1) == [
                "\(path):3: tls-certificate: \(folder)/text has no certificate in PEM form; write one into it"
            ])
    }

    @Test func `a folder that this user may not write to, and a file that is no database, are mistakes`() throws {
        try write(["listen = 127.0.0.1:0", "database = FOLDER/text"])
        #expect(
            try judged(2) == ["\(path):2: database: \(folder)/text is no SQLite database; name another file"])
        let place = folder + "/place"
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
        let words = Mounted.words("mount --bind \(place) \(place) && mount -o remount,ro,bind \(place)")
        try write(["listen = 127.0.0.1:0", "database = FOLDER/place/a.db"])
        let refused = try runServerCommand(["serve", "--config", path], folder, before: words)
        #expect(refused.status == 2, "\(refused.output)")
        #expect(
            refused.output.contains(
                "\(path):2: database: \(place): Read-only file system; give this user the right to make files there"))
    }

    @Test func `init and the other servers judge before they make anything`() throws {
        let before = try listing()
        for (arguments, status, lines) in [
            (
                ["init", "--database", folder + "/b.db", "--keys-file", folder + "/text"], 2,
                ["--keys-file: \(folder)/text is no file of server keys; put a copy"]
            ),
            (
                ["init", "--database", folder + "/none/b.db"], 2,
                ["--database: \(folder)/none: No such file"]
            ),
            (
                [
                    "app", "--listen", "here", "--access-key", "x", "--response-keys-file", folder + "/r", "--tls-key",
                    folder + "/text",
                ], 2,
                [
                    "--listen: here is not", "--tls-key: it also requires --tls-certificate",
                    "--access-key: x is not a public key",
                ]
            ),
            (
                ["keys", "--listen", "127.0.0.1:0", "--hsm", "x", "--trust", "y"], 2,
                ["--hsm: must be http://HOST:PORT", "--trust: must be the identity of a key chain"]
            ),
            (
                [
                    "hsm", "--listen", "here", "--folder", folder, "--sign-token-file", folder + "/open",
                    "--admin-token-file", folder + "/none",
                ], 2,
                [
                    "--listen: here is not", "--sign-token-file: \(folder)/open can be read by other users",
                    "--admin-token-file: \(folder)/none: No such file or directory",
                ]
            ),
        ] as [([String], Int32, [String])] {
            let result = try runServerCommand(arguments, folder)
            let said = result.output.split(separator: "\n").map(String.init)
            #expect(result.status == status && said.count == lines.count, "\(result.output)")
            for (one, expected) in zip(said, lines) { #expect(one.hasPrefix(expected), "\(one)") }
            #expect(try listing() == before, "\(arguments)")
        }
    }

    @Test func `a reload refuses with the same lines, and changes nothing`() throws {
        try write(Self.base)
        let server = try ServerProcess(["serve", "--config", path], folder: folder)
        let before = try listing()
        try write(Self.base + ["trusted-proxy = all", "audit-log = /nonexistent/dir/a", "address-rate = fast"])
        let checked = try runServerCommand(["check-config", path], folder)
        #expect(checked.status == 2)
        let lines = checked.output.split(separator: "\n")
        #expect(lines.count == 3)
        server.process.signal(SIGHUP)
        for line in lines { try server.waitForLog(#""event":"not reloaded","reason":"\#(line)""#) }
        #expect(try HTTPClient(server.address).get("/health").status == 200)
        #expect(try listing() == before)
        // Its database is whole still: nothing was closed that it has open.
        let hash = RecoveryHash(try freshDigest())
        let reply = try HTTPClient(server.address).post(
            "/account/create", TestDevice(recovery: hash).creation(hash).bytes)
        #expect(reply.status == 200)
        try write(Self.base)
        server.process.signal(SIGHUP)
        try server.waitForLog(#""event":"reloaded""#)
    }
}
