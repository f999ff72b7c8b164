internal import BetterAuthMessages
internal import SecretMemory

/// Reads the record of the credentials; each read checks its bounds.
///
/// It holds a copy in locked memory, because a span cannot be kept.
final class RecordReader {
    static let damaged = IdentityError.damaged("the identity's record is not what was written")

    private let bytes: SecretBytes
    private var position = 0

    init(_ bytes: RawSpan) throws(SecretMemoryError) { self.bytes = try SecretBytes(copying: bytes) }

    var isAtEnd: Bool { position == bytes.count }

    /// Lends the next bytes.
    private func next<R: ~Copyable>(_ count: Int, _ body: (RawSpan) throws -> R) throws -> R {
        guard count >= 0, count <= bytes.count - position else { throw RecordReader.damaged }
        defer { position += count }
        return try bytes.withBytes { try body($0.extracting(position..<position + count)) }
    }

    func byte() throws -> UInt8 { try next(1) { unsafe $0.unsafeLoad(as: UInt8.self) } }

    func integer() throws -> UInt64 {
        try next(8) { UInt64(bigEndian: unsafe $0.unsafeLoadUnaligned(as: UInt64.self)) }
    }

    func time() throws -> Timestamp {
        guard let value = Int64(exactly: try integer()), let time = Timestamp(milliseconds: value) else {
            throw RecordReader.damaged
        }
        return time
    }

    func text<T: CESRValue>() throws -> T {
        guard let text = try next(T.rawSize, { T(raw: $0) }) else { throw RecordReader.damaged }
        return text
    }

    private func count() throws -> Int {
        try Int(byte()) << 16 | Int(byte()) << 8 | Int(byte())
    }

    func counted() throws -> [UInt8] {
        try next(count()) { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } }
    }

    func token() throws -> TokenText {
        let text = try counted()
        guard let token = try? unsafe TokenText(parsing: text.span.bytes) else { throw RecordReader.damaged }
        return token
    }

    func secret() throws -> SecretBytes { try next(count()) { try SecretBytes(copying: $0) } }

    func optional<T>(_ read: (RecordReader) throws -> T) throws -> T? {
        switch try byte() {
        case 0: nil
        case 1: try read(self)
        default: throw RecordReader.damaged
        }
    }

    func list<T>(atMost most: UInt8, _ read: (RecordReader) throws -> T) throws -> [T] {
        let count = try byte()
        guard count <= most else { throw RecordReader.damaged }
        return try (0..<count).map { _ in try read(self) }
    }
}
