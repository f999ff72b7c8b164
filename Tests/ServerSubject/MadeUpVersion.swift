package import BetterAuthPostgres
package import BetterAuthServer

// A version after this program's, made up to try what a release may have to do with the databases of the one before
// (Docs/architecture.md 7). This program reads accounts in its tables too.

/// Ranges of identities that are changed one after the other.
private let ranges = (0..<16).map { part in
    let (first, last) = (String(part, radix: 16) + "0", String(part + 1, radix: 16) + "0")
    return (first: first, last: part == 15 ? nil : last)
}

extension SQLiteSchema {
    /// Every account is written anew, into a table of another form, and another table is added.
    package static let madeUp = current.adding(
        """
        CREATE TABLE sizes (identity BLOB PRIMARY KEY, size INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        CREATE TABLE next (
            identity BLOB PRIMARY KEY CHECK (length(identity) > 0), row BLOB NOT NULL) STRICT, WITHOUT ROWID;
        """
            + ranges.map { range in
                let limit = range.last.map { " AND identity < x'\($0)'" } ?? ""
                let rows = "FROM accounts WHERE identity >= x'\(range.first)'\(limit)"
                return """
                    INSERT INTO next SELECT identity, row \(rows);
                    INSERT INTO sizes SELECT identity, length(row) \(rows);

                    """
            }.joined()
            + "DROP TABLE accounts; ALTER TABLE next RENAME TO accounts;")
}

extension PostgresSchema {
    /// Every account gets its size, a range of them at a time, and another table is added.
    package static let madeUp = current.adding(
        [
            "ALTER TABLE holdfast_accounts ADD COLUMN IF NOT EXISTS size integer",
            "CREATE TABLE IF NOT EXISTS holdfast_sizes (identity bytea PRIMARY KEY, size integer NOT NULL)",
        ]
            + ranges.map { range in
                let limit = range.last.map { " AND identity < '\\x\($0)'" } ?? ""
                return """
                    UPDATE holdfast_accounts SET size = length(contents), version = version + 1
                    WHERE identity >= '\\x\(range.first)'\(limit) AND size IS NULL
                    """
            })
}
