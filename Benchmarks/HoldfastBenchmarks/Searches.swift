import CRawLoops
import Items
import SecretMemory
import VaultCore
import VaultFormat
import VaultStorage

/// A search through 10,000 items: the first, which builds the index, and the next ones.
struct Searches: Suite {
    static let figures = ["search-items", "search-first"]

    private static let count = 10_000

    static func measure(_ bench: Bench) throws -> [Figure] {
        let vault = try BenchmarkVault.create(at: bench.scratch.file("searches"))
        try fill(vault)
        let query = ItemQuery("example ada 4711")
        let warm = ItemStore(vault)
        let text = haystack()
        let words = Array("example\0ada\0004711\0\0".utf8CString)
        let rounds = try Rounds(
            bench.options.count(31, quick: 11),
            [
                { _ in try time { keep(UInt64(try warm.search(query).count)) } },
                { _ in
                    let cold = ItemStore(vault)
                    return try time { keep(UInt64(try cold.search(query).count)) }
                },
                { _ in try time { keep(UInt64(try vault.records().count)) } },
                { _ in time { keep(unsafe raw_find(text, text.count, words)) } },
            ])
        return [
            Figure(
                name: "search-items", value: rounds.ratio(0, to: 3), unit: "x",
                absolute: .init(rounds.median(0) / 1e6, "ms"), bound: .atMost(2),
                detail: "names, tags and open fields of 10,000 items for three words; memmem over the same text takes "
                    + "\(number(rounds.median(3) / 1e6)) ms"),
            Figure(
                name: "search-first", value: rounds.ratio(1, to: 2), unit: "x",
                absolute: .init(rounds.median(1) / 1e6, "ms"), bound: .atMost(6),
                detail: "with building the index; a list of all records takes "
                    + "\(number(rounds.median(2) / 1e6)) ms"),
        ]
    }

    /// What is searched, as one text.
    private static func haystack() -> [CChar] {
        let lines = (0..<count).map { index in
            "\(Records.name(index))\nada.lovelace.\(index)@example.org\nhttps://login.example.org/accounts/\(index)\nwork\n"
        }
        return Array(lines.joined().utf8CString.dropLast())
    }

    private static func fill(_ vault: Vault) throws {
        for start in stride(from: 0, to: count, by: 1000) {
            try vault.write { session in
                for index in start..<start + 1000 {
                    var item = try Item(.login)
                    try add(.text, "username", "ada.lovelace.\(index)@example.org", to: &item)
                    try add(.url, "website", "https://login.example.org/accounts/\(index)", to: &item)
                    try add(.secret, "password", "correct horse battery staple", to: &item)
                    try item.addTag(index % 2 == 0 ? "work" : "home")
                    try item.withBytes { bytes throws(VaultError) in
                        try session.put(
                            item: bytes, for: Records.name(index), in: Vault.defaultCollection, replacing: false)
                    }
                }
            }
        }
    }

    private static func add(_ kind: FieldKind, _ label: String, _ value: String, to item: inout Item) throws {
        try item.add(kind, label, try SecretBytes(utf8: value))
    }
}
