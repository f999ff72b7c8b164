internal import SecretMemory
internal import VaultFormat
internal import VaultStorage

/// Gathers what is told of many records, and sorts it by collection and name.
///
/// All of it lies one behind the other in one array until all are there, and becomes strings in its final order:
/// sorting strings takes longer than decrypting what they come from.
struct RecordListing: ~Copyable {
    /// A record in ``bytes``: its fields, the size of its content, its collection, a zero byte, its name.
    private struct Entry {
        static let textOffset = RecordFields.size + 8
        let start: Int
        let fields: RecordFields
        let collection: Range<Int>
        let name: Range<Int>

        init(at start: Int, _ fields: RecordFields) {
            self.start = start
            self.fields = fields
            let text = start + Entry.textOffset
            collection = text..<text + fields.collectionSize
            name = collection.upperBound + 1..<collection.upperBound + 1 + fields.nameSize
        }
    }

    /// Where an entry begins, and eight bytes of its texts as a number that is ordered as they are.
    private struct Place {
        var word: UInt64 = 0
        let start: Int
    }

    private let collection: [UInt8]?
    private let admission: Admission
    private var bytes: [UInt8] = []
    private var places: [Place] = []
    /// Whether all texts are ASCII without zero bytes: strings are then ordered as these bytes are.
    private var isPlain = true

    /// - Parameters:
    ///   - collection: The only one that is listed. Without it all are but the reserved ones.
    ///   - admission: Which collections are reached.
    init(of collection: String?, reachedBy admission: Admission) {
        self.collection = collection.map { Array($0.utf8) }
        self.admission = admission
    }

    /// Adds a record if it is one of those that are listed.
    /// - Throws: `damaged` for a record whose texts or content are not what they should be.
    mutating func add(_ fields: RecordFields, _ plaintext: RawSpan) throws(VaultError) {
        guard fields.nameSize > 0, fields.nameSize <= RecordName.maximumNameSize,
            fields.collectionSize <= RecordName.maximumCollectionSize,
            let size = Vault.contentSize(fields, plaintext)
        else { throw .unreadableRecord }
        let nameStart = RecordFields.size + fields.collectionSize
        let entry = Entry(at: bytes.count, fields)
        append(plaintext.extracting(0..<RecordFields.size))
        unsafe withUnsafeBytes(of: size.littleEndian) { size in unsafe bytes.append(contentsOf: size) }
        append(plaintext.extracting(RecordFields.size..<nameStart))
        bytes.append(0)
        append(plaintext.extracting(nameStart..<nameStart + fields.nameSize))
        let isPlain = isPlain(entry)
        guard isPlain || isText(entry) else { throw .unreadableRecord }
        if isListed(entry) {
            self.isPlain = self.isPlain && isPlain
            places.append(Place(start: entry.start))
        } else {
            bytes.removeLast(bytes.count - entry.start)
        }
    }

    private mutating func append(_ part: RawSpan) {
        unsafe part.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
    }

    /// Whether both texts are ASCII without zero bytes.
    private func isPlain(_ entry: Entry) -> Bool {
        // A zero becomes 255. Without a branch for each byte this takes many at once.
        func isPlain(_ text: ArraySlice<UInt8>) -> Bool {
            text.reduce(0 as UInt8) { $0 | ($1 &- 1) | $1 } & 0x80 == 0
        }
        return isPlain(bytes[entry.collection]) && isPlain(bytes[entry.name])
    }

    private func isText(_ entry: Entry) -> Bool {
        String(validating: bytes[entry.collection], as: UTF8.self) != nil
            && String(validating: bytes[entry.name], as: UTF8.self) != nil
    }

    private func isListed(_ entry: Entry) -> Bool {
        let found = bytes[entry.collection]
        if !admission.shut.isEmpty && admission.shut[String(decoding: found, as: UTF8.self)] != nil { return false }
        let isInTrash = entry.fields.form == .item && bytes[entry.name.lowerBound] == Admission.reservedPrefix
        if isInTrash { return false }
        // By their bytes, as the lookup does: texts that only look alike are different names.
        if let collection { return found.elementsEqual(collection) }
        return found.first != Admission.reservedPrefix
    }

    /// What was gathered, in order.
    /// - Throws: `damaged`.
    consuming func sorted() throws(VaultError) -> [Vault.RecordInfo] {
        var places = places
        bytes += [UInt8](repeating: 0, count: 8)  // the last word may reach beyond the last text
        let isPlain = isPlain
        return try bytes.withRawSpan { bytes throws(VaultError) in
            unsafe places.withUnsafeMutableBufferPointer { unsafe RecordListing.sort(&$0, bytes, at: 0) }
            var infos = try RecordListing.infos(places, bytes)
            // Nearly in order already.
            if !isPlain { infos.sort { ($0.collection, $0.name) < ($1.collection, $1.name) } }
            return infos
        }
    }

