internal import Cryptography
package import SecretMemory
internal import SystemCalls
internal import VaultFormat

/// Passwords that became known in breaches, by their SHA-1, in a file or a folder that the user has: no network is
/// asked.
///
/// It is one file of lines `DIGEST` or `DIGEST:COUNT` in ascending order, which is searched where it lies, whatever its
/// size; or a folder with a file for each range, named by the first five digits (`21BD1` or `21BD1.txt`), with a line
/// `REST:COUNT` for each digest that begins so.
///
/// Whoever wrote it may be hostile: every line that is looked at is checked, and nothing but a regular file is read. A
/// search stops near the digest of a password, so what it reads lies in locked memory, and no error says where it was.
package final class BreachList: Sendable {
    /// What a list says of a password.
    package enum Answer: Sendable, Hashable {
        /// It is not in the list.
        case absent
        /// It is; how often it was seen, where the list says so.
        case listed(times: UInt64?)
        /// The folder has no file for its range.
        case noRange
    }

    private let source: OwnedDescriptor
    /// Nil for a folder.
    private let size: UInt64?

    /// A real range has some 60 kB.
    private static let largestRange: UInt64 = 4 << 20
    /// What is read line by line at the end of a search, and how much is read at once.
    private static let block = 4096
    /// Places of a new file that are looked at: enough to tell another order.
    private static let samples: UInt64 = 64

    /// Opens a list and looks at some places of it.
    package init(_ path: String) throws(BreachListError) {
        do throws(SystemError) {
            // Before it is opened: to open a device may do something.
            var status = stat()
            try uninterrupted { unsafe stat(path, &status) }
            guard BreachList.isRead(status) else { throw SystemError(EINVAL) }
            source = try OwnedDescriptor(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
            status = try source.status()
            guard BreachList.isRead(status) else { throw SystemError(EINVAL) }
            size = status.st_mode & S_IFMT == S_IFREG ? UInt64(clamping: status.st_size) : nil
        } catch {
            throw error.number == EINVAL ? .notRegular : .unreadable(error)
        }
        if let size { try BreachList.sample(source, size) }
    }

    /// What a chosen path stands for: one of the files of a folder of ranges stands for the folder.
    package static func place(_ path: String) -> String {
        let name = path.split(separator: "/").last ?? ""
        let stem = name.hasSuffix(".txt") ? name.dropLast(4) : name
        guard stem.utf8.count == BreachLine.rangeDigits, stem.utf8.allSatisfy({ $0.hexValue != nil }) else {
            return path
        }
        var status = stat()
        guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return path }
        return Paths.parent(of: path)
    }

    private static func isRead(_ status: stat) -> Bool { [S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) }

    /// Looks for a password.
    /// - Parameter digest: Its SHA-1.
    package func find(_ digest: borrowing SecretBytes) throws(BreachListError) -> Answer {
        precondition(digest.count == SHA1.size)
        defer { WorkingMemory.wipe() }
        if let size { return try find(digest, size) }
        return try findInFolder(digest)
    }

    private func findInFolder(_ digest: borrowing SecretBytes) throws(BreachListError) -> Answer {
        guard let range = try range(of: digest) else { return .noRange }
        let size: UInt64
        do throws(SystemError) { size = UInt64(clamping: try range.status().st_size) } catch {
            throw .unreadable(error)
        }
        guard size <= BreachList.largestRange else { throw .largeRange }
        var answer = Answer.absent
        try BreachList.scan(range, size, 0..<size, digits: BreachLine.restDigits) {
            line, bytes throws(BreachListError) in
            // Ranges are padded with digests that were never seen.
            guard line.order(to: digest, bytes) == 0, line.times != 0 else { return true }
            answer = .listed(times: line.times)
            return false
        }
        return answer
    }

    /// The file of a digest's range; nil where there is none.
    private func range(of digest: borrowing SecretBytes) throws(BreachListError) -> OwnedDescriptor? {
        let folder = Beneath(source.number)
        for (digits, ending) in [(upper, ".txt"), (upper, ""), (lower, ".txt"), (lower, "")] {
            // Short enough to be no memory of its own.
            var name = ""
            digest.withBytes { digest in
                for place in 0..<BreachLine.rangeDigits {
                    name.unicodeScalars.append(digits[Int(digest.digit(at: place))])
                }
            }
            do throws(BeneathError) {
                return OwnedDescriptor(owning: try folder.file(name + ending, O_RDONLY, evenIfLinked: true))
            } catch {
                switch error {
                case .notThere: continue
                case .system(let number): throw .unreadable(SystemError(number))
                default: throw .notRegular
                }
            }
        }
        return nil
    }

    /// Halves the part of the file in which the line must begin, until that is short.
    private func find(_ digest: borrowing SecretBytes, _ size: UInt64) throws(BreachListError) -> Answer {
        var (low, high) = (UInt64(0), size)
        // What stands before `low` and at `high`: no line between them is outside of that.
        var below = try BreachList.memory(SHA1.size)
        var above = try BreachList.memory(SHA1.size)
        above.withMutableBytes { above in
            for offset in 0..<SHA1.size { above.storeBytes(of: UInt8.max, toByteOffset: offset, as: UInt8.self) }
        }
        var found = try BreachList.memory(SHA1.size)
        var room = try BreachList.memory(2 * BreachLine.room)
        while high - low > UInt64(BreachList.block) {
            let middle = low + (high - low) / 2
            let line = try BreachList.line(in: source, size, from: middle, &room)
            room.withBytes { line.decode($0, into: &found) }
            guard !found.isBefore(below), !above.isBefore(found) else { throw .notSorted(at: nil) }
            if found.isBefore(digest) {
                swap(&below, &found)
                low = middle - 1 + UInt64(line.next)
            } else if digest.isBefore(found) {
                swap(&above, &found)
                high = middle
            } else {
                return BreachList.answer(line)
            }
        }
        var answer = Answer.absent
        try BreachList.scan(source, size, low..<high, digits: BreachLine.digits) {
            line, bytes throws(BreachListError) in
            line.decode(bytes, into: &found)
            guard !found.isBefore(below), !above.isBefore(found) else { throw .notSorted(at: nil) }
            swap(&below, &found)
            guard below.isEqual(to: digest) else { return true }
            answer = BreachList.answer(line)
            return false
        }
        return answer
    }

    private static func answer(_ line: BreachLine) -> Answer { line.times == 0 ? .absent : .listed(times: line.times) }

    /// Checks the beginning and some places of a file, so that another kind of file is refused before any password is
    /// looked for.
    private static func sample(_ file: borrowing OwnedDescriptor, _ size: UInt64) throws(BreachListError) {
        guard size > 0 else { throw .empty }
        var last = try memory(SHA1.size)
        var found = try memory(SHA1.size)
        try scan(file, size, 0..<min(size, UInt64(block)), digits: BreachLine.digits, tellsPlace: true) {
            line, bytes throws(BreachListError) in
            line.decode(bytes, into: &found)
            guard !found.isBefore(last) else { throw .notSorted(at: line.place) }
            swap(&last, &found)
            return true
        }
        var room = try memory(2 * BreachLine.room)
        for number in 1..<samples where size > 2 * UInt64(block) {
            let place = max(UInt64(block), size / samples * number)
            guard place < size - UInt64(block) else { break }
            let line = try line(in: file, size, from: place, &room, tellsPlace: true)
            room.withBytes { line.decode($0, into: &found) }
            guard !found.isBefore(last) else { throw .notSorted(at: line.place) }
            swap(&last, &found)
        }
    }

    /// The first line that begins at a place or behind it; its offsets are those from one byte before the place.
    private static func line(
        in file: borrowing OwnedDescriptor, _ size: UInt64, from place: UInt64, _ room: inout SecretBytes,
        tellsPlace: Bool = false
    ) throws(BreachListError) -> BreachLine {
        let start = place - 1
        let count = try read(file, at: start, Int(min(size - start, UInt64(room.count))), &room)
        return try room.withBytes { bytes throws(BreachListError) in
            var end = 0
            while end < BreachLine.room, end < count, bytes.byte(at: end) != BreachLine.feed { end += 1 }
            guard end < BreachLine.room, end + 1 < count else { throw .longLine(at: tellsPlace ? start : nil) }
            let isWhole = start + UInt64(count) == size
            return try BreachLine(
                bytes.extracting(0..<count), at: end + 1, digits: BreachLine.digits, isWhole: isWhole,
                base: tellsPlace ? start : nil)
        }
    }

    /// Goes through the lines that begin in a part of a file, as far as the body wants.
    /// - Parameter body: Gets each line with the bytes in which it lies; false ends it.
    private static func scan(
        _ file: borrowing OwnedDescriptor, _ size: UInt64, _ part: Range<UInt64>, digits: Int, tellsPlace: Bool = false,
        _ body: (BreachLine, RawSpan) throws(BreachListError) -> Bool
    ) throws(BreachListError) {
        var room = try memory(block)
        var place = part.lowerBound
        while place < part.upperBound {
            let count = try read(file, at: place, Int(min(size - place, UInt64(block))), &room)
            let isWhole = place + UInt64(count) == size
            let next = try room.withBytes { bytes throws(BreachListError) -> Int? in
                let bytes = bytes.extracting(0..<count)
                var start = 0
                // A line that may be cut is read again with what follows.
                while start < count, isWhole || count - start >= BreachLine.room,
                    place + UInt64(start) < part.upperBound
                {
                    let line = try BreachLine(
                        bytes, at: start, digits: digits, isWhole: isWhole, base: tellsPlace ? place : nil)
                    guard try body(line, bytes) else { return nil }
                    start = line.next
                }
                return start
            }
            guard let next else { return }
            place += UInt64(next)
        }
    }

    private static func read(
        _ file: borrowing OwnedDescriptor, at place: UInt64, _ count: Int, _ room: inout SecretBytes
    ) throws(BreachListError) -> Int {
        let got: Int
        do throws(SystemError) {
            got = try room.withMutableBytes { room throws(SystemError) in
                try room.withPart(0..<count) { part throws(SystemError) in try file.read(into: &part, at: place) }
            }
        } catch { throw .unreadable(error) }
        guard got == count else { throw .changed }
        return count
    }

    private static func memory(_ count: Int) throws(BreachListError) -> SecretBytes {
        do throws(SecretMemoryError) { return try SecretBytes(zeroed: count) } catch { throw .memory(error) }
    }
}

