/// Columns of text, aligned for a terminal.
struct Table {
    private var rows: [[String]] = []
    /// Columns that are aligned at their right side.
    private let rightAligned: Set<Int>

    init(_ titles: [String], rightAligned: Set<Int> = []) {
        rows = [titles]
        self.rightAligned = rightAligned
    }

    mutating func append(_ cells: [String]) { rows.append(cells) }

    /// The table for a terminal of so many columns: the widest cells of the columns that are named are cut, to 12 characters
    /// at least, until the lines fit.
    mutating func fit(_ columns: Int, cutting names: [Int]) {
        while let widest = names.max(by: { width($0) < width($1) }), total > columns, width(widest) > Table.narrowest {
            let limit = max(Table.narrowest, width(widest) - (total - columns))
            for row in rows.indices { rows[row][widest] = Escaping.cut(rows[row][widest], to: limit) }
        }
    }

    private static let narrowest = 12

    private func width(_ column: Int) -> Int { rows.map { Escaping.width($0[column]) }.max() ?? 0 }

    private var total: Int {
        let columns = (rows.first ?? []).indices
        return columns.reduce(0) { $0 + width($1) } + 2 * max(0, columns.count - 1)
    }

    /// The last column is not padded, so that no line ends in spaces.
    var text: String {
        let widths = (rows.first ?? []).indices.map(width)
        return rows.map { row in
            row.indices.map { column in
                let padding = String(repeating: " ", count: widths[column] - Escaping.width(row[column]))
                if rightAligned.contains(column) { return padding + row[column] }
                return column == row.count - 1 ? row[column] : row[column] + padding
            }.joined(separator: "  ") + "\n"
        }.joined()
    }
}

/// Facts below each other: a label and what it says.
enum Facts {
    static func text(_ facts: [(String, String)]) -> String {
        let width = facts.map { Escaping.width($0.0) }.max() ?? 0
        return facts.map { label, value in
            label + String(repeating: " ", count: width - Escaping.width(label) + 2) + value + "\n"
        }.joined()
    }
}
