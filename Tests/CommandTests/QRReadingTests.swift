import Foundation
import QRReading
import SecretMemory
import TestSupport
import Testing

/// QR codes of images, read by a process of the program, and imported by it.
@Suite struct QRReadingTests {
    private static let text = "otpauth://totp/Example:alice@example.com?secret=JBSWY3DPEHPK3PXP&issuer=Example"
    private static let other = "otpauth://hotp/Other:bob?secret=GEZDGNBVGY3TQOJQ&counter=7&issuer=Other"

    /// A photo at an angle, out of focus and with noise.
    private static func photo() throws -> [UInt8] {
        let path = Program.root.appendingPathComponent("Tests/Images/photo.jpeg")
        return Array(try Data(contentsOf: path))
    }

    private func read(_ image: [UInt8], by program: String = Program.path) -> Result<[String], QRReadingError> {
        Result { () throws(QRReadingError) in
            let texts = try unsafe QRReading.texts(in: image.span.bytes, by: program)
            return (0..<texts.count).map { number in
                texts.withText(number) { String(decoding: $0.array, as: UTF8.self) }
            }
        }
    }

    @Test func `codes are read from screenshots and photos`() throws {
        #expect(try read(Self.photo()) == .success([Self.text]))
        let both = try #require(PNGFile.codes([Self.text, Self.other]))
        #expect(try Set(read(both).get()) == [Self.text, Self.other])
        let inverted = try #require(PNGFile.codes([Self.text], inverted: true))
        #expect(read(inverted) == .success([Self.text]))
        let transparent = try #require(PNGFile.codes([Self.text], hasAlpha: true))
        #expect(read(transparent) == .success([Self.text]))
        let umlauts = try #require(
            PNGFile.codes(["otpauth://totp/\u{DC}bung \u{65E5}\u{672C}?secret=JBSWY3DPEHPK3PXP"]))
        #expect(read(umlauts) == .success(["otpauth://totp/\u{DC}bung \u{65E5}\u{672C}?secret=JBSWY3DPEHPK3PXP"]))
    }

    @Test func `an image without a code has none`() {
        let grey = PNGFile.grey(width: 64, rows: Array(repeating: Array(repeating: 128, count: 64), count: 64))
        #expect(read(grey) == .failure(.noCode))
    }

    @Test(.seeded) func `hostile images are refused`() throws {
        let image = try #require(PNGFile.codes([Self.text]))
        let photo = try Self.photo()
        for bytes in [[], Array("<svg/>".utf8), Array(image.prefix(7)), Array(photo.prefix(2))] {
            #expect(read(bytes) == .failure(.notAnImage))
        }
        for count in [8, 20, 33, 60, image.count / 2] {
            #expect(read(Array(image.prefix(count))) == .failure(.unreadable), "\(count)")
        }
        for count in [3, 20, 200] { #expect(read(Array(photo.prefix(count))) == .failure(.unreadable), "\(count)") }
        for (width, height) in [(30_000, 30_000), (1_000_000, 41), (8_000, 5_001)] {
            #expect(read(PNGFile.bomb(width: width, height: height)) == .failure(.tooLarge))
        }
        for (width, height) in [(0, 0), (0, 100), (100, 0), (100, 100), (2_000_000_000, 2_000_000_000)] {
            #expect(read(PNGFile.bomb(width: width, height: height)) == .failure(.unreadable))
        }
        var numbers = SeededGenerator()
        for beginning in [image.prefix(8), image.prefix(33), photo.prefix(3), photo.prefix(300)] {
            let noise = (0..<4096).map { _ in UInt8.random(in: 0...255, using: &numbers) }
            switch read(beginning + noise) {
            case .success(let texts): Issue.record("noise was read as \(texts)")
            case .failure(let error): #expect([.unreadable, .noCode, .tooLarge].contains(error))
            }
        }
        #expect(read(image + [UInt8](repeating: 0, count: QRLimits.file)) == .failure(.tooLarge))
    }

    @Test func `a process that reads the image and fails, or answers anything else, is an image that cannot be read`() {
        let image = PNGFile.bomb(width: 10, height: 10)
        for program in ["/bin/true", "/bin/false", "/bin/cat", "/usr/bin/yes", "/nowhere/at/all"] {
            #expect(read(image, by: program) == .failure(.unreadable), "\(program)")
        }
        // The process of the tests was not made to read images, and does not start itself.
        #expect(throws: QRReadingError.unavailable) { try unsafe QRReading.texts(in: image.span.bytes).count }
    }

    @Test func `the codes of an image are imported, once`() throws {
        let sandbox = try Sandbox(prepared: true)
        let image = try #require(PNGFile.codes([Self.text, Self.other, "https://a.example"]))
        let file = try sandbox.file(image, "screen.png")
        let dry = try sandbox.run("import", file, "--dry-run", passcode: Prepared.passcode)
        #expect(dry.code == 8 && !dry.text.contains("JBSWY3DPEHPK3PXP"), "\(dry.errors)")
        let done = try sandbox.run("import", file, "--json", passcode: Prepared.passcode)
        let report = try done.json()
        #expect((report["added"] as? [String])?.count == 2 && (report["notUnderstood"] as? [Any])?.count == 1)
        for name in try #require(report["added"] as? [String]) {
            let code = try sandbox.run("show", name, "-f", "code", passcode: Prepared.passcode).text
            #expect(code.contains("secret=JBSWY3DPEHPK3PXP") || code.contains("secret=GEZDGNBVGY3TQOJQ"))
        }
        let photo = try sandbox.file(Self.photo(), "IMG.jpeg")
        let again = try sandbox.run("import", photo, "--format=qr", "--json", passcode: Prepared.passcode).json()
        #expect((again["duplicates"] as? [Any])?.count == 1)
        let nothing = try sandbox.file(PNGFile.grey(width: 1, rows: [[0]]))
        let none = try sandbox.run("import", nothing, passcode: Prepared.passcode)
        #expect(none.code == 5 && none.errors.contains("no QR code"), "\(none.errors)")
    }
}
