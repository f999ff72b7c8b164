#if canImport(CQREncode)
internal import CQREncode

extension QRMatrix {
    /// The code of a text, with medium error correction, by libqrencode.
    /// - Returns: Nil when the text is too long for a code, or the library is not installed.
    package init?(of content: String) {
        var library = cqrencode_library()
        guard unsafe cqrencode_load(&library) != 0 else { return nil }
        let bytes = Array(content.utf8)
        guard let code = unsafe library.encode(Int32(bytes.count), bytes, 0, QR_ECLEVEL_M) else { return nil }
        defer { unsafe library.release(code) }
        let width = unsafe Int(code.pointee.width)
        guard (1...177).contains(width), let modules = unsafe code.pointee.data else { return nil }
        self.init(width: width, dark: (0..<width * width).map { unsafe modules[$0] & 1 == 1 })
    }
}
#endif