private let upper = Array("0123456789ABCDEF".unicodeScalars)
private let lower = Array("0123456789abcdef".unicodeScalars)

/// A line of a list, by where it lies in the bytes that were read.
struct BreachLine {
    /// Digits of a digest, and those that name its range.
    static let digits = 2 * SHA1.size
    static let rangeDigits = 5
    static let restDigits = digits - rangeDigits
    /// The longest line: a digest, a colon, twenty digits, and its end.
    static let room = digits + 1 + 20 + 2
    static let feed = UInt8(ascii: "\n")

    /// Where the digits begin.
    let start: Int
    let digits: Int
    /// How often it was seen; nil where the line does not say so.
    let times: UInt64?
    /// Where the next line begins.
    let next: Int
    /// Where it is in the file, where that may be told.
    let place: UInt64?

    /// - Parameters:
    ///   - isWhole: Whether the bytes end with the file.
    ///   - base: Where the bytes begin in the file, where that may be told.
    init(_ bytes: RawSpan, at start: Int, digits: Int, isWhole: Bool, base: UInt64?) throws(BreachListError) {
        let place = base.map { $0 + UInt64(start) }
        let limit = min(bytes.byteCount, start + BreachLine.room)
        var end = start
        while end < limit, bytes.byte(at: end) != BreachLine.feed { end += 1 }
        guard end < limit || isWhole && end == bytes.byteCount else {
            // A text without digests is told so, however long its lines are.
            guard BreachLine.hasDigits(bytes, start..<end, digits) else { throw .notHex(digits: digits, at: place) }
            throw .longLine(at: place)
        }
        next = min(end + 1, bytes.byteCount)
        if end > start, bytes.byte(at: end - 1) == UInt8(ascii: "\r") { end -= 1 }
        guard BreachLine.hasDigits(bytes, start..<end, digits) else { throw .notHex(digits: digits, at: place) }
        times = try BreachLine.times(bytes, start + digits..<end, isNeeded: digits == BreachLine.restDigits, place)
        (self.start, self.digits, self.place) = (start, digits, place)
    }

