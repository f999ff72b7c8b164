#if canImport(CQRDecode)
internal import CQRDecode

/// Finds QR codes by libzbar.
@safe struct CodeScanner {
    private let library: cqrdecode_zbar
    private let scanner: UnsafeMutableRawPointer

    /// Loads the library.
    /// - Throws: `missing`, `unreadable`.
    init() throws(QRReadingError) {
        var library = cqrdecode_zbar()
        guard unsafe cqrdecode_load_zbar(&library) != 0 else { throw .missing(.zbar) }
        guard let scanner = unsafe library.make_scanner() else { throw .unreadable }
        let code = Int32(cqrdecode_qr_code)
        // No other kind of code; and bytes as they are, not what they may have been meant as.
        _ = unsafe library.configure(scanner, 0, Int32(cqrdecode_enable), 0)
        _ = unsafe library.configure(scanner, code, Int32(cqrdecode_enable), 1)
        _ = unsafe library.configure(scanner, code, Int32(cqrdecode_as_bytes), 1)
        unsafe (self.library, self.scanner) = (library, scanner)
    }

    /// The reply with all texts of an image, light on dark where there are none dark on light.
    /// - Throws: `tooLarge`, `unreadable`.
    func texts(in image: GreyImage) throws(QRReadingError) -> [UInt8] {
        var texts = try scan(image)
        if texts.isEmpty {
            image.invert()
            texts = try scan(image)
        }
        return [QRReply.texts.rawValue] + QRReply.number(texts.count) + texts
    }

    private func scan(_ image: GreyImage) throws(QRReadingError) -> [UInt8] {
        guard let picture = library.make_image() else { throw .unreadable }
        unsafe library.set_format(picture, UInt(cqrdecode_grey))
        unsafe library.set_size(picture, UInt32(image.width), UInt32(image.height))
        unsafe library.set_data(picture, image.pixels.start, UInt(image.pixels.size), nil)
        guard unsafe library.scan(scanner, picture) >= 0 else { throw .unreadable }
        var texts: [UInt8] = []
        var (number, size) = (0, 0)
        var next = unsafe library.first(picture)
        while let symbol = unsafe next {
            unsafe next = library.next(symbol)
            // A part of a text that goes over several codes is none.
            guard unsafe library.type(symbol) == Int32(cqrdecode_qr_code),
                let data = unsafe library.data(symbol)
            else { continue }
            let count = unsafe Int(library.count(symbol))
            guard count > 0 else { continue }
            (number, size) = (number + 1, size + count)
            guard number <= QRLimits.codes, size <= QRLimits.texts else { throw .tooLarge }
            unsafe texts += QRReply.number(count) + UnsafeRawBufferPointer(start: data, count: count)
        }
        return texts
    }
}
#endif
