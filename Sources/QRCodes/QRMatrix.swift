/// The modules of a QR code (ISO/IEC 18004), without the margin of four light modules that it needs around it.
package struct QRMatrix: Sendable, Hashable {
    /// Modules in a row, and rows.
    package let width: Int
    private let dark: [Bool]

    /// Modules of light around a code.
    package static let margin = 4

    /// Nil unless the modules fill a square.
    package init?(width: Int, dark: [Bool]) {
        guard (1...177).contains(width), dark.count == width * width else { return nil }
        self.width = width
        self.dark = dark
    }

    /// Whether a module is dark; those outside of the code are light.
    package func isDark(_ row: Int, _ column: Int) -> Bool {
        (0..<width).contains(row) && (0..<width).contains(column) && dark[row * width + column]
    }
}
