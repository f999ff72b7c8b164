internal import SecretMemory
internal import VaultFormat

/// Reads the rows of a ``DelimitedText``.
struct TableReader {
    private(set) var rows: [[DelimitedText.Cell]] = []
    private(set) var lines: [Int] = []
    private(set) var faults: [Int: DelimitedText.Fault] = [:]
    private(set) var separator = DelimitedText.Separator.comma
    private(set) var budget: ImportBudget
    private let encoding: String
    /// Why a row is no text; found out with the first one.
    private var encodingFault: String?

    private static let rowSize =
        ImportBudget.array + ImportBudget.element([DelimitedText.Cell].self) + ImportBudget.element(Int.self)
    private static let cellSize = ImportBudget.element(DelimitedText.Cell.self)
    private static let faultSize = ImportBudget.element((Int, DelimitedText.Fault).self) + ImportBudget.text(100)

    /// - Parameter encoding: What the file was before it was UTF-8.
    init(_ budget: ImportBudget, encoding: String) { (self.budget, self.encoding) = (budget, encoding) }

    /// Where a row begins.
    private struct Place {
        var offset: Int
        var line = 1
    }

    private struct Row {
        var cells: [DelimitedText.Cell] = []
        var fault: String?
        /// The line behind the one on which a cell begins that does not end.
        var open: Place?
    }

    private static func start(_ bytes: RawSpan) -> Place { Place(offset: bytes.begins(with: "\u{FEFF}") ? 3 : 0) }

    /// Takes the first separator with which the columns are known, or else that with the most columns.
    mutating func chooseSeparator(_ bytes: RawSpan, _ isKnown: ([String]) -> Bool) throws(ImportError) {
        var most = 0
        for candidate in DelimitedText.Separator.allCases {
            // What one separator makes of the row is given back before the next one is tried.
            var trial = self
            trial.separator = candidate
            var place = TableReader.start(bytes)
            while place.offset < bytes.byteCount, trial.skipBlankLine(bytes, &place) {}
            guard place.offset < bytes.byteCount else { return }
            let row = try trial.row(bytes, &place)
            guard row.fault == nil else { continue }
            var titles: [String] = []
            for cell in row.cells { titles.append(try cell.value(in: bytes).openText()) }
            let isRight = isKnown(titles)
            if isRight || titles.count > most { (separator, most) = (candidate, titles.count) }
            if isRight { return }
        }
    }

    mutating func read(_ bytes: RawSpan) throws(ImportError) {
        var place = TableReader.start(bytes)
        // The row whose cell does not end, if the next ones may be a part of that.
        var open: Int?
        while place.offset < bytes.byteCount {
            if skipBlankLine(bytes, &place) { continue }
            try budget.charge(bytes: TableReader.rowSize, line: place.line)
            let start = place
            lines.append(start.line)
            var row = try row(bytes, &place)
            if row.fault == nil, let first = rows.first, first.count != row.cells.count {
                row.fault = "a row has \(row.cells.count) cells where the first one has \(first.count)"
            }
            if row.fault != nil {
                if let open {
                    loseRows(behind: open, bytes)
                    return
                }
                if let behind = row.open {
                    (open, place) = (rows.count, behind)
                } else {
                    try agree(bytes, start, &place)
                }
            } else if !bytes.extracting(start.offset..<place.offset).isUTF8 {
                row.fault = wrongEncoding(bytes)
            }
            if let fault = row.fault {
                let end = max(start.line, place.line - 1)
                guard !rows.isEmpty else { throw .malformed("line \(start.line)", fault) }
                try budget.charge(bytes: TableReader.faultSize, line: start.line)
                faults[rows.count] = DelimitedText.Fault(what: fault, lastLine: end)
            }
            rows.append(row.cells)
        }
        guard !rows.isEmpty else { throw ImportError(.malformed, "", "the file is empty") }
    }

    /// Loses all that follows a quoted cell that does not end. Where not every line of that is a row, it is likely a
    /// part of the cell, and a line that looks like a row may have a secret where titles are.
    private mutating func loseRows(behind open: Int, _ bytes: RawSpan) {
        guard let fault = faults[open] else { return }
        rows.removeSubrange((open + 1)...)
        lines.removeSubrange((open + 1)...)
        for index in faults.keys where index > open { faults[index] = nil }
        let last = bytes.line(of: bytes.byteCount) - (bytes[bytes.byteCount - 1] == 10 ? 1 : 0)
        faults[open] = DelimitedText.Fault(what: fault.what, lastLine: last)
    }

