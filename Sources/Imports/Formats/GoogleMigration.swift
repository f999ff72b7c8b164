internal import OneTimeCodes
internal import SecretMemory
internal import VaultFormat

/// `otpauth-migration://offline?data=...`: an export of Google Authenticator, which is a message of Protocol Buffers in
/// base 64. An export of many codes is several such texts.
enum GoogleMigration {
    static let beginning = "otpauth-migration://"

    /// Which parts of each export were seen.
    struct Parts {
        private var exports: [UInt64: (size: Int, seen: Set<Int>)] = [:]
        private var count = 0
        /// Parts that all exports have as they say.
        private var sum = 0
        /// Parts of all exports, at most.
        private static let most = 10_000

        mutating func add(_ index: UInt64, of size: UInt64, export: UInt64, _ place: String) throws(ImportError) {
            count += 1
            guard size <= Parts.most, count <= Parts.most else {
                throw Parts.tooMany(place)
            }
            // An export of one part may say nothing of parts.
            guard index < max(size, 1) else { throw .malformed(place, "the number of a part is not valid") }
            if exports[export] == nil {
                // Each part that is not there is a note.
                sum += max(Int(size), 1)
                guard sum <= Parts.most else { throw Parts.tooMany(place) }
            }
            exports[export, default: (Int(size), [])].seen.insert(Int(index))
        }

        private static func tooMany(_ place: String) -> ImportError {
            ImportError(.tooLarge, place, "the exports have more than \(most) parts")
        }

        func noteMissing(_ result: inout Imported) {
            for (_, export) in exports.sorted(by: { $0.key < $1.key }) {
                for index in 0..<export.size where !export.seen.contains(index) {
                    result.note(
                        .leftOut, "a part of an export of Google Authenticator that is not in the file",
                        place: "part \(index + 1) of \(export.size)")
                }
            }
        }
    }

    static func read(
        _ line: RawSpan, _ place: String, _ parts: inout Parts, into result: inout Imported
    ) throws(ImportError) {
        let payload = try payload(line, place)
        try payload.withBytes { bytes throws(ImportError) in
            var message = ProtobufMessage(0..<bytes.byteCount, place, repeats: 1)
            var (size, index, export, number) = (UInt64(0), UInt64(0), UInt64(0), 0)
            while let field = try message.next(bytes) {
                switch (field.number, field.value) {
                case (1, .bytes(let range)):
                    number += 1
                    let place = "\(place), entry \(number)"
                    do throws(ImportError) { try entry(bytes, range, place, into: &result) } catch {
                        try result.leaveOut(error, place: place)
                    }
                // The version of the format; Google has changed it without changing what is here.
                case (2, .integer): break
                case (3, .integer(let value)): size = value
                case (4, .integer(let value)): index = value
                case (5, .integer(let value)): export = value
                default: result.note(.leftOut, "a part of an export that is not known", place: place)
                }
            }
            try parts.add(index, of: size, export: export, place)
        }
    }

    /// The message in the parameter `data`.
    private static func payload(_ line: RawSpan, _ place: String) throws(ImportError) -> SecretBytes {
        let front = "\(beginning)offline?data="
        guard line.begins(inAnyCase: front) else {
            throw .malformed(place, "this is no export of Google Authenticator")
        }
        let value = line.extracting(front.utf8.count..<line.byteCount)
        if let text = try OneTimeListAddress.decoded(value), let payload = try text.withBytes(SecretBytes.decoded) {
            return payload
        }
        throw .malformed(place, "the export of Google Authenticator is damaged or cut off")
    }

