internal import Holdfast
internal import OneTimeCodes
internal import QRCodes
internal import QRReading
internal import SecretMemory
internal import SystemCalls
internal import VaultFormat

/// The key of one-time codes in a picture of its QR code, as services show it.
enum QRPicture {
    /// - Parameter path: The picture; `-` for standard input.
    /// - Returns: The `otpauth://` text.
    /// - Throws: A failure that says what is wrong with the picture, or what to install.
    static func code(in path: String) throws(CommandError) -> SecretBytes {
        let shown = path == "-" ? "the picture" : Escaping.name(path)
        let picture = try read(path)
        let texts: QRTexts
        do throws(QRReadingError) {
            texts = try picture.withBytes { bytes throws(QRReadingError) in try QRReading.texts(in: bytes) }
        } catch { throw CommandError(error, shown) }
        return try OneTimeCode.text(of: code(texts, shown))
    }

    /// The only text of one-time codes.
    private static func code(_ texts: borrowing QRTexts, _ shown: String) throws(CommandError) -> SecretBytes {
        var codes: [Int] = []
        for number in 0..<texts.count
        where texts.withText(number, { $0.begins(with: ItemValue.oneTimeCodePrefix) }) { codes.append(number) }
        guard codes.count == 1, let code = codes.first else {
            let what = codes.isEmpty ? "no QR code of one-time codes" : "more than one such QR code"
            throw CommandError(.damaged, code: .noQRCode, "\(shown) has \(what)")
        }
        do throws(SecretMemoryError) {
            return try texts.withText(code) { text throws(SecretMemoryError) in try SecretBytes(copying: text) }
        } catch { throw CommandError(error) }
    }

    private static func read(_ path: String) throws(CommandError) -> SecretBytes {
        guard path != "-" else { return try ValueInput.rest(of: STDIN_FILENO, limit: QRLimits.file) }
        return try ImportedFile.read(path, limit: QRLimits.file)
    }
}

extension CommandError {
    /// - Parameter picture: What the picture is called.
    fileprivate init(_ error: QRReadingError, _ picture: String) {
        switch error {
        case .notAnImage:
            self.init(.damaged, code: .notAPicture, "\(picture) is no picture that is read: PNG or JPEG")
        case .unreadable: self.init(.damaged, code: .notAPicture, "\(picture) cannot be read")
        case .noCode: self.init(.damaged, code: .noQRCode, "\(picture) has no QR code")
        case .tooLarge:
            self.init(
                .damaged, code: .tooLarge, "\(picture) has more than \(QRLimits.pixels / 1_000_000) million pixels")
        case .missing(let library):
            self = .failure(.program, "\(library.name) is not installed; QR codes are read with it")
        case .unavailable: self = .failure(.program, "QR codes cannot be read here")
        case .memory(let error): self.init(error)
        }
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
