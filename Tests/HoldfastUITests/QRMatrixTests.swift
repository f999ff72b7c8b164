import QRCodes
import Testing

#if os(Linux) && !canImport(Darwin)
@Suite struct QRMatrixTests {
    /// Three finder patterns, seven modules wide, and nothing else in their corners (ISO/IEC 18004, 6.3.3).
    @Test func aCodeHasItsFinderPatterns() throws {
        let code = try #require(QRMatrix(of: "https://example.org/" + String(repeating: "x", count: 300)))
        #expect((code.width - 17) % 4 == 0)
        let finder = [
            "#######", "#.....#", "#.###.#", "#.###.#", "#.###.#", "#.....#", "#######",
        ]
        for (top, left) in [(0, 0), (0, code.width - 7), (code.width - 7, 0)] {
            let seen = (0..<7).map { row in
                String((0..<7).map { code.isDark(top + row, left + $0) ? Character("#") : "." })
            }
            #expect(seen == finder)
        }
        #expect(!code.isDark(-1, 0) && !code.isDark(0, code.width))
    }

    @Test func whatIsTooLongHasNoCode() { #expect(QRMatrix(of: String(repeating: "x", count: 5000)) == nil) }

    @Test func modulesFillASquare() {
        #expect(QRMatrix(width: 2, dark: [true, false, true]) == nil)
        #expect(QRMatrix(width: 0, dark: []) == nil && QRMatrix(width: 178, dark: []) == nil)
    }
}
#endif
