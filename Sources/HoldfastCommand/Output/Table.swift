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

    /// The table for a terminal of so many columns: the widest cells of the columns that are named are cut, to 12
    /// characters at least, until the lines fit.
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

    var text: String { text(wrappedTo: nil) }

    /// The last column is not padded, so that no line ends in spaces.
    /// - Parameter columns: Of the terminal, where the last column is a sentence that continues below itself; nil for
    ///   one line a row.
    func text(wrappedTo columns: Int?) -> String {
        let widths = (rows.first ?? []).indices.map(width)
        let indent = widths.dropLast().reduce(0) { $0 + $1 + 2 }
        return rows.map { row in
            row.indices.map { column in
                let padding = String(repeating: " ", count: widths[column] - Escaping.width(row[column]))
                if rightAligned.contains(column) { return padding + row[column] }
                guard column == row.count - 1 else { return row[column] + padding }
                return columns.map { Table.below(row[column], $0, indent) } ?? row[column]
            }.joined(separator: "  ") + "\n"
        }.joined()
    }

    /// A sentence that begins behind `indent` columns and continues below itself.
    fileprivate static func below(_ sentence: String, _ columns: Int, _ indent: Int) -> String {
        // On a terminal where that is too narrow to read, the terminal breaks the lines.
        guard columns - indent > narrowest else { return sentence }
        let lines = Escaping.wrapped(sentence, to: columns - indent).split(separator: "\n")
        return lines.joined(separator: "\n" + String(repeating: " ", count: indent))
    }
}

/// Facts below each other: a label and what it says.
enum Facts {
    /// - Parameter columns: As of ``Table/text(wrappedTo:)``.
    static func text(_ facts: [(String, String)], wrappedTo columns: Int? = nil) -> String {
        let width = facts.map { Escaping.width($0.0) }.max() ?? 0
        return facts.map { label, value in
            let said = columns.map { Table.below(value, $0, width + 2) } ?? value
            return label + String(repeating: " ", count: width - Escaping.width(label) + 2) + said + "\n"
        }.joined()
    }
}
