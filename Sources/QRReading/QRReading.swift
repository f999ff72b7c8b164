package import SecretMemory
internal import SystemCalls

/// Why no QR code of an image was read.
package enum QRReadingError: Error, Sendable, Hashable {
    /// It begins neither as PNG nor as JPEG.
    case notAnImage
    /// It is damaged, or took more memory or time than an image may.
    case unreadable
    /// More bytes or pixels than are read, or longer texts.
    case tooLarge
    /// There is no QR code in it.
    case noCode
    /// This library is not installed.
    case missing(QRLibrary)
    /// This program, or this system, reads no images.
    case unavailable
    case memory(SecretMemoryError)
}

/// A library that reads an image. None is linked: they are loaded by the process that reads it.
package enum QRLibrary: UInt8, Sendable, Hashable, CaseIterable {
    case zbar = 1, png = 2, jpeg = 3

    /// The library, and Debian's package of it.
    package var name: String {
        switch self {
        case .zbar: "libzbar.so.0 (Debian's package libzbar0)"
        case .png: "libpng16.so.16 (Debian's package libpng16-16)"
        case .jpeg: "libturbojpeg.so.0 (Debian's package libturbojpeg0)"
        }
    }
}

/// What is read at most, checked before anything is decoded.
package enum QRLimits {
    /// Bytes of an image file.
    package static let file = 64 << 20
    /// Pixels of an image.
    package static let pixels = 40_000_000
    /// Bytes of memory that decoding takes beside the file's.
    package static let memory = 192 << 20
    /// Seconds, of a processor and of the clock.
    package static let seconds = 20
    /// Bytes of all texts of an image.
    package static let texts = 1 << 20
    /// Texts of an image.
    package static let codes = 1000
}

/// The kinds of images that are read.
enum ImageKind {
    case png, jpeg

    init?(_ image: RawSpan) {
        if image.begins(as: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .png
        } else if image.begins(as: [0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else {
            return nil
        }
    }
}

/// Reads the QR codes of a screenshot or a photo.
///
/// The libraries that decode images and find codes are written in C, and an image may be anybody's. A process of its
/// own runs them, in which no vault was ever open: it is started for one image, gets nothing of this process but the
/// image, and may open nothing.
package enum QRReading {
    /// Whether these are the first bytes of an image that is read.
    package static func isImage(_ bytes: RawSpan) -> Bool { ImageKind(bytes) != nil }

    /// Reads all codes of an image. Waits for up to ``QRLimits/seconds``.
    /// - Parameters:
    ///   - image: A PNG or JPEG file.
    ///   - program: What reads it: a program whose first call is ``serve()``; nil for this one.
    /// - Throws: ``QRReadingError``.
    package static func texts(in image: RawSpan, by program: String? = nil) throws(QRReadingError) -> QRTexts {
        guard image.byteCount <= QRLimits.file else { throw .tooLarge }
        guard isImage(image) else { throw .notAnImage }
        #if canImport(CQRDecode)
        guard program != nil || isServed else { throw .unavailable }
        let child = try ReadingChild(program ?? "/proc/self/exe")
        return try QRTexts(reply: child.answer(to: image))
        #else
        throw .unavailable
        #endif
    }
}

extension RawSpan {
    func begins(as beginning: [UInt8]) -> Bool {
        byteCount >= beginning.count && beginning.indices.allSatisfy { byte($0) == beginning[$0] }
    }

    /// One byte; an offset outside is our own mistake and traps.
    func byte(_ offset: Int) -> UInt8 {
        precondition(offset >= 0 && offset < byteCount, "offset outside of a span")
        return unsafe unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
    }
}
