internal import BetterAuthServer
internal import CommandLineArguments

/// Where the accounts are, as `--database` says. What looks like something else is no file name: a mistyped URL must
/// not make a file.
enum DatabaseLocation: Sendable {
    case file(String)
    /// Its URL may have a password.
    case postgres(SecretText)

    /// Whether several processes can have it at one time.
    var isShared: Bool { if case .postgres = self { true } else { false } }

    init(_ text: SecretText) throws(UsageError) {
        guard !text.hasPrefix("postgres://"), !text.hasPrefix("postgresql://") else {
            self = .postgres(text)
            return
        }
        self = try DatabaseLocation(named: text.withArray { String(decoding: $0, as: UTF8.self) })
    }

    private init(named text: String) throws(UsageError) {
        switch text {
        case "": throw UsageError("--database is empty")
        case _ where text.contains("://"):
            throw UsageError("--database takes a file or postgres://..., and no other URL")
        case _ where text.hasPrefix("postgres") && text.contains(":") || text.contains(/:.*@/):
            // Likewise.
            throw UsageError(
                "--database looks like a URL without its beginning; write postgres://USER@HOST/NAME, or ./ in front of a "
                    + "file's name")
        case _ where text.hasPrefix("file:"):
            throw UsageError("--database takes the name of a file, and no URI; for this name write ./\(text)")
        case _ where text.hasPrefix(":"):
            throw UsageError("--database takes a file or postgres://...; for a file of this name write ./\(text)")
        case _ where DatabaseLocation.isKeywords(text):
            // It may hold a password, so it is not repeated.
            throw UsageError(
                "--database has keywords like host=...; write postgres://USER@HOST/NAME, or ./ in front of a file's name"
            )
        default: self = .file(text)
        }
    }

    /// The names of a SQLite database at a path: SQLite makes the others beside it.
    static func names(_ path: String) -> [String] { ["", "-wal", "-shm", "-journal"].map { path + $0 } }

    /// libpq's other form: `host=… dbname=…`.
    private static func isKeywords(_ text: String) -> Bool {
        guard let sign = text.firstIndex(of: "=") else { return false }
        return text[..<sign].allSatisfy { $0.isLowercase || $0 == "_" || $0 == " " }
    }

    /// The file for a command that works on one.
    func file(for command: String) throws(UsageError) -> String {
        switch self {
        case .file(let path): return path
        case .postgres:
            let instead =
                switch command {
                case "backup": "pg_dump copies PostgreSQL; copy the file of keys with it"
                case "restore": "pg_restore puts a copy of PostgreSQL back; put the file of keys back with it"
                case "init": "migrate makes the tables in PostgreSQL, and the first serve the keys"
                default: "PostgreSQL checks and vacuums itself (see amcheck, VACUUM)"
                }
            throw UsageError("\(command) is for a SQLite file; \(instead)")
        }
    }
}
