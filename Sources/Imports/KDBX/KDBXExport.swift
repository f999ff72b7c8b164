internal import Cryptography
package import Items
package import SecretMemory
internal import SystemCalls
internal import VaultFormat

/// Writes a database in the format KDBX 4, which KeePass, KeePassXC and their like read: ChaCha20 and Argon2id.
package struct KDBXExport: ~Copyable {
    private var xml = SecretBuffer(limit: ImportLimits.expanded)
    private var files: [KeePassTree.File] = []

    /// An empty database.
    /// - Throws: ``ImportError``.
    package init(title: String) throws(ImportError) {
        try write(
            "<?xml version=\"1.0\" encoding=\"utf-8\" standalone=\"yes\"?>\n<KeePassFile><Meta><Generator>Holdfast</Generator>"
        )
        try write("<DatabaseName>")
        try write(escaped: title)
        try write("</DatabaseName><MemoryProtection><ProtectPassword>True</ProtectPassword></MemoryProtection>")
        try write("<RecycleBinEnabled>False</RecycleBinEnabled></Meta><Root><Group><UUID>")
        try writeID(try KDBXExport.random(16))
        try write("</UUID><Name>Root</Name>")
    }

    /// What the entry begins with, for an item of a path; groups are not repeated: each entry stands in the group of
    /// its path.
    /// - Throws: ``ImportError``; also where a value is no text and no file.
    package mutating func append(_ entries: borrowing KDBXGroup) throws(ImportError) {
        for child in entries.children {
            try write("<Group><UUID>")
            try writeID(try KDBXExport.random(16))
            try write("</UUID><Name>")
            try write(escaped: child.name)
            try write("</Name>")
            try append(child)
            try write("</Group>")
        }
        for entry in entries.items {
            try entry.withItem { item throws(ImportError) in try append(item, title: entry.name, entry.origin) }
        }
    }

    private mutating func append(_ item: borrowing Item, title: String, _ origin: String?) throws(ImportError) {
        try write("<Entry><UUID>")
        try writeID(item.id.bytes)
        try write("</UUID>")
        try writeTimes(created: item.created, modified: item.modified)
        if !item.tags.isEmpty {
            try write("<Tags>")
            try write(escaped: item.tags.joined(separator: ";"))
            try write("</Tags>")
        }
        try write(string: "Title", text: title)
        if let origin { try write(string: KeePassTree.originKey, text: origin) }
        var used: Set<String> = ["Title", KeePassTree.originKey]
        for field in item.fields {
            let key = KDBXExport.key(field, &used)
            let file = try item.withFile(of: field) { name, content throws(ImportError) in
                (name, try KeePassTree.File(content))
            }
            if let file {
                files.append(file.1)
                try write(binary: file.0)
            } else if item.withValue(of: field, KDBXExport.isText) {
                try item.withValue(of: field) { value throws(ImportError) in
                    try write(string: key, value: value, isSecret: !field.kind.isOpen)
                }
            } else {
                // XML cannot have it; as a file it comes back byte by byte.
                files.append(try item.withValue(of: field) { value throws(ImportError) in try KeePassTree.File(value) })
                try write(binary: key + ".bin")
            }
        }
        _ = try item.withNotes { notes throws(ImportError) in try write(string: "Notes", value: notes, isSecret: false)
        }
        try write("</Entry>")
    }

    /// Refers to the last file.
    private mutating func write(binary name: String) throws(ImportError) {
        try write("<Binary><Key>")
        try write(escaped: name)
        try write("</Key><Value Ref=\"\(files.count - 1)\"/></Binary>")
    }

    /// Whether XML can have a value.
    private static func isText(_ value: RawSpan) -> Bool {
        guard value.isUTF8 else { return false }
        return (0..<value.byteCount).allSatisfy { [9, 10, 13].contains(value[$0]) || value[$0] >= 0x20 }
    }

    /// KeePass' names for the usual fields; a number behind the label where it was used already.
    private static func key(_ field: Item.Field, _ used: inout Set<String>) -> String {
        let usual: [String: String] = ["username": "UserName", "password": "Password", "website": "URL"]
        var key = usual[field.label.lowercased()] ?? field.label
        if field.kind == .oneTimeCode { key = "otp" }
        if key == "Notes" { key = "notes" }
        var (name, number) = (key, 2)
        while !used.insert(name).inserted {
            name = "\(key) \(number)"
            number += 1
        }
        return name
    }

    private mutating func writeTimes(created: Int64, modified: Int64) throws(ImportError) {
        try write("<Times><CreationTime>")
        try writeTime(created)
        try write("</CreationTime><LastModificationTime>")
        try writeTime(modified)
        try write("</LastModificationTime><Expires>False</Expires></Times>")
    }

    /// Seconds since the year 1, in base 64.
    private mutating func writeTime(_ milliseconds: Int64) throws(ImportError) {
        let seconds = milliseconds / 1000 + 62_135_596_800
        try writeID((0..<8).map { UInt8(truncatingIfNeeded: seconds >> (8 * Int64($0))) })
    }

    private mutating func writeID(_ bytes: [UInt8]) throws(ImportError) {
        do throws(SecretMemoryError) { try unsafe Base64.append(bytes.span.bytes, to: &xml) } catch {
            throw ImportError(error)
        }
    }

    private mutating func write(string key: String, text: String) throws(ImportError) {
        let bytes = Array(text.utf8)
        try unsafe write(string: key, value: bytes.span.bytes, isSecret: false)
    }

    private mutating func write(string key: String, value: RawSpan, isSecret: Bool) throws(ImportError) {
        try write("<String><Key>")
        try write(escaped: key)
        // The whole content is encrypted; the mark keeps the value hidden in the program that opens it.
        try write(isSecret ? "</Key><Value ProtectInMemory=\"True\">" : "</Key><Value>")
        for offset in 0..<value.byteCount { try write(character: value[offset]) }
        try write("</Value></String>")
    }

    private mutating func write(escaped text: String) throws(ImportError) {
        for byte in text.utf8 { try write(character: byte) }
    }

    private mutating func write(character byte: UInt8) throws(ImportError) {
        switch byte {
        case UInt8(ascii: "<"): try write("&lt;")
        case UInt8(ascii: ">"): try write("&gt;")
        case UInt8(ascii: "&"): try write("&amp;")
        case UInt8(ascii: "\""): try write("&quot;")
        case 0x0D: try write("&#xD;")
        case 0x09, 0x0A, 0x20...0xFF:
            do throws(SecretMemoryError) { try xml.append(byte) } catch { throw ImportError(error) }
        default: try write("?")  // in a name; values with such bytes are files
        }
    }

    private mutating func write(_ text: String) throws(ImportError) {
        do throws(SecretMemoryError) { try xml.append(text) } catch { throw ImportError(error) }
    }

    private static func random(_ count: Int) throws(ImportError) -> [UInt8] {
        try cryptography(SecureRandom.bytes(count))
    }
}