    private static func entry(
        _ bytes: RawSpan, _ range: Range<Int>, _ place: String, into result: inout Imported
    ) throws(ImportError) {
        var message = ProtobufMessage(range, place)
        var (secret, name, issuer, counter) = (0..<0, "", "", UInt64(0))
        var (algorithm, digits, kind) = (UInt64(0), UInt64(0), UInt64(0))
        var hasMore = false
        while let field = try message.next(bytes) {
            switch (field.number, field.value) {
            case (1, .bytes(let range)): secret = range
            case (2, .bytes(let range)): name = bytes.openText(range)
            case (3, .bytes(let range)): issuer = bytes.openText(range)
            case (4, .integer(let value)): algorithm = value
            case (5, .integer(let value)): digits = value
            case (6, .integer(let value)): kind = value
            case (7, .integer(let value)): counter = value
            // What the app knows the entry by.
            case (8, .bytes): break
            default: hasMore = true
            }
        }
        guard !secret.isEmpty else { throw .malformed(place, "the key is missing") }
        guard digits <= 2, kind <= 2, let counter = Int(exactly: counter) else {
            throw ImportError(.unsupported, place, "a kind of codes that is not known")
        }
        // Older versions write the issuer into the name too, or only there.
        if !issuer.isEmpty, name.utf8.starts(with: "\(issuer):".utf8) {
            name = String(name.utf8.dropFirst(issuer.utf8.count + 1)) ?? ""
        } else if issuer.isEmpty, let colon = name.utf8.firstIndex(of: UInt8(ascii: ":")) {
            issuer = String(name[..<colon])
            name = String(name.utf8[colon...].dropFirst()) ?? ""
        }
        let hashes = ["SHA1", "SHA1", "SHA256", "SHA512", "MD5"]
        let code = ForeignCode(
            kind: kind == 1 ? "hotp" : "totp", algorithm: algorithm < 5 ? hashes[Int(algorithm)] : "\(algorithm)",
            digits: digits == 2 ? 8 : 6, counter: kind == 1 ? counter : nil, issuer: issuer, account: name)
        let item = try ImportedItem(.oneTimeCode, path: [issuer, name], place: place)
        try item.addCode(code, key: ForeignCode.key(bytes.extracting(secret)))
        if hasMore { item.note(.leftOut, "a field that is not known") }
        try result.append(item)
    }
}

/// A message of Protocol Buffers: fields one after another. One that is known and there twice is refused, as nothing
/// says which one is meant.
struct ProtobufMessage {
    enum Value { case integer(UInt64), bytes(Range<Int>), fixed }

    private var position: Int
    /// Which of the fields that are known were there.
    private var seen: UInt64 = 0
    private let end: Int
    private let repeats: UInt64?
    private let place: String

    /// - Parameter repeats: The number of the field that may be there more than once.
    init(_ range: Range<Int>, _ place: String, repeats: UInt64? = nil) {
        (position, end, self.place, self.repeats) = (range.lowerBound, range.upperBound, place, repeats)
    }

    /// The next field; nil behind the last one.
    /// - Throws: ``ImportError`` for what is no message.
    mutating func next(_ bytes: RawSpan) throws(ImportError) -> (number: UInt64, value: Value)? {
        guard position < end else { return nil }
        let tag = try integer(bytes)
        let number = tag >> 3
        guard number > 0, number < 1 << 29 else { throw fault }
        if number <= 8, number != repeats {
            guard seen >> number & 1 == 0 else { throw fault }
            seen |= 1 << number
        }
        switch tag & 7 {
        case 0: return (number, .integer(try integer(bytes)))
        case 1: return (number, try skip(8))
        case 2:
            let count = try integer(bytes)
            guard count <= UInt64(end - position) else { throw fault }
            position += Int(count)
            return (number, .bytes(position - Int(count)..<position))
        case 5: return (number, try skip(4))
        default: throw fault
        }
    }

    private var fault: ImportError { .malformed(place, "the export of Google Authenticator is damaged or cut off") }

    private mutating func skip(_ count: Int) throws(ImportError) -> Value {
        guard count <= end - position else { throw fault }
        position += count
        return .fixed
    }

    /// Seven bits a byte, the least significant first; the last byte has no high bit.
    private mutating func integer(_ bytes: RawSpan) throws(ImportError) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard position < end else { throw fault }
            let byte = bytes[position]
            position += 1
            let bits = UInt64(byte & 0x7F)
            guard (bits << shift) >> shift == bits else { throw fault }
            value |= bits << shift
            if byte & 0x80 == 0 { return value }
        }
        throw fault
    }
}