    /// Behind a faulty row over several lines: either its cells are what they look like, or a quote of its first line
    /// does not belong there, and other rows are in it. The next row begins where both readings come to the same place.
    /// What is between may be the second half of a row, with a secret where titles are.
    private func agree(_ bytes: RawSpan, _ start: Place, _ place: inout Place) throws(ImportError) {
        guard place.line > start.line + 1 else { return }
        var (trial, other) = (self, start)
        TableReader.endLine(bytes, &other)
        while other.offset != place.offset {
            if other.offset < place.offset {
                try trial.pass(bytes, &other)
            } else {
                try trial.pass(bytes, &place)
            }
        }
    }

    /// Goes behind a row, and keeps nothing of it.
    private mutating func pass(_ bytes: RawSpan, _ place: inout Place) throws(ImportError) {
        if skipBlankLine(bytes, &place) { return }
        let before = budget
        if let open = try row(bytes, &place).open { place = open }
        budget = before
    }

    /// What is wrong with a row that is no text.
    private mutating func wrongEncoding(_ bytes: RawSpan) -> String {
        if let encodingFault { return encodingFault }
        var fault = "a row has bytes that are not \(encoding)"
        if encoding == "UTF-8", !TableReader.hasCharacters(bytes) {
            fault += "; the file looks like Windows-1252 (ANSI): save it as UTF-8"
        }
        encodingFault = fault
        return fault
    }

    /// Whether there is any character of UTF-8 that is not ASCII.
    private static func hasCharacters(_ bytes: RawSpan) -> Bool {
        var offset = 0
        while offset < bytes.byteCount {
            let count = bytes[offset] < 0xC2 ? 1 : bytes[offset] < 0xE0 ? 2 : bytes[offset] < 0xF0 ? 3 : 4
            if count > 1, offset + count <= bytes.byteCount, bytes.extracting(offset..<offset + count).isUTF8 {
                return true
            }
            offset += 1
        }
        return false
    }

    /// Whether there was a line of nothing but blanks.
    private func skipBlankLine(_ bytes: RawSpan, _ place: inout Place) -> Bool {
        var end = place.offset
        while end < bytes.byteCount, [9, 13, 32].contains(bytes[end]) { end += 1 }
        guard end == bytes.byteCount || bytes[end] == 10 else { return false }
        place = Place(offset: min(end + 1, bytes.byteCount), line: place.line + 1)
        return true
    }

    private mutating func row(_ bytes: RawSpan, _ place: inout Place) throws(ImportError) -> Row {
        var row = Row()
        while row.fault == nil {
            try budget.charge(bytes: TableReader.cellSize, line: place.line)
            cell(bytes, &place, &row)
            let isMore = place.offset < bytes.byteCount && bytes[place.offset] == separator.rawValue
            guard row.fault == nil, isMore else { break }
            place.offset += 1
        }
        let end = place.offset
        TableReader.endLine(bytes, &place)
        let isEnd = (end..<place.offset).allSatisfy { bytes[$0] == 13 || bytes[$0] == 10 }
        if !isEnd, row.fault == nil {
            row.fault = "something stands behind a closing quote, or a line break is not one"
        }
        return row
    }

    private func cell(_ bytes: RawSpan, _ place: inout Place, _ row: inout Row) {
        let quote = UInt8(ascii: "\"")
        guard place.offset < bytes.byteCount, bytes[place.offset] == quote else {
            let start = place.offset
            while place.offset < bytes.byteCount {
                let byte = bytes[place.offset]
                if byte == separator.rawValue || byte == 10 || byte == 13 { break }
                if byte == quote {
                    row.fault = "a quote is inside of a cell that has none around it"
                    break
                }
                place.offset += 1
            }
            return row.cells.append(DelimitedText.Cell(range: start..<place.offset, hasDoubledQuotes: false))
        }
        var behind = place
        TableReader.endLine(bytes, &behind)
        place.offset += 1
        let start = place.offset
        var hasDoubled = false
        while place.offset < bytes.byteCount {
            if bytes[place.offset] == 10 { place.line += 1 }
            guard bytes[place.offset] == quote else {
                place.offset += 1
                continue
            }
            guard place.offset + 1 < bytes.byteCount, bytes[place.offset + 1] == quote else {
                place.offset += 1
                return row.cells.append(
                    DelimitedText.Cell(range: start..<place.offset - 1, hasDoubledQuotes: hasDoubled))
            }
            hasDoubled = true
            place.offset += 2
        }
        row.fault = "a quoted cell does not end"
        row.open = behind
    }

    /// Goes to the next line.
    private static func endLine(_ bytes: RawSpan, _ place: inout Place) {
        while place.offset < bytes.byteCount, bytes[place.offset] != 10 { place.offset += 1 }
        place = Place(offset: min(place.offset + 1, bytes.byteCount), line: place.line + 1)
    }
}
