internal import BetterAuthMessages
internal import SecretMemory

/// What the record is written to: once to learn its size, once for good. Locked memory is not asked for twice, and no
/// copy of a secret lies anywhere else.
protocol RecordOutput: ~Copyable {
    mutating func byte(_ byte: UInt8)
    mutating func raw(_ bytes: RawSpan)
}

extension RecordOutput where Self: ~Copyable {
    mutating func integer(_ value: UInt64) {
        for shift in stride(from: 56, through: 0, by: -8) { byte(UInt8(truncatingIfNeeded: value >> UInt64(shift))) }
    }

    mutating func time(_ time: Timestamp) { integer(UInt64(time.milliseconds)) }

    mutating func text(_ text: some CESRValue) { text.withRawBytes { raw($0) } }

    private mutating func count(_ count: Int) {
        byte(UInt8(truncatingIfNeeded: count >> 16))
        byte(UInt8(truncatingIfNeeded: count >> 8))
        byte(UInt8(truncatingIfNeeded: count))
    }

    mutating func counted(_ bytes: [UInt8]) {
        count(bytes.count)
        unsafe raw(bytes.span.bytes)
    }

    mutating func counted(secret: borrowing SecretBytes) {
        count(secret.count)
        secret.withBytes { raw($0) }
    }

    mutating func optional<T>(_ value: T?, _ write: (T, inout Self) -> Void) {
        byte(value == nil ? 0 : 1)
        if let value { write(value, &self) }
    }

    mutating func list<T>(_ values: [T], _ write: (T, inout Self) -> Void) {
        byte(UInt8(clamping: values.count))
        for value in values.prefix(255) { write(value, &self) }
    }
}

/// Only counts.
struct RecordSize: RecordOutput {
    private(set) var count = 0
    mutating func byte(_ byte: UInt8) { count += 1 }
    mutating func raw(_ bytes: RawSpan) { count += bytes.byteCount }
}

struct RecordWriter: RecordOutput, ~Copyable {
    private var buffer: SecretBytes
    private var position = 0

    /// - Parameter buffer: As large as ``RecordSize`` said.
    init(_ buffer: consuming SecretBytes) { self.buffer = buffer }

    mutating func byte(_ byte: UInt8) {
        let position = position
        buffer.withMutableBytes { $0.storeBytes(of: byte, toByteOffset: position, as: UInt8.self) }
        self.position += 1
    }

    mutating func raw(_ bytes: RawSpan) {
        let range = position..<position + bytes.byteCount
        buffer.withMutableBytes { buffer in
            buffer.withPart(range) { part in
                unsafe part.withUnsafeMutableBytes { part in
                    unsafe bytes.withUnsafeBytes { unsafe part.copyMemory(from: $0) }
                }
            }
        }
        position = range.upperBound
    }

    consuming func finish() -> SecretBytes { buffer }
}
