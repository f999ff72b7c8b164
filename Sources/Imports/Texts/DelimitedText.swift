internal import SecretMemory
internal import VaultFormat

/// A table of comma-separated values (RFC 4180) in locked memory: cells in quotes may have line breaks and doubled
/// quotes.
///
/// Lines of nothing but blanks are no rows. What is wrong with one row is a fault of that row (``faults``): another
/// number of cells than the first row has, a quote inside of a cell that has none around it, something behind a closing
/// quote. The next row begins at the next line then. What is wrong with the file is thrown: it is not UTF-8, its first
/// row is faulty, a quoted cell does not end.
struct DelimitedText: ~Copyable {
    private let bytes: SecretBytes
    /// The cells of each row, the first one included.
    private(set) var rows: [[Cell]] = []

    struct Cell {
        let range: Range<Int>
        let hasDoubledQuotes: Bool
    }

    /// Lines on which the rows begin.
    private(set) var lines: [Int] = []

    /// What is wrong with rows that cannot be read, by their indices.
    private(set) var faults: [Int: String] = [:]

    /// - Throws: ``ImportError`` with the line.
    init(_ bytes: consuming SecretBytes) throws(ImportError) {
        var reader = CellReader()
        try bytes.withBytes { bytes throws(ImportError) in try reader.read(bytes) }
        rows = reader.rows
        lines = reader.lines
        faults = reader.faults
        self.bytes = bytes
    }

    /// The value of a cell.
    borrowing func value(_ cell: Cell) throws(ImportError) -> SecretBytes {
        try bytes.withBytes { bytes throws(ImportError) in
            try memory { () throws(SecretMemoryError) in
                guard cell.hasDoubledQuotes else { return try SecretBytes(copying: bytes.extracting(cell.range)) }
                var value = SecretBuffer()
                var offset = cell.range.lowerBound
                while offset < cell.range.upperBound {
                    try value.append(bytes[offset])
                    offset += bytes[offset] == UInt8(ascii: "\"") ? 2 : 1
                }
                return try value.bytes()
            }
        }
    }

    /// Lends the value of a cell: where nothing in it is doubled it is there already.
    borrowing func withValue(_ cell: Cell, _ body: (RawSpan) throws(ImportError) -> Void) throws(ImportError) {
        guard cell.hasDoubledQuotes else {
            return try bytes.withBytes { bytes throws(ImportError) in try body(bytes.extracting(cell.range)) }
        }
        try value(cell).withBytes(body)
    }

    /// As ``value(_:)``, for what is no secret.
    borrowing func text(_ cell: Cell) throws(ImportError) -> String { try value(cell).openText() }
}

private struct CellReader {
    var rows: [[DelimitedText.Cell]] = []
    var lines: [Int] = []
    var faults: [Int: String] = [:]
    private var line = 1
    private var budget = ImportBudget()

    private static let rowSize =
        ImportBudget.array + ImportBudget.element([DelimitedText.Cell].self) + ImportBudget.element(Int.self)
    private static let cellSize = ImportBudget.element(DelimitedText.Cell.self)
    private static let faultSize = ImportBudget.element((Int, String).self) + ImportBudget.text(80)

    mutating func read(_ bytes: RawSpan) throws(ImportError) {
        guard bytes.byteCount <= ImportLimits.file else { throw ImportError(.tooLarge, "", "the file is too long") }
        guard bytes.isUTF8 else { throw ImportError(.malformed, "", "the file is not UTF-8") }
        let isMarked = bytes.byteCount >= 3 && bytes[0] == 0xEF && bytes[1] == 0xBB && bytes[2] == 0xBF
        var position = isMarked ? 3 : 0
        while position < bytes.byteCount {
            if skipBlankLine(bytes, &position) { continue }
            try budget.charge(bytes: CellReader.rowSize, line: line)
            lines.append(line)
            var row: [DelimitedText.Cell] = []
            var fault: String?
            while fault == nil {
                try budget.charge(bytes: CellReader.cellSize, line: line)
                row.append(try cell(bytes, &position, &fault))
                guard fault == nil, position < bytes.byteCount, bytes[position] == UInt8(ascii: ",") else { break }
                position += 1
            }
            endLine(bytes, &position, &fault)
            if fault == nil, let first = rows.first, first.count != row.count {
                fault = "a row has \(row.count) cells where the first one has \(first.count)"
            }
            if let fault {
                guard !rows.isEmpty else { throw .malformed("line \(lines[0])", fault) }
                try budget.charge(bytes: CellReader.faultSize, line: line)
                faults[rows.count] = fault
            }
            rows.append(row)
        }
        guard !rows.isEmpty else { throw ImportError(.malformed, "", "the file is empty") }
    }

    /// Whether there was a line of nothing but blanks.
    private mutating func skipBlankLine(_ bytes: RawSpan, _ position: inout Int) -> Bool {
        var end = position
        while end < bytes.byteCount, [9, 13, 32].contains(bytes[end]) { end += 1 }
        guard end == bytes.byteCount || bytes[end] == 10 else { return false }
        position = min(end + 1, bytes.byteCount)
        line += 1
        return true
    }

    private mutating func cell(
        _ bytes: RawSpan, _ position: inout Int, _ fault: inout String?
    ) throws(ImportError) -> DelimitedText.Cell {
        guard position < bytes.byteCount, bytes[position] == UInt8(ascii: "\"") else {
            let start = position
            while position < bytes.byteCount {
                let byte = bytes[position]
                if byte == UInt8(ascii: ",") || byte == 10 || byte == 13 { break }
                if byte == UInt8(ascii: "\"") {
                    fault = "a quote is inside of a cell that has none around it"
                    break
                }
                position += 1
            }
            return DelimitedText.Cell(range: start..<position, hasDoubledQuotes: false)
        }
        position += 1
        let start = position
        var hasDoubled = false
        while position < bytes.byteCount {
            if bytes[position] == 10 { line += 1 }
            guard bytes[position] == UInt8(ascii: "\"") else {
                position += 1
                continue
            }
            guard position + 1 < bytes.byteCount, bytes[position + 1] == UInt8(ascii: "\"") else {
                position += 1
                return DelimitedText.Cell(range: start..<position - 1, hasDoubledQuotes: hasDoubled)
            }
            hasDoubled = true
            position += 2
        }
        throw .malformed("line \(lines[lines.count - 1])", "a quoted cell does not end")
    }

    /// Goes to the next line; what is left of this one is a fault.
    private mutating func endLine(_ bytes: RawSpan, _ position: inout Int, _ fault: inout String?) {
        let start = position
        while position < bytes.byteCount, bytes[position] != 10 { position += 1 }
        let isEnd = position == start || position == start + 1 && bytes[start] == 13
        if !isEnd, fault == nil { fault = "something stands behind a closing quote, or a line break is not one" }
        guard position < bytes.byteCount else { return }
        position += 1
        line += 1
    }
}
