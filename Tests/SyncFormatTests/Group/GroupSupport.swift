import SyncFormat
import TestSupport
import VaultFormat

/// Bytes of a layout, written as the document has them, and how they are read.
struct KeptLayout {
    let sample: [UInt8]
    let parse: ([UInt8]) throws(FormatError) -> [UInt8]

    init(_ sample: [UInt8], _ parse: @escaping ([UInt8]) throws(FormatError) -> [UInt8]) {
        (self.sample, self.parse) = (sample, parse)
    }

    /// Whether the sample is read and written the same, a higher version is named, a lower one and every part of it is
    /// refused, and whatever else is read has one spelling.
    var isStrict: Bool {
        rewritten(sample) == sample && checkGarbage(sample, rewritten)
            && (0..<sample.count).allSatisfy { rewritten(Array(sample.prefix($0))) == nil }
            && rewritten(sample + [0]) == nil
            && error { $0[0] = 2 } == .newerVersion(2) && error { $0[0] = 255 } == .newerVersion(255)
            && error { $0[0] = 0 } != nil && error { $0[0] = 0 } != .newerVersion(0)
    }

    /// What the sample is refused for, when it is changed.
    func error(_ change: (inout [UInt8]) -> Void) -> FormatError? {
        var bytes = sample
        change(&bytes)
        return formatError { () throws(FormatError) in _ = try parse(bytes) }
    }

    private func rewritten(_ bytes: [UInt8]) -> [UInt8]? { try? parse(bytes) }
}

extension [UInt8] {
    /// Other bytes from a place on, as many.
    mutating func put(_ bytes: [UInt8], at offset: Int) {
        replaceSubrange(offset..<offset + bytes.count, with: bytes)
    }
}

/// A hash of which there are many: a number in its first bytes.
func numbered(_ number: Int) -> [UInt8] {
    [UInt8(number >> 16), UInt8(number >> 8 & 255), UInt8(number & 255)] + repeated(1, 29)
}
