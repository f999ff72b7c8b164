/// The codes of PostgreSQL's appendix A that an operator meets, in words.
enum PostgresCodes {
    private static let words = [
        "23505": "another process did the same at the same moment",
        "25006": "the database is read-only: a standby, or a primary that was demoted",
        "28000": "this user may not connect from here (pg_hba.conf)",
        "28P01": "the password is wrong",
        "3D000": "there is no such database",
        "40001": "too many conflicts",
        "40P01": "too many conflicts",
        "42501": "the user may not do this: it needs SELECT, INSERT, UPDATE and DELETE on the tables of Holdfast",
        "42710": "another process did the same at the same moment",
        "42P01": "the tables are missing",
        "42P07": "another process did the same at the same moment",
        "53100": "its disk is full",
        "53200": "it is out of memory",
        "53300": "it has too many connections (max_connections)",
        "57014": "a statement took too long",
        "57P01": "it is being stopped",
        "57P02": "it is restarting after a crash",
        "57P03": "it is starting",
        "58030": "its disk fails",
    ]

    /// By the class, the first two characters.
    private static let classes = [
        "08": "the connection is lost", "53": "it has too few resources", "57": "an operator intervened",
        "58": "its system fails", "XX": "it found a fault of its own: its log says more",
    ]

    /// What a code means, with the code.
    static func words(_ code: String) -> String {
        (words[code] ?? classes[String(code.prefix(2))] ?? "a statement failed") + " (\(code))"
    }

    /// Why there is no connection. libpq has no codes for that, and its text may name the user: only what is recognised
    /// is repeated, in words of ours.
    static func connection(_ message: String) -> String {
        let known = [
            ("Connection refused", "nothing listens there"),
            ("No such file or directory", "its socket is not there"),
            ("could not translate host name", "its host name is unknown"),
            ("timeout expired", "it does not answer in time"),
            ("timed out", "it does not answer in time"),
            ("No route to host", "there is no route to it"),
            ("Network is unreachable", "there is no route to it"),
            ("password authentication failed", words("28P01")),
            ("no password supplied", "it wants a password"),
            ("no pg_hba.conf entry", words("28000")),
            ("Peer authentication failed", words("28000")),
            ("too many clients", words("53300")),
            ("remaining connection slots", words("53300")),
            ("starting up", words("57P03")),
            ("shutting down", words("57P01")),
            ("recovery mode", words("57P02")),
            ("role \"", "there is no such user"),
            ("database \"", words("3D000")),
            ("certificate", "its certificate is not trusted"),
            ("SSL", "TLS with it fails"),
            ("invalid", "the URL cannot be used"), ("missing", "the URL cannot be used"),
        ]
        guard let found = known.first(where: { message.contains($0.0) }) else {
            return "PostgreSQL cannot be reached"
        }
        return "PostgreSQL cannot be reached: \(found.1)"
    }
}