/// Items by the parts of their paths.
package final class KDBXGroup {
    /// An item to be written.
    package final class Entry {
        let name: String
        /// Where it was, if group and title do not say it.
        let origin: String?
        private let item: Item

        init(_ name: String, origin: String?, _ item: consuming Item) {
            self.name = name
            self.origin = origin
            self.item = item
        }

        func withItem<E: Error>(_ body: (borrowing Item) throws(E) -> Void) throws(E) { try body(item) }
    }

    let name: String
    fileprivate(set) var children: [KDBXGroup] = []
    fileprivate(set) var items: [Entry] = []

    package init(_ name: String = "") { self.name = name }

    /// Puts an item into the group of its path.
    /// - Parameter written: How the entry is written among all of the vault; two that look the same are told apart by
    ///   it.
    package func add(_ entry: EntryPath, written: String? = nil, _ item: consuming Item) {
        let parts = ImportedItem.parts(of: entry)
        var group = self
        for part in parts.dropLast() {
            if let known = group.children.first(where: { $0.name.utf8.elementsEqual(part.utf8) }) {
                group = known
            } else {
                let new = KDBXGroup(part)
                group.children.append(new)
                group = new
            }
        }
        let isSaid = ImportedItem.isSaid(entry) && written ?? entry.short == entry.short
        let origin = isSaid ? nil : entry.text
        group.items.append(Entry(parts.last ?? entry.name, origin: origin, item))
    }
}

extension KDBXExport {
    /// How a database is encrypted.
    package struct Settings: Sendable {
        package var isChaCha20 = true
        /// Rounds of AES in place of Argon2id; nil for that.
        package var aesRounds: UInt64?
        package var memoryKiB = 64 << 10
        package var passes = 3

        package init() {}
    }

    /// The whole file.
    /// - Throws: ``ImportError``.
    package consuming func seal(
        password: borrowing SecretBytes, settings: Settings = Settings()
    ) throws(ImportError) -> SecretBytes {
        let seed = try KDBXExport.random(32)
        let vector = try KDBXExport.random(settings.isChaCha20 ? 12 : 16)
        let salt = try KDBXExport.random(32)
        let head = KDBXExport.header(settings, seed, vector, salt)
        let parsed = try unsafe KDBXHeader(head.span.bytes)
        let key: SecretBytes? = try memory(password.copy())
        let keys = try KDBXKeys.derive(parsed, password: key, keyFile: nil)
        let content = try innerContent()
        let sealed = try content.withBytes { content throws(ImportError) in
            try cryptography { () throws(CryptographyError) in
                settings.isChaCha20
                    ? try unsafe StreamCipher.chacha20(content, key: keys.encryption, nonce: vector.span.bytes)
                    : try unsafe BlockCipher.encryptCBC(content, key: keys.encryption, vector: vector.span.bytes)
            }
        }
        let output = SecretBufferBox(limit: ImportLimits.expanded + (1 << 20))
        try unsafe output.append(head.span.bytes)
        try unsafe SHA256.hash(head.span.bytes).withBytes { digest throws(ImportError) in try output.append(digest) }
        try unsafe KDBXExport.tag(head.span.bytes, try keys.tagKey(.max), into: output)
        try sealed.withBytes { sealed throws(ImportError) in
            var block: UInt64 = 0
            for start in stride(from: 0, to: sealed.byteCount, by: 1 << 20) {
                let data = sealed.extracting(start..<min(start + (1 << 20), sealed.byteCount))
                try KDBXExport.append(data, block, keys, to: output)
                block += 1
            }
            try KDBXExport.append(RawSpan(), block, keys, to: output)
        }
        return try output.bytes()
    }

