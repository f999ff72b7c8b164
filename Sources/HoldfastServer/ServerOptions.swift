internal import BetterAuthHTTP
internal import BetterAuthPostgres
internal import BetterAuthServer
internal import CommandLineArguments

/// Every option, once; commands list the ones they accept.
enum ServerOptions {
    // What every listening command has.
    static let listen = TextOption("listen", "HOST:PORT", help: "Listen at this address; port 0 picks a free port.")
    static let sharePort = Flag(
        "share-port", "Let other processes of this user listen at the same address, as during an upgrade.")
    static let connections = NumberOption(
        "connections", 1...1_000_000, default: front.connections, help: "Connections at one time")
    static let certificate = TextOption(
        "tls-certificate", "FILE", .file, help: "The certificate, a PEM file; requires --tls-key.")
    static let certificateKey = TextOption("tls-key", "FILE", .file, help: "Its private key, a PEM file.")
    static let trustedProxy = ListOption(
        "trusted-proxy", "BLOCK", help: "Believe X-Forwarded-For from these addresses (10.0.0.0/8); repeatable.")
    static let log = TextOption(
        "log", "LEVEL", .word(["error", "warning", "notice", "requests"]),
        help: "What to log, as JSON on standard error: error, warning, notice or requests (default: notice).")

    static let listening = [
        connections.option, certificate.option, certificateKey.option, trustedProxy.option, metricsFrom.option,
        log.option,
    ]

    static let config = TextOption(
        "config", "FILE", .file,
        help: "Take options from this file too: name = value, one on a line; see check-config.")

    // Where data and keys are.
    static let database = TextOption(
        "database", "WHERE",
        help: "A file for SQLite; postgres://...; or @FILE, whose first line says it.")
    static let redis = TextOption(
        "redis", "WHERE",
        help: "redis://[USER][:PASSWORD@]HOST[:PORT][/N], unix:PATH, or @FILE, whose first line says it.")
    static let redisLost = TextOption(
        "redis-lost", "WHAT", .word(RedisLoss.allCases.map(\.rawValue)),
        help: "When Redis has forgotten what it was told: warn and go on (default), or refuse sessions.")
    static let keysFile = TextOption(
        "keys-file", "FILE", .file, help: "The server's keys (default: beside the SQLite database).")
    static let keysIn = TextOption(
        "keys-in", "PLACE", .word(KeyPlace.allCases.map(\.rawValue)),
        help: "file: readable by the file's owner (default). tpm: sealed by this machine's TPM 2.0.")
    static let newKeys = Flag(
        "new-keys", "Serve with keys that the database does not know, and make them if there are none.")
    static let attributes = TextOption(
        "attributes", "FILE", .file, help: "One line of compact JSON that goes into each token.")

    // How long things live, in seconds.
    static let access = lifetime("access", lifetimes.access, "Lifetime of an access token")
    static let refresh = lifetime("refresh", lifetimes.refresh, "Lifetime of a session")
    static let rotateKeys = NumberOption(
        seconds: "rotate-keys-seconds", 0...31_536_000, default: 0, help: "Make new keys this often; 0 for never")
    static let publish = NumberOption(
        seconds: "publish-seconds", 0...Int(KeyCustody.longestPublication), default: 300,
        help: "How long a new key is published before it signs")

    // Limits.
    static let addressRate = RateOption(
        "address-rate",
        help: "Requests per second of one address, a fifth of them challenges and a fiftieth new accounts; 0 for no "
            + "limit (default: \(Int(AuthService.Rates.standard))).")
    static let metricsFrom = ListOption(
        "metrics-from", "BLOCK", help: "Let these addresses read /metrics, beside this machine; repeatable.")

    static let compromised = Flag(
        "compromised", "Use the new keys at once, and accept nothing that the old ones signed.")
    static let backupMade = Flag("backup-made", "There is a backup of the tables in PostgreSQL that are updated.")
    static let to = TextOption("to", "DIR", .folder, help: "The folder of the backup, which must not exist.")
    static let from = TextOption("from", "DIR", .folder, help: "The folder of the backup.")

