import CAdw
import GtkKit
import Holdfast

/// A look at an attachment: a text or a picture, without a copy on the disk. It is gone with the sheet, and when the
/// lock falls.
final class PreviewForm: SheetForm {
    let root: Widget, cancel: Button
    private let title: Label, textPlace: Widget, text: Label, picture: Picture

    /// Bytes of a text that is laid out at once.
    private static let longestText = 64 << 10
    /// Pixels of a picture: a small file may unfold to any number of them.
    private static let mostPixels = 40_000_000

    init(_ ui: Builder) {
        root = ui.widget("preview")
        cancel = ui.widget("preview-cancel")
        title = ui.widget("preview-title")
        textPlace = ui.widget("preview-text-place")
        text = ui.widget("preview-text")
        picture = ui.widget("preview-picture")
    }

    /// - Returns: False for what is neither a text nor a picture, or too large to be shown; then nothing is.
    func show(_ content: RawSpan, name: String) -> Bool {
        clear()
        title.text = name
        if let pixels = PicturePixels.count(content) {
            picture.isVisible = pixels <= PreviewForm.mostPixels && picture.show(encoded: content)
            return picture.isVisible
        }
        guard content.byteCount <= PreviewForm.longestText, TextLines.isText(content) else { return false }
        text.show(content)
        textPlace.isVisible = true
        return true
    }

    func clear() {
        title.text = ""
        text.text = ""
        picture.show(nil)
        textPlace.isVisible = false
        picture.isVisible = false
    }
}

/// How large a picture is, by its own first bytes, before anything decodes it.
enum PicturePixels {
    /// Nil for what is neither PNG nor JPEG, or does not say.
    static func count(_ bytes: RawSpan) -> Int? { png(bytes) ?? jpeg(bytes) }

    private static func png(_ bytes: RawSpan) -> Int? {
        let beginning: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        guard bytes.byteCount >= 24, beginning.indices.allSatisfy({ byte(bytes, $0) == beginning[$0] }) else {
            return nil
        }
        let (width, height) = (half(bytes, 16) << 16 | half(bytes, 18), half(bytes, 20) << 16 | half(bytes, 22))
        let (pixels, isLarge) = width.multipliedReportingOverflow(by: height)
        return isLarge ? .max : pixels
    }

    /// Walks the segments to the one that has the size.
    private static func jpeg(_ bytes: RawSpan) -> Int? {
        guard bytes.byteCount >= 4, half(bytes, 0) == 0xFFD8 else { return nil }
        var offset = 2
        while offset + 9 <= bytes.byteCount, byte(bytes, offset) == 0xFF {
            let marker = byte(bytes, offset + 1)
            // Frames are C0 to CF, but for three that are tables.
            if (0xC0...0xCF).contains(marker), ![0xC4, 0xC8, 0xCC].contains(marker) {
                return half(bytes, offset + 5) * half(bytes, offset + 7)
            }
            offset += 2 + half(bytes, offset + 2)
        }
        return nil
    }

    private static func byte(_ bytes: RawSpan, _ offset: Int) -> UInt8 {
        bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    }

    private static func half(_ bytes: RawSpan, _ offset: Int) -> Int {
        Int(byte(bytes, offset)) << 8 | Int(byte(bytes, offset + 1))
    }
}