    private static func append(
        _ data: RawSpan, _ block: UInt64, _ keys: borrowing KDBXKeys, to output: SecretBufferBox
    ) throws(ImportError) {
        let size = littleEndian(UInt32(data.byteCount))
        var message = SecretBuffer()
        do throws(SecretMemoryError) {
            for shift in 0..<8 { try message.append(UInt8(truncatingIfNeeded: block >> (8 * UInt64(shift)))) }
            try unsafe message.append(size.span.bytes)
            try message.append(data)
        } catch { throw ImportError(error) }
        let key = try keys.tagKey(block)
        try message.withBytes { message throws(ImportError) in try tag(message, key, into: output) }
        try unsafe output.append(size.span.bytes)
        try output.append(data)
    }

    private static func tag(
        _ message: RawSpan, _ key: borrowing SecretBytes, into output: SecretBufferBox
    ) throws(ImportError) {
        let tag = try cryptography(HMACSHA256.authenticate(message, key: key))
        try tag.withBytes { tag throws(ImportError) in try output.append(tag) }
    }

    /// The inner header, whose stream nothing uses, the files and the XML.
    func innerContent() throws(ImportError) -> SecretBufferBox {
        let content = SecretBufferBox(limit: ImportLimits.expanded)
        let key = try KDBXExport.random(64)
        let front =
            [1] + KDBXExport.littleEndian(4) + KDBXExport.littleEndian(3) + [2] + KDBXExport.littleEndian(64) + key
        try unsafe content.append(front.span.bytes)
        for file in files {
            let head = [3] + KDBXExport.littleEndian(UInt32(file.content.count + 1)) + [1]
            try unsafe content.append(head.span.bytes)
            try file.content.withBytes { bytes throws(ImportError) in try content.append(bytes) }
        }
        let end: [UInt8] = [0, 0, 0, 0, 0]
        try unsafe content.append(end.span.bytes)
        try xml.withBytes { xml throws(ImportError) in try content.append(xml) }
        let close = Array("</Group></Root></KeePassFile>".utf8)
        try unsafe content.append(close.span.bytes)
        return content
    }

    static func header(_ settings: Settings, _ seed: [UInt8], _ vector: [UInt8], _ salt: [UInt8]) -> [UInt8] {
        func field(_ id: UInt8, _ data: [UInt8]) -> [UInt8] { [id] + littleEndian(UInt32(data.count)) + data }
        var bytes: [UInt8] = [0x03, 0xD9, 0xA2, 0x9A, 0x67, 0xFB, 0x4B, 0xB5, 0, 0, 4, 0]
        bytes += field(2, settings.isChaCha20 ? KDBXHeader.chachaCipher : KDBXHeader.aesCipher)
        bytes += field(3, [0, 0, 0, 0]) + field(4, seed) + field(7, vector)
        func entry(_ type: UInt8, _ key: String, _ value: [UInt8]) -> [UInt8] {
            [type] + littleEndian(UInt32(key.utf8.count)) + Array(key.utf8) + littleEndian(UInt32(value.count)) + value
        }
        func wide(_ value: UInt64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) } }
        var dictionary: [UInt8] = [0, 1]
        if let rounds = settings.aesRounds {
            dictionary +=
                entry(0x42, "$UUID", KDBXHeader.aesDerivations[1]) + entry(5, "R", wide(rounds))
                + entry(0x42, "S", salt)
        } else {
            dictionary +=
                entry(0x42, "$UUID", KDBXHeader.argon2id) + entry(0x42, "S", salt) + entry(4, "P", littleEndian(2))
            dictionary +=
                entry(5, "M", wide(UInt64(settings.memoryKiB) * 1024)) + entry(5, "I", wide(UInt64(settings.passes)))
            dictionary += entry(4, "V", littleEndian(0x13))
        }
        return bytes + field(11, dictionary + [0]) + field(0, [0x0D, 0x0A, 0x0D, 0x0A])
    }

    private static func littleEndian(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> UInt32(8 * $0)) }
    }
}
