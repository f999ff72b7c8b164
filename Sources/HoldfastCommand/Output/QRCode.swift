internal import QRCodes

/// A QR code as text for a terminal: two rows of modules in one line of half blocks, dark on light whatever the
/// terminal's colours are.
enum QRCode {
    /// Nil when the text is too long for a code, or the library is not installed.
    static func text(of content: String) -> String? {
        #if os(Linux) && !canImport(Darwin)
        QRMatrix(of: content).map(draw)
        #else
        nil
        #endif
    }

    static func draw(_ code: QRMatrix) -> String {
        let margin = QRMatrix.margin
        var text = ""
        for row in stride(from: -margin, to: code.width + margin, by: 2) {
            text += "\u{1B}[30;107m"
            for column in -margin..<code.width + margin {
                switch (code.isDark(row, column), code.isDark(row + 1, column)) {
                case (true, true): text += "█"
                case (true, false): text += "▀"
                case (false, true): text += "▄"
                case (false, false): text += " "
                }
            }
            text += "\u{1B}[0m\n"
        }
        return text
    }
}
