internal import Holdfast
internal import HoldfastCommand
internal import SystemCalls

/// Looks for many texts at once in files of any size, with a block in memory at a time.
struct DiskSearch {
    /// One way a text could lie on a disk.
    struct Needle: Sendable {
        /// Which text it is, for the report.
        let label: String
        let bytes: [UInt8]
    }

    private let needles: [Needle]
    /// Needles by their first two bytes.
    private let buckets: [UInt16: [Int]]
    private let beginnings: [Bool]
    private let longest: Int
    private let blockSize: Int

    /// Needles of fewer than four bytes would be found in any noise and are not taken.
    /// - Parameter blockSize: Bytes read at a time.
    init(_ needles: [Needle], blockSize: Int = 256 * 1024) {
        let needles = needles.filter { $0.bytes.count >= 4 }
        var buckets: [UInt16: [Int]] = [:]
        var beginnings = [Bool](repeating: false, count: 1 << 16)
        for (index, needle) in needles.enumerated() {
            let key = UInt16(needle.bytes[0]) << 8 | UInt16(needle.bytes[1])
            buckets[key, default: []].append(index)
            beginnings[Int(key)] = true
        }
        self.needles = needles
        self.blockSize = blockSize
        self.buckets = buckets
        self.beginnings = beginnings
        longest = needles.map(\.bytes.count).max() ?? 0
    }

    var count: Int { needles.count }

    /// What was read and what was found in it.
    struct Report {
        var files = 0
        var bytes: UInt64 = 0
        /// `label in path`.
        var found: [String] = []
    }

    /// - Throws: A failure when a file cannot be read: what was not looked at proves nothing.
    func search(_ paths: [String]) throws(CommandError) -> Report {
        var report = Report()
        for path in paths { try search(path, &report) }
        return report
    }

    private func search(_ path: String, _ report: inout Report) throws(CommandError) {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { throw .failure(.init(word: "search"), "\(path): \(SystemError.last)") }
        defer { close(file) }
        report.files += 1
        var block: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: blockSize)
        while true {
            var span = piece.mutableSpan
            var bytes = unsafe span.mutableBytes
            let got = try Descriptors.read(file, into: &bytes)
            if got == 0 { break }
            report.bytes += UInt64(got)
            // The end of the block before stays, so that nothing on the border is missed.
            block.removeFirst(max(0, block.count - (longest - 1)))
            block += piece[..<got]
            for index in found(in: block) {
                let line = "\(needles[index].label) in \(path)"
                if !report.found.contains(line) { report.found.append(line) }
            }
        }
    }

    private func found(in block: [UInt8]) -> [Int] {
        var found: [Int] = []
        unsafe block.withUnsafeBufferPointer { block in
            guard block.count >= 2 else { return }
            for start in 0..<(block.count - 1) {
                let key = unsafe UInt16(block[start]) << 8 | UInt16(block[start + 1])
                guard beginnings[Int(key)] else { continue }
                for index in buckets[key] ?? [] {
                    let bytes = needles[index].bytes
                    guard start + bytes.count <= block.count else { continue }
                    let isHere = bytes.indices.allSatisfy { unsafe block[start + $0] == bytes[$0] }
                    if isHere { found.append(index) }
                }
            }
        }
        return found
    }
}

extension DiskSearch.Needle {
    /// A text in every form that it might lie in: as it is, in base 16 and, at each of the three alignments, base 64.
    static func all(_ label: String, _ bytes: [UInt8]) -> [DiskSearch.Needle] {
        var needles = [DiskSearch.Needle(label: label, bytes: bytes)]
        for digits in ["0123456789abcdef", "0123456789ABCDEF"] {
            let digits = Array(digits.utf8)
            let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
            needles.append(DiskSearch.Needle(label: label + " (base 16)", bytes: text))
        }
        for shift in 0..<3 {
            needles.append(DiskSearch.Needle(label: label + " (base 64)", bytes: base64(bytes, behind: shift)))
        }
        return needles
    }

    /// The letters of base 64 that depend on `bytes` alone when `shift` other bytes stand before them.
    private static func base64(_ bytes: [UInt8], behind shift: Int) -> [UInt8] {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        let first = (shift * 8 + 5) / 6
        let end = (shift + bytes.count) * 8 / 6
        guard first < end else { return [] }
        return (first..<end).map { letter in
            var value = 0
            for bit in letter * 6..<letter * 6 + 6 {
                let byte = bytes[bit / 8 - shift]
                value = value << 1 | Int(byte >> UInt8(7 - bit % 8) & 1)
            }
            return alphabet[value]
        }
    }
}
