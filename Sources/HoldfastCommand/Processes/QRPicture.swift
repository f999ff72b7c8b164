internal import Holdfast
internal import OneTimeCodes
internal import QRCodes
internal import SecretMemory
internal import SystemCalls
internal import VaultFormat

/// The key of one-time codes in a picture of its QR code, as services show it. The program `zbarimg` reads the picture;
/// it gets it on its standard input, so that no name reaches it, and as one of a few kinds of pictures, so that it runs
/// no other decoder.
enum QRPicture {
    private static let program = "zbarimg"
    /// Bytes of a picture: a screen of 8K without compression fits.
    private static let limit = 128 << 20
    /// How the kinds of pictures begin.
    private static let kinds: [(beginning: [UInt8], name: String)] = [
        ([0x89, 0x50, 0x4E, 0x47], "png"), ([0xFF, 0xD8, 0xFF], "jpeg"), ([0x47, 0x49, 0x46, 0x38], "gif"),
        ([0x42, 0x4D], "bmp"), ([0x50, 0x34], "pnm"), ([0x50, 0x35], "pnm"), ([0x50, 0x36], "pnm"),
    ]

    /// - Parameter path: The picture; `-` for standard input.
    /// - Returns: The `otpauth://` text.
    /// - Throws: A failure that says what is wrong with the picture, or what to install.
    static func code(in path: String) throws(CommandError) -> SecretBytes {
        guard ChildProcess.isInstalled(program) else {
            throw .failure(.program, "\(program) is not installed; it reads QR codes (package zbar-tools, zbar)")
        }
        let shown = path == "-" ? "the picture" : Escaping.name(path)
        let picture = try read(path)
        let kind: String? = picture.withBytes { bytes in
            kinds.first { kind in
                bytes.byteCount > kind.beginning.count
                    && kind.beginning.indices.allSatisfy { bytes.byte(at: $0) == kind.beginning[$0] }
            }?.name
        }
        guard let kind else {
            throw CommandError(
                .damaged, code: .notAPicture, "\(shown) is no picture that is read: PNG, JPEG, GIF, BMP or PNM")
        }
        let found = try scan(picture, kind)
        let lines: [Range<Int>] = found.withBytes { bytes in QRPicture.lines(of: bytes) }
        let codes = found.withBytes { bytes in
            lines.filter { bytes.extracting($0).begins(with: ItemValue.oneTimeCodePrefix) }
        }
        guard codes.count == 1, let code = codes.first else {
            let what =
                codes.isEmpty
                ? lines.isEmpty ? "no QR code" : "no QR code of one-time codes" : "more than one such QR code"
            throw CommandError(.damaged, code: .noQRCode, "\(shown) has \(what)")
        }
        let text: SecretBytes
        do throws(SecretMemoryError) { text = try found.copy(code) } catch { throw CommandError(error) }
        return try OneTimeCode.text(of: text)
    }

    private static func read(_ path: String) throws(CommandError) -> SecretBytes {
        guard path != "-" else { return try ValueInput.rest(of: STDIN_FILENO, limit: limit) }
        return try ImportedFile.read(path, limit: limit)
    }

    private static func scan(_ picture: borrowing SecretBytes, _ kind: String) throws(CommandError) -> SecretBytes {
        let input = try Pipe()
        let output = try Pipe()
        defer { close(output.reading) }
        var child: ChildProcess
        do {
            defer {
                close(input.reading)
                close(output.writing)
            }
            do throws(CommandError) {
                child = try ChildProcess(
                    [program, "--raw", "--quiet", "-Sdisable", "-Sqrcode.enable", "\(kind):-"], input: input.reading,
                    output: output.writing)
            } catch {
                close(input.writing)
                throw error
            }
        }
        // One that ends early is told of by its code.
        try? picture.withBytes { bytes throws(CommandError) in try Descriptors.write(bytes, to: input.writing) }
        close(input.writing)
        let found = try ValueInput.rest(of: output.reading)
        // 4: no code in the picture.
        guard let code = child.wait(), code == 0 || code == 4 else {
            throw CommandError(.damaged, code: .notAPicture, "\(program) could not read the picture")
        }
        return found
    }

    private static func lines(of bytes: RawSpan) -> [Range<Int>] {
        var lines: [Range<Int>] = []
        var start = 0
        for offset in 0...bytes.byteCount
        where offset == bytes.byteCount || bytes.byte(at: offset) == UInt8(ascii: "\n") {
            if offset > start { lines.append(start..<offset) }
            start = offset + 1
        }
        return lines
    }
}

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