    // Administration.
    static let adminSocket = TextOption(
        "admin-socket", "FILE", .file,
        help: "The socket at which serve answers accounts, for its own user and root only (default for accounts: "
            + "\(AdminServer.place)).")
    static let json = Flag("json", "Print one line of JSON.")
    static let clockWasAhead = Flag(
        "clock-was-ahead", "Of accounts that a clock which was ahead has marked: list only these; set the mark back.")

    // The audit log.
    static let auditLog = TextOption(
        "audit-log", "FILE", .file, help: "Add a line to this file for each operation on an account.")
    static let auditFull = TextOption(
        "audit-full", "WHAT", .word(AuditLog.Policy.allCases.map(\.rawValue)),
        help: "While it cannot be written: refuse operations (default), or warn and go on.")
    static let auditAddresses = Flag("audit-addresses", "Write the client's address into it too.")
    static let notedTag = ListOption(
        "noted-tag", "TAG", help: "A tag that was noted elsewhere, whose line must still be there; repeatable.")
    static let auditKey = Flag("audit-key", "Make a new key for the audit log only, and keep the others as they are.")
    static let identity = TextOption("identity", "IDENTITY", help: "Only lines about this identity.")

    // The key chain.
    static let hsm = TextOption("hsm", "URL", help: "The keeper of the key chain, http://HOST:PORT.")
    static let hsmToken = TextOption(
        "hsm-token-file", "FILE", .file, help: "The keeper's token for signing, in the first line.")
    static let keyService = TextOption(
        "key-service", "URL", help: "Where the endorsed keys are published, http://HOST:PORT.")
    static let trust = TextOption("trust", "ID", help: "The identity of the key chain.")
    static let folder = TextOption("folder", "DIR", .folder, help: "The folder of the key chain.")
    static let signToken = TextOption(
        "sign-token-file", "FILE", .file,
        help: "The token for signing: a file with mode 0600, at least 32 characters in the first line.")
    static let adminToken = TextOption(
        "admin-token-file", "FILE", .file, help: "Another token, for rotating and tainting, likewise.")

    // The example application.
    static let name = TextOption("name", "NAME", help: "The name in its replies.")
    static let keys = TextOption("keys", "URL", help: "The key service, http://HOST:PORT; requires --trust.")
    static let accessKey = ListOption("access-key", "KEY", help: "A key that signs tokens, instead; repeatable.")
    static let responseKeysFile = TextOption("response-keys-file", "FILE", .file, help: "Keep the response key here.")

    /// Seconds that anything may live.
    static let longestLifetime: Int64 = 31_536_000

    private static let front = HTTPSettings()
    private static let lifetimes = Lifetimes()

    private static func lifetime(_ name: String, _ fallback: Int64, _ help: String) -> NumberOption {
        NumberOption(seconds: "\(name)-seconds", 1...Int(longestLifetime), default: Int(fallback), help: help)
    }
}

extension ServerOptions {
    /// The titles under which help lists the options of `serve`. Each option of it but these few is under one of them:
    /// `--listen`, `--database`, `--config` and `--help`.
    static let groups: [(title: String, options: [Option])] = [
        (
            "Connections",
            [
                sharePort.option, connections.option, addressRate.option, certificate.option, certificateKey.option,
                trustedProxy.option,
            ]
        ),
        (
            "Data and keys",
            [
                redis.option, redisLost.option, keysFile.option, keysIn.option, newKeys.option, rotateKeys.option,
                publish.option, attributes.option,
            ]
        ),
        (
            "Lifetimes",
            [access.option, refresh.option]
        ),
        ("Key chain", [hsm.option, hsmToken.option, keyService.option]),
        (
            "Administration and logs",
            [
                adminSocket.option, auditLog.option, auditFull.option, auditAddresses.option, metricsFrom.option,
                log.option,
            ]
        ),
    ]
}
