internal import CQREncode

/// A QR code as text for a terminal: two rows of modules in one line of half blocks, dark on light whatever the
/// terminal's colours are.
enum QRCode {
    /// Nil when the text is too long for a code, or the library is not installed.
    static func text(of content: String) -> String? {
        var library = cqrencode_library()
        guard unsafe cqrencode_load(&library) != 0 else { return nil }
        let bytes = Array(content.utf8)
        guard let code = unsafe library.encode(Int32(bytes.count), bytes, 0, QR_ECLEVEL_M) else { return nil }
        defer { unsafe library.release(code) }
        let width = unsafe Int(code.pointee.width)
        guard width > 0, width <= 177, let modules = unsafe code.pointee.data else { return nil }
        let dark = (0..<width * width).map { unsafe modules[$0] & 1 == 1 }
        return draw(dark, width)
    }

    /// Modules of light around the code (ISO/IEC 18004: four).
    private static let margin = 4

    static func draw(_ dark: [Bool], _ width: Int) -> String {
        func isDark(_ row: Int, _ column: Int) -> Bool {
            (0..<width).contains(row) && (0..<width).contains(column) && dark[row * width + column]
        }
        var text = ""
        for row in stride(from: -margin, to: width + margin, by: 2) {
            text += "\u{1B}[30;107m"
            for column in -margin..<width + margin {
                switch (isDark(row, column), isDark(row + 1, column)) {
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
