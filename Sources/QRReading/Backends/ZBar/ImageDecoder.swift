#if canImport(CQRDecode)
internal import CQRDecode

/// A grey image: a byte for each pixel, row by row, 0 for black.
struct GreyImage {
    let pixels: Pages
    let width: Int
    let height: Int

    /// - Throws: `tooLarge`, before memory is taken.
    init(width: Int, height: Int) throws(QRReadingError) {
        guard width > 0, height > 0 else { throw .unreadable }
        let (count, overflows) = width.multipliedReportingOverflow(by: height)
        guard !overflows, count <= QRLimits.pixels else { throw .tooLarge }
        guard let pixels = Pages(count) else { throw .unreadable }
        pixels.lock(count)
        (self.pixels, self.width, self.height) = (pixels, width, height)
    }

    /// Turns light into dark, eight pixels at a time: the last page reaches beyond the last of them.
    func invert() {
        for offset in stride(from: 0, to: pixels.size, by: 8) {
            let eight = unsafe pixels.start.load(fromByteOffset: offset, as: UInt64.self)
            unsafe pixels.start.storeBytes(of: ~eight, toByteOffset: offset, as: UInt64.self)
        }
    }
}

/// Decodes an image by libpng or libjpeg-turbo.
@safe enum ImageDecoder {
    case png(cqrdecode_png), jpeg(cqrdecode_jpeg)

    /// Loads the library.
    /// - Throws: `missing`.
    init(_ kind: ImageKind) throws(QRReadingError) {
        switch kind {
        case .png:
            var library = cqrdecode_png()
            guard unsafe cqrdecode_load_png(&library) != 0 else { throw .missing(.png) }
            self = .png(library)
        case .jpeg:
            var library = cqrdecode_jpeg()
            guard unsafe cqrdecode_load_jpeg(&library) != 0 else { throw .missing(.jpeg) }
            self = .jpeg(library)
        }
    }

    /// - Throws: `tooLarge` before anything is decoded, `unreadable`.
    func pixels(of file: UnsafeRawBufferPointer) throws(QRReadingError) -> GreyImage {
        switch self {
        case .png(let library): try unsafe ImageDecoder.png(library, file)
        case .jpeg(let library): try unsafe ImageDecoder.jpeg(library, file)
        }
    }

    private static func png(
        _ library: cqrdecode_png, _ file: UnsafeRawBufferPointer
    ) throws(QRReadingError) -> GreyImage {
        var header = unsafe cqrdecode_png_image()
        unsafe header.version = UInt32(cqrdecode_png_version)
        guard unsafe library.begin(&header, file.baseAddress, file.count) != 0 else { throw .unreadable }
        let image = try unsafe GreyImage(width: Int(header.width), height: Int(header.height))
        unsafe header.format = UInt32(cqrdecode_png_grey)
        // What is transparent is as light as the page that it was shown on.
        var white = cqrdecode_png_color(red: 255, green: 255, blue: 255)
        guard unsafe library.finish(&header, &white, image.pixels.start, Int32(image.width), nil) != 0 else {
            throw .unreadable
        }
        return image
    }

    private static func jpeg(
        _ library: cqrdecode_jpeg, _ file: UnsafeRawBufferPointer
    ) throws(QRReadingError) -> GreyImage {
        guard let handle = library.make(), let bytes = unsafe file.assumingMemoryBound(to: UInt8.self).baseAddress
        else {
            throw .unreadable
        }
        let count = UInt(file.count)
        var (width, height, subsampling, colors) = (Int32(0), Int32(0), Int32(0), Int32(0))
        guard unsafe library.header(handle, bytes, count, &width, &height, &subsampling, &colors) == 0 else {
            throw .unreadable
        }
        let image = try GreyImage(width: Int(width), height: Int(height))
        let pixels = unsafe image.pixels.start.assumingMemoryBound(to: UInt8.self)
        let status = unsafe library.decompress(
            handle, bytes, count, pixels, width, width, height, Int32(cqrdecode_jpeg_grey),
            Int32(cqrdecode_jpeg_few_scans))
        // Cameras leave things in a file that are warned of.
        guard unsafe status == 0 || library.severity(handle) == Int32(cqrdecode_jpeg_warning) else {
            throw .unreadable
        }
        return image
    }
}
#endif
