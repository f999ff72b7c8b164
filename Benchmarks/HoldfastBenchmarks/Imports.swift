import CRawLoops
import Imports
import Items
import SecretMemory
import VaultCore
import VaultFormat
import VaultStorage

/// A table of 10,000 logins read, compared with an empty vault and stored, against writing the same items: key
/// derivation has no part in either.
struct Imports: Suite {
    static let figures = ["import", "import-again"]

    private static let count = 10_000

    static func measure(_ bench: Bench) throws -> [Figure] {
        let table = try SecretBytes(utf8: text())
        func vault(_ name: String) throws -> ItemStore {
            ItemStore(try BenchmarkVault.create(at: bench.scratch.file(name)))
        }
        let again = try vault("again")
        try store(table, again)
        var parts = (read: 0.0, plan: 0.0, store: 0.0)
        let rounds = try Rounds(
            bench.options.count(7, quick: 3),
            [
                { round in
                    let written = try vault("written-\(round)")
                    return try time { try write(written) }
                },
                { round in
                    let imported = try vault("imported-\(round)")
                    return try time { parts = try store(table, imported) }
                },
                { _ in try time { try store(table, again) } },
            ])
        return [
            Figure(
                name: "import", value: rounds.ratio(1, to: 0), unit: "x",
                absolute: .init(rounds.median(1) / 1e6, "ms"), bound: .atMost(2),
                detail: "10,000 rows of a table read, compared and stored; writing the same items takes "
                    + "\(number(rounds.median(0) / 1e6)) ms. Reading \(number(parts.read / 1e6)) ms, comparing "
                    + "\(number(parts.plan / 1e6)) ms, storing \(number(parts.store / 1e6)) ms"),
            Figure(
                name: "import-again", value: rounds.ratio(2, to: 0), unit: "x",
                absolute: .init(rounds.median(2) / 1e6, "ms"), bound: .atMost(4),
                detail: "the same table once more: each row is compared with what the vault has, and nothing is stored"),
        ]
    }

    /// What an import does after the vault was opened.
    @discardableResult
    private static func store(
        _ table: borrowing SecretBytes, _ items: ItemStore
    ) throws -> (read: Double, plan: Double, store: Double) {
        let start = nanoseconds()
        let imported = try ImportFormat.csv.read(table.copy(), password: nil, keyFile: nil)
        let read = nanoseconds()
        let plan = try ImportPlan(imported, into: items)
        let planned = nanoseconds()
        try plan.store(in: items)
        return (read - start, planned - read, nanoseconds() - planned)
    }

    private static func text() -> String {
        "name,url,username,password,note\n"
            + (0..<count).map { row in
                "\(Records.name(row)),https://login.example.org/accounts/\(row),ada.lovelace.\(row)@example.org,"
                    + "correct horse battery \(row),\n"
            }.joined()
    }

    /// What an app does that has the same items: it makes them, and writes them as one transaction.
    private static func write(_ items: ItemStore) throws {
        try items.write { session throws(VaultError) in
            for row in 0..<count {
                var item = try Item(.login)
                try add(.url, "website", "https://login.example.org/accounts/\(row)", to: &item)
                try add(.text, "username", "ada.lovelace.\(row)@example.org", to: &item)
                try add(.secret, "password", "correct horse battery \(row)", to: &item)
                try item.withBytes { bytes throws(VaultError) in
                    try session.put(item: bytes, for: Records.name(row), in: Vault.defaultCollection, replacing: false)
                }
            }
        }
    }

    private static func add(
        _ kind: FieldKind, _ label: String, _ value: String, to item: inout Item
    ) throws(VaultError) {
        let secret: SecretBytes
        do throws(SecretMemoryError) { secret = try SecretBytes(utf8: value) } catch { throw VaultError(any: error) }
        try item.add(kind, label, secret)
    }
}
