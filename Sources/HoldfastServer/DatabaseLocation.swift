internal import BetterAuthServer
internal import CommandLineArguments

/// Where the accounts are, as `--database` says. What looks like something else is no file name: a mistyped URL must not
/// make a file.
enum DatabaseLocation: Sendable, Hashable {
    case memory
    case file(String)
    case postgres(String)

    init(_ text: String) throws(UsageError) {
        switch text {
        case ":memory:": self = .memory
        case "": throw UsageError("--database is empty")
        case _ where text.hasPrefix("postgres://") || text.hasPrefix("postgresql://"): self = .postgres(text)
        case _ where text.contains("://"):
            throw UsageError("--database takes a file, postgres://..., or :memory:, and no other URL")
        case _ where text.hasPrefix(":"):
            throw UsageError("--database takes a file, postgres://..., or :memory:; for a file write ./\(text)")
        case _ where DatabaseLocation.isKeywords(text):
            // It may hold a password, so it is not repeated.
            throw UsageError(
                "--database has keywords like host=...; write postgres://USER@HOST/NAME, or ./ in front of a file's name"
            )
        default: self = .file(text)
        }
    }

    /// libpq's other form: `host=… dbname=…`.
    private static func isKeywords(_ text: String) -> Bool {
        guard let sign = text.firstIndex(of: "=") else { return false }
        return text[..<sign].allSatisfy { $0.isLowercase || $0 == "_" || $0 == " " }
    }

    /// The file for a command that works on one.
    func file(for command: String) throws(UsageError) -> String {
        switch self {
        case .file(let path): return path
        case .memory: throw UsageError("\(command) is for a file; :memory: has none")
        case .postgres:
            throw UsageError(
                "\(command) is for a SQLite file; PostgreSQL checks and vacuums itself (see amcheck, VACUUM)")
        }
    }
}
