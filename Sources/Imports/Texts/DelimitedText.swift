internal import SecretMemory
internal import VaultFormat

/// A table of separated values (RFC 4180) in locked memory: cells in quotes may have line breaks and doubled quotes.
///
/// It is UTF-8, or UTF-16 with a byte order mark. Commas, semicolons or tabs are between its cells: the first of these
/// whose columns the caller knows. Lines of nothing but blanks are no rows.
///
/// What is wrong with one row is a fault of that row (``faults``): another number of cells than the first row has, a
/// quote inside of a cell that has none around it, something behind a closing quote, a quoted cell that does not end,
/// bytes that are no text. What is wrong with the file is thrown: its first row is faulty.
struct DelimitedText: ~Copyable {
    private let bytes: SecretBytes
    /// The cells of each row, the first one included.
    let rows: [[Cell]]

    struct Cell {
        let range: Range<Int>
        let hasDoubledQuotes: Bool
    }

    /// Lines on which the rows begin.
    let lines: [Int]

    /// Why a row cannot be read, and the last line that is lost with it.
    struct Fault {
        let what: String
        let lastLine: Int
    }

    /// What is wrong with rows that cannot be read, by their indices.
    let faults: [Int: Fault]

    /// What is between the cells.
    enum Separator: UInt8, CaseIterable {
        case comma = 0x2C
        case semicolon = 0x3B
        case tab = 0x09
    }

    let separator: Separator
    /// Bytes of memory that the rows take.
    let size: Int

    /// - Parameter isKnown: Whether these are the columns of a table that the caller can read. With none of the
    ///   separators they may be: then it is the one that gives the most columns.
    /// - Throws: ``ImportError`` with the line.
    init(
        _ bytes: consuming SecretBytes, _ isKnown: ([String]) -> Bool = { _ in false }
    ) throws(ImportError) {
        guard bytes.count <= ImportLimits.file else { throw ImportError(.tooLarge, "", "the file is too long") }
        var budget = ImportBudget()
        let wide = bytes.withBytes { WideText($0) }
        if let wide {
            let size = bytes.withBytes { wide.size(in: $0) }
            try budget.charge(bytes: ImportBudget.locked(size), line: 1)
            bytes = try bytes.withBytes { bytes throws(ImportError) in try wide.text(in: bytes, size: size) }
        }
        var reader = TableReader(budget, encoding: wide == nil ? "UTF-8" : "UTF-16")
        try bytes.withBytes { bytes throws(ImportError) in
            try reader.chooseSeparator(bytes, isKnown)
            try reader.read(bytes)
        }
        rows = reader.rows
        lines = reader.lines
        faults = reader.faults
        separator = reader.separator
        size = reader.budget.spent
        self.bytes = bytes
    }

    /// The line of a row; all lines that are lost with it, where it has a fault.
    func place(_ index: Int) -> String {
        let (first, last) = (lines[index], faults[index]?.lastLine ?? lines[index])
        return last == first ? "line \(first)" : "lines \(first) to \(last)"
    }

    /// The value of a cell.
    borrowing func value(_ cell: Cell) throws(ImportError) -> SecretBytes {
        try bytes.withBytes { bytes throws(ImportError) in try cell.value(in: bytes) }
    }

    /// Lends the value of a cell: where nothing in it is doubled it is there already.
    borrowing func withValue<R>(_ cell: Cell, _ body: (RawSpan) throws(ImportError) -> R) throws(ImportError) -> R {
        guard cell.hasDoubledQuotes else {
            return try bytes.withBytes { bytes throws(ImportError) in try body(bytes.extracting(cell.range)) }
        }
        return try value(cell).withBytes(body)
    }

    /// As ``value(_:)``, for what is no secret.
    borrowing func text(_ cell: Cell) throws(ImportError) -> String {
        try withValue(cell) { $0.openText(0..<$0.byteCount) }
    }
}

extension DelimitedText.Cell {
    /// Its value, of all bytes of the table.
    func value(in bytes: RawSpan) throws(ImportError) -> SecretBytes {
        try memory { () throws(SecretMemoryError) in
            guard hasDoubledQuotes else { return try SecretBytes(copying: bytes.extracting(range)) }
            var value = SecretBuffer()
            var offset = range.lowerBound
            while offset < range.upperBound {
                try value.append(bytes[offset])
                offset += bytes[offset] == UInt8(ascii: "\"") ? 2 : 1
            }
            return try value.bytes()
        }
    }
}