    private static func infos(_ places: [Place], _ bytes: RawSpan) throws(VaultError) -> [Vault.RecordInfo] {
        var infos: [Vault.RecordInfo] = []
        infos.reserveCapacity(places.count)
        var collection = (bytes: bytes.extracting(0..<0), text: "")
        for (index, place) in places.enumerated() {
            // In this order they lie anywhere: without this each would be waited for.
            if index + 8 < places.count { bytes.fetch(at: places[index + 8].start, 128) }
            let entry = try entry(place.start, bytes)
            let found = bytes.extracting(entry.collection)
            if !found.isEqual(to: collection.bytes) { collection = (found, found.text) }
            let name = bytes.extracting(entry.name).text
            let size = bytes.present(at: entry.start + RecordFields.size, as: UInt64.self)
            infos.append(Vault.RecordInfo(collection.text, name, size, entry.fields))
        }
        return infos
    }

    private static func entry(_ start: Int, _ bytes: RawSpan) throws(VaultError) -> Entry {
        do throws(FormatError) {
            return Entry(at: start, try RecordFields(front: bytes.extracting(start..<bytes.byteCount)))
        } catch { throw .unreadableRecord }
    }

    /// Sorts by the texts from `offset` on: by eight bytes, and those that have these in common by the next ones.
    private static func sort(_ places: inout UnsafeMutableBufferPointer<Place>, _ bytes: RawSpan, at offset: Int) {
        var isOver = true
        for index in places.indices {
            let start = unsafe places[index].start
            let word = word(start, bytes, at: offset)
            unsafe places[index].word = word.value
            isOver = isOver && word.isLast
        }
        unsafe order(&places)
        var start = 0
        while !isOver && start < places.count {
            var end = start + 1
            while unsafe end < places.count && places[end].word == places[start].word { end += 1 }
            if end - start > 1 {
                var equal = unsafe UnsafeMutableBufferPointer(rebasing: places[start..<end])
                unsafe sort(&equal, bytes, at: offset + 8)
            }
            start = end
        }
    }

    /// Sorts by the words: many by one byte after the other from the last, without comparing them (a radix sort).
    private static func order(_ places: inout UnsafeMutableBufferPointer<Place>) {
        guard places.count > 256 else { return unsafe places.sort { $0.word < $1.word } }
        let first = unsafe places[0].word
        let differences = unsafe places.reduce(0 as UInt64) { $0 | ($1.word ^ first) }
        var sorted = unsafe Array(places)
        for shift in stride(from: 0 as UInt64, to: 64, by: 8) where differences >> shift & 0xFF != 0 {
            var next = [Int](repeating: 0, count: 257)
            for index in places.indices { unsafe next[Int(places[index].word >> shift & 0xFF) + 1] += 1 }
            for digit in 1...256 { next[digit] += next[digit - 1] }
            for index in places.indices {
                let digit = unsafe Int(places[index].word >> shift & 0xFF)
                sorted[next[digit]] = unsafe places[index]
                next[digit] += 1
            }
            _ = unsafe places.update(fromContentsOf: sorted)
        }
    }

    /// The texts' eight bytes from `offset` on, with zeros behind their end, and whether none follow.
    private static func word(_ start: Int, _ bytes: RawSpan, at offset: Int) -> (value: UInt64, isLast: Bool) {
        let sizes = bytes.present(at: start + RecordFields.sizesOffset, as: UInt32.self)
        let rest = Int(sizes & 0xFFFF) + 1 + Int(sizes >> 16) - offset
        guard rest > 0 else { return (0, true) }
        let word = bytes.present(at: start + Entry.textOffset + offset, as: UInt64.self).byteSwapped
        return rest < 8 ? (word & (.max << UInt64(8 * (8 - rest))), true) : (word, rest == 8)
    }
}

extension RawSpan {
    /// The bytes as text, which they are known to be.
    fileprivate var text: String { unsafe withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) } }

    fileprivate func isEqual(to other: RawSpan) -> Bool {
        guard byteCount == other.byteCount else { return false }
        return unsafe withUnsafeBytes { bytes in
            unsafe other.withUnsafeBytes { unsafe bytes.elementsEqual($0) }
        }
    }
}

extension VaultError {
    static let unreadableRecord = VaultError.damaged("a record cannot be read")
}
