internal import Cryptography
package import Items
package import SecretMemory
internal import SystemCalls
internal import VaultFormat

/// Writes a database in the format KDBX 4, which KeePass, KeePassXC and their like read: ChaCha20 and Argon2id.
package struct KDBXExport: ~Copyable {
    var xml = SecretBuffer(limit: ImportLimits.expanded)
    var files: [KeePassTree.File] = []
    /// Bytes that earlier versions of entries may still take with what did not change in them.
    var room = 32 << 20

    /// An empty database.
    /// - Throws: ``ImportError``.
    package init(title: String) throws(ImportError) {
        try write(
            "<?xml version=\"1.0\" encoding=\"utf-8\" standalone=\"yes\"?>\n<KeePassFile><Meta><Generator>Holdfast</Generator>"
        )
        try write(element: "DatabaseName", title)
        try write("<MemoryProtection><ProtectPassword>True</ProtectPassword></MemoryProtection>")
        // Otherwise the next change in KeePass forgets all earlier versions of an entry but ten.
        try write("<HistoryMaxItems>-1</HistoryMaxItems><HistoryMaxSize>-1</HistoryMaxSize>")
        try write("<RecycleBinEnabled>False</RecycleBinEnabled></Meta><Root><Group>")
        try write("<UUID>\(Base64ID.text(KDBXExport.random(16)))</UUID><Name>Root</Name>")
    }

    /// What the entry begins with, for an item of a path; groups are not repeated: each entry stands in the group of
    /// its path.
    /// - Throws: ``ImportError``; also where a value is no text and no file.
    package mutating func append(_ entries: borrowing KDBXGroup) throws(ImportError) {
        for child in entries.children {
            try write("<Group><UUID>\(Base64ID.text(KDBXExport.random(16)))</UUID>")
            try write(element: "Name", child.name)
            try append(child)
            try write("</Group>")
        }
        for entry in entries.items {
            try entry.withItem { item throws(ImportError) in
                try append(item, title: entry.name, entry.origin, entry.file)
            }
        }
    }
}

/// Items by the parts of their paths.
package final class KDBXGroup {
    /// An item to be written.
    package final class Entry {
        let name: String
        /// Where it was, if group and title do not say it.
        let origin: String?
        /// What the entry has beside its item.
        let file: Attachment?
        private let item: Item

        init(_ name: String, origin: String?, _ file: Attachment?, _ item: consuming Item) {
            self.name = name
            self.origin = origin
            self.file = file
            self.item = item
        }

        func withItem<E: Error>(_ body: (borrowing Item) throws(E) -> Void) throws(E) { try body(item) }
    }

    /// A file that is too large for an item.
    package struct Attachment {
        let name: String
        let content: KeePassTree.File

        /// Bytes of its content.
        package var size: Int { content.count }

        package init(_ name: String, _ content: consuming SecretBuffer) {
            self.name = name
            self.content = KeePassTree.File(SecretBufferBox(content))
        }
    }

    let name: String
    fileprivate(set) var children: [KDBXGroup] = []
    fileprivate(set) var items: [Entry] = []

    package init(_ name: String = "") { self.name = name }

    /// Puts an item into the group of its path.
    /// - Parameter written: How the entry is written among all of the vault; two that look the same are told apart by
    ///   it.
    package func add(
        _ entry: EntryPath, written: String? = nil, _ item: consuming Item, _ file: Attachment? = nil
    ) {
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
        group.items.append(Entry(parts.last ?? entry.name, origin: origin, file, item))
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
            let head = [3] + KDBXExport.littleEndian(UInt32(file.count + 1)) + [1]
            try unsafe content.append(head.span.bytes)
            try file.withBytes { bytes throws(ImportError) in try content.append(bytes) }
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

    private static func random(_ count: Int) throws(ImportError) -> [UInt8] {
        try cryptography(SecureRandom.bytes(count))
    }

    private static func littleEndian(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> UInt32(8 * $0)) }
    }
}