    private static func hasDigits(_ bytes: RawSpan, _ range: Range<Int>, _ digits: Int) -> Bool {
        range.count >= digits
            && (range.lowerBound..<range.lowerBound + digits).allSatisfy { bytes.byte(at: $0).hexValue != nil }
    }

    private static func times(
        _ bytes: RawSpan, _ range: Range<Int>, isNeeded: Bool, _ place: UInt64?
    ) throws(BreachListError) -> UInt64? {
        if range.isEmpty, !isNeeded { return nil }
        guard range.count > 1, bytes.byte(at: range.lowerBound) == UInt8(ascii: ":") else { throw .noCount(at: place) }
        var times: UInt64 = 0
        for offset in range.dropFirst() {
            let byte = bytes.byte(at: offset)
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { throw .noCount(at: place) }
            let (tenfold, isOver) = times.multipliedReportingOverflow(by: 10)
            let (sum, isAbove) = tenfold.addingReportingOverflow(UInt64(byte - UInt8(ascii: "0")))
            guard !isOver, !isAbove else { throw .noCount(at: place) }
            times = sum
        }
        return times
    }

    /// Puts the digest, whole, into 20 bytes.
    func decode(_ bytes: RawSpan, into digest: inout SecretBytes) {
        digest.withMutableBytes { digest in
            for offset in 0..<min(digest.byteCount, digits / 2) {
                let high = bytes.byte(at: start + 2 * offset).hexValue ?? 0
                let low = bytes.byte(at: start + 2 * offset + 1).hexValue ?? 0
                digest.storeBytes(of: high << 4 | low, toByteOffset: offset, as: UInt8.self)
            }
        }
    }

    /// Compares the last digits of a digest with those of the line: 0 where they are the same.
    func order(to digest: borrowing SecretBytes, _ bytes: RawSpan) -> UInt8 {
        digest.withBytes { digest in
            var difference: UInt8 = 0
            for place in 0..<digits {
                let digit = bytes.byte(at: start + place).hexValue ?? 0
                difference |= digit ^ digest.digit(at: BreachLine.digits - digits + place)
            }
            return difference
        }
    }
}

extension SecretBytes {
    fileprivate borrowing func isBefore(_ other: borrowing SecretBytes) -> Bool {
        withBytes { own in other.withBytes { own.isBefore($0) } }
    }
}

extension RawSpan {
    fileprivate func byte(at offset: Int) -> UInt8 { present(at: offset, as: UInt8.self) }

    /// The hexadecimal digit at a place of a digest's text.
    fileprivate func digit(at place: Int) -> UInt8 {
        let byte = byte(at: place / 2)
        return place % 2 == 0 ? byte >> 4 : byte & 15
    }
}

extension UInt8 {
    fileprivate var hexValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
