package import SecretMemory

/// The texts of an image's QR codes, in locked memory: at least one, none empty.
package struct QRTexts: ~Copyable {
    private let reply: SecretBytes
    private let ranges: [Range<Int>]

    /// Reads what the reading process wrote. It decoded a stranger's image: nothing of it is trusted.
    ///
    /// One byte says what came of the image (``QRReply``); after ``QRReply/texts`` follow the number of bytes behind it
    /// and, for each text, its number of bytes and the text. Numbers have four bytes, the least first.
    /// - Throws: ``QRReadingError``: `unreadable` for anything else.
    package init(reply: consuming SecretBytes) throws(QRReadingError) {
        let ranges = try reply.withBytes { bytes throws(QRReadingError) in try QRTexts.ranges(bytes) }
        self.ranges = ranges
        self.reply = reply
    }

    /// How many there are.
    package var count: Int { ranges.count }

    /// Lends one text.
    package borrowing func withText<R: ~Copyable, E: Error>(
        _ index: Int, _ body: (RawSpan) throws(E) -> R
    ) throws(E) -> R {
        try reply.withBytes { bytes throws(E) in try body(bytes.extracting(ranges[index])) }
    }

    private static func ranges(_ reply: RawSpan) throws(QRReadingError) -> [Range<Int>] {
        guard reply.byteCount > 0, let answer = QRReply(rawValue: reply.byte(0)) else { throw .unreadable }
        guard answer == .texts else {
            guard reply.byteCount == 1 else { throw .unreadable }
            throw answer.error
        }
        guard reply.byteCount >= 5, reply.number(1) == reply.byteCount - 5,
            reply.byteCount <= QRReply.mostBytes
        else { throw .unreadable }
        var ranges: [Range<Int>] = []
        var offset = 5
        while offset < reply.byteCount {
            guard reply.byteCount - offset > 4, ranges.count < QRLimits.codes else { throw .unreadable }
            let count = reply.number(offset)
            offset += 4
            guard count > 0, count <= reply.byteCount - offset else { throw .unreadable }
            ranges.append(offset..<offset + count)
            offset += count
        }
        guard !ranges.isEmpty else { throw .noCode }
        return ranges
    }
}

/// What the reading process found, as the first byte of its reply.
enum QRReply: UInt8 {
    case texts = 0, noZbar = 1, noPNG = 2, noJPEG = 3, unreadable = 4, tooLarge = 5

    /// Bytes of a whole reply.
    static let mostBytes = 5 + QRLimits.texts + 4 * QRLimits.codes

    init(missing library: QRLibrary) {
        self =
            switch library {
            case .zbar: .noZbar
            case .png: .noPNG
            case .jpeg: .noJPEG
            }
    }

    /// What it says where there are no texts.
    var error: QRReadingError {
        switch self {
        case .texts, .unreadable: .unreadable
        case .noZbar: .missing(.zbar)
        case .noPNG: .missing(.png)
        case .noJPEG: .missing(.jpeg)
        case .tooLarge: .tooLarge
        }
    }

    /// A number as a reply has it.
    static func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
}

extension RawSpan {
    fileprivate func number(_ offset: Int) -> Int {
        (0..<4).reduce(0) { $0 | Int(byte(offset + $1)) << (8 * $1) }
    }
}
