internal import QRReading
package import SecretMemory
internal import VaultFormat

/// QR codes of one-time codes in a screenshot or a photo (PNG, JPEG).
package enum QRImport {
    /// - Parameter image: What is in the file.
    /// - Throws: ``ImportError``: `tooLarge`, `unsupported` where a library is missing, `malformed` for an image that
    ///   cannot be read or has no QR code.
    package static func read(
        _ image: borrowing SecretBytes, _ options: ImportOptions = ImportOptions()
    ) throws(ImportError) -> Imported {
        let texts: QRTexts
        do throws(QRReadingError) {
            texts = try image.withBytes { image throws(QRReadingError) in try QRReading.texts(in: image) }
        } catch { throw ImportError(error) }
        return try items(texts, options)
    }

    /// What the texts of an image are: each may be what a line of a list is (``OneTimeListImport``).
    private static func items(
        _ texts: borrowing QRTexts, _ options: ImportOptions
    ) throws(ImportError) -> Imported {
        var result = Imported(options)
        var parts = GoogleMigration.Parts()
        for number in 0..<texts.count {
            let place = "QR code \(number + 1)"
            try texts.withText(number) { text throws(ImportError) in
                guard OneTimeListImport.isAddress(text) else {
                    return result.note(.leftOut, "a QR code that is no one-time code", place: place)
                }
                do throws(ImportError) { try OneTimeListImport.read(text, place, &parts, into: &result) } catch {
                    try result.leaveOut(error, place: place)
                }
            }
        }
        parts.noteMissing(&result)
        return result
    }
}

extension ImportError {
    init(_ error: QRReadingError) {
        switch error {
        case .notAnImage: self = .malformed("", "this is neither a PNG nor a JPEG image")
        case .unreadable: self = .malformed("", "the image cannot be read")
        case .noCode: self.init(.noCode, "", "there is no QR code in the image")
        case .tooLarge:
            self.init(.tooLarge, "", "an image has at most \(QRLimits.pixels / 1_000_000) million pixels")
        case .missing(let library): self.init(.unsupported, "", "\(library.name), which is not installed")
        case .unavailable: self.init(.unsupported, "", "images, which this program does not read here")
        case .memory(let error): self.init(error)
        }
    }
}
