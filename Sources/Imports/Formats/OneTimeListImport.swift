internal import OneTimeCodes
package import SecretMemory
internal import VaultFormat

/// A text file with the address of a one-time code on each line, as Ente Auth, Aegis and many others write it:
/// `otpauth://`, `steam://`, and `otpauth-migration://`, which holds several (``GoogleMigration``).
///
/// Blank lines and lines that begin with `#` are passed over.
package enum OneTimeListImport {
    private static let beginnings = ["otpauth://", "steam://", "motp://", GoogleMigration.beginning]

    /// - Throws: ``ImportError`` with the line.
    package static func read(
        _ bytes: consuming SecretBytes, _ options: ImportOptions = ImportOptions()
    ) throws(ImportError) -> Imported {
        var result = Imported(options)
        var parts = GoogleMigration.Parts()
        try bytes.withBytes { bytes throws(ImportError) in
            var lines = Lines()
            while let line = lines.next(bytes) {
                let place = "line \(lines.number)"
                do throws(ImportError) { try read(bytes.extracting(line), place, &parts, into: &result) } catch {
                    try result.leaveOut(error, place: place)
                }
            }
        }
        parts.noteMissing(&result)
        guard !result.items.isEmpty || !result.notes.isEmpty else {
            throw ImportError(.malformed, "", "the file has no address of a one-time code")
        }
        return result
    }

    /// Whether the first line that says something is such an address.
    static func isList(_ bytes: RawSpan) -> Bool {
        let front = bytes.extracting(0..<min(bytes.byteCount, 65_536))
        var lines = Lines()
        guard let line = lines.next(front) else { return false }
        return isAddress(front.extracting(line))
    }

    /// Whether a text begins as one of these addresses.
    static func isAddress(_ line: RawSpan) -> Bool { beginnings.contains { line.begins(inAnyCase: $0) } }

    /// The lines that say something, without the blanks around them.
    private struct Lines {
        private(set) var number = 0
        private var position = 0

        mutating func next(_ bytes: RawSpan) -> Range<Int>? {
            if number == 0, bytes.begins(with: "\u{FEFF}") { position = 3 }
            while position < bytes.byteCount {
                var (start, end) = (position, position)
                while end < bytes.byteCount, bytes[end] != 10 { end += 1 }
                position = end + 1
                number += 1
                while start < end, Lines.isBlank(bytes[start]) { start += 1 }
                while start < end, Lines.isBlank(bytes[end - 1]) { end -= 1 }
                if start < end, bytes[start] != UInt8(ascii: "#") { return start..<end }
            }
            return nil
        }

        private static func isBlank(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 || byte == 13 }
    }

    /// Adds the codes of one address.
    /// - Parameter parts: What was seen of exports that have several parts.
    static func read(
        _ line: RawSpan, _ place: String, _ parts: inout GoogleMigration.Parts, into result: inout Imported
    ) throws(ImportError) {
        guard line.byteCount <= ItemLimits.size else {
            throw .malformed(place, "an address has more than \(ItemLimits.size >> 20) MiB")
        }
        if line.begins(inAnyCase: GoogleMigration.beginning) {
            return try GoogleMigration.read(line, place, &parts, into: &result)
        }
        guard isAddress(line) else { throw .malformed(place, "this is no address of a one-time code") }
        let address = try OneTimeListAddress(line, place)
        guard let code = try address.code() else {
            // All of the line, so that nothing of it is lost.
            let item = try ImportedItem(.oneTimeCode, path: [address.name], place: place)
            item.note(.changed, ImportedItem.unknownCode)
            try item.add(.secret, "code", bytes: line)
            return try result.append(item)
        }
        let item = try ImportedItem(.oneTimeCode, path: code.path, place: place)
        try item.add(.oneTimeCode, "code", code.text)
        for name in address.others { item.note(.leftOut, name) }
        guard try address.addDisplay(to: item) else {
            return result.note(.leftOut, "an entry in the trash", entry: item.name, place: place)
        }
        try result.append(item)
    }
}
