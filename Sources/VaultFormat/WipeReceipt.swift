/// What a wipe did, signed with a key that is destroyed afterwards.
///
/// Text with one fact in each line, in a fixed order: equal receipts have equal bytes. It says what its maker found; a
/// program of the same user could have told another story before the signature was made.
package struct WipeReceipt: Sendable, Hashable {
    /// Where the signing key comes from.
    package enum KeyOrigin: String, Sendable, Hashable, CaseIterable {
        /// Made when self-destruct was switched on; its public half was shown then.
        case enabled = "enabled"
        /// Made for this receipt, because there was none.
        case wipe = "wipe"
    }

    /// Which vault it was.
    package let vault: VaultID
    /// Why it was destroyed.
    package let cause: WipeCause
    /// Milliseconds since 1970 by the machine's clock, which is not authenticated.
    package let begun: UInt64
    /// The same, when all targets had been looked at.
    package let ended: UInt64
    /// Every target and its outcome, in the order of erasing.
    package let items: [WipeItem]
    /// Names in the folder that are not the vault's; left alone.
    package let strangers: UInt32
    /// Where the signing key comes from.
    package let keyOrigin: KeyOrigin
    /// The public half of the signing key: a compressed P-256 point, 33 bytes.
    package let key: [UInt8]
    /// ECDSA over SHA-256, r then s, 64 bytes; empty while it is not signed.
    package var signature: [UInt8] = []

    package static let fileName = "wipe-receipt"
    package static let largestSize = 1 << 16
    static let firstLine = "holdfast wipe receipt 1"

    /// What no receipt can prove.
    package static let notClaimed = [
        "copies and backups of the vault, wherever they are",
        "what disks, flash memory, file systems and snapshots keep of overwritten and removed blocks",
        "memory, swap and hibernation images of this machine",
        "that the clock was right",
        "that no other program of the same user changed the vault or this receipt's key before it was signed",
    ]

    package init(
        vault: VaultID, cause: WipeCause, begun: UInt64, ended: UInt64, items: [WipeItem], strangers: UInt32,
        keyOrigin: KeyOrigin, key: [UInt8]
    ) {
        self.vault = vault
        self.cause = cause
        self.begun = begun
        self.ended = ended
        self.items = items
        self.strangers = strangers
        self.keyOrigin = keyOrigin
        self.key = key
    }

    /// Whether nothing is left to be erased.
    package var isComplete: Bool { items.allSatisfy(\.result.isFinal) }

    /// The public half of the signing key in hexadecimal, as it is shown.
    package var publicKey: String { Hexadecimal.encode(key) }

    /// The bytes that the signature covers: every line before its own.
    package var signedBytes: [UInt8] {
        var lines = [
            WipeReceipt.firstLine, "vault \(vault)", "cause \(cause.name)", "begun \(begun)", "ended \(ended)",
            "complete \(isComplete ? "yes" : "no")",
        ]
        lines += items.map { "target \($0.target) \($0.result.name) \($0.count)" }
        lines.append("left-alone \(strangers)")
        lines += WipeReceipt.notClaimed.map { "not-claimed \($0)" }
        lines.append("key \(publicKey) \(keyOrigin.rawValue)")
        return Array((lines.joined(separator: "\n") + "\n").utf8)
    }

    package var encoded: [UInt8] { signedBytes + Array("signature \(Hexadecimal.encode(signature))\n".utf8) }
}

extension WipeReceipt {
    /// Reads exactly what ``encoded`` writes. The signature is not verified here.
    package init(parsing bytes: [UInt8]) throws(FormatError) {
        guard bytes.count <= WipeReceipt.largestSize else { throw .wrongSize }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .wrongMagic }
        var lines = Lines(text)
        guard lines.next() == WipeReceipt.firstLine[...] else { throw .wrongMagic }
        guard let id = Hexadecimal.decode(try lines.value("vault", "receipt vault")).flatMap(VaultID.init(bytes:))
        else { throw .invalid(field: "receipt vault") }
        let causeName = try lines.value("cause", "receipt cause")
        guard let cause = WipeCause.allCases.first(where: { $0.name == causeName }) else {
            throw .invalid(field: "receipt cause")
        }
        let begun = try lines.time("begun", "receipt begin")
        let ended = try lines.time("ended", "receipt end")
        _ = try lines.value("complete", "receipt completeness")
        var items: [WipeItem] = []
        while let target = lines.value("target") {
            guard items.count < WipeJournal.maximumItems, let item = WipeReceipt.item(target) else {
                throw .invalid(field: "receipt target")
            }
            items.append(item)
        }
        guard let strangers = UInt32(try lines.value("left-alone", "receipt left-alone")) else {
            throw .invalid(field: "receipt left-alone")
        }
        for sentence in WipeReceipt.notClaimed {
            guard try lines.value("not-claimed", "receipt not-claimed") == sentence else {
                throw .invalid(field: "receipt not-claimed")
            }
        }
        let key = try lines.value("key", "receipt key").split(separator: " ", omittingEmptySubsequences: false)
        guard key.count == 2, let point = Hexadecimal.decode(key[0]), point.count == 33,
            let origin = KeyOrigin(rawValue: String(key[1]))
        else { throw .invalid(field: "receipt key") }
        guard let signature = Hexadecimal.decode(try lines.value("signature", "receipt signature")),
            signature.count == 64
        else { throw .invalid(field: "receipt signature") }
        guard lines.isAtEnd else { throw .invalid(field: "receipt end of file") }
        self.init(
            vault: id, cause: cause, begun: begun, ended: ended, items: items, strangers: strangers, keyOrigin: origin,
            key: point)
        self.signature = signature
        // Whatever has two spellings (numbers, completeness) has one here.
        guard encoded == bytes else { throw .invalid(field: "receipt spelling") }
    }

    private static func item(_ text: Substring) -> WipeItem? {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, let target = WipeTargetID(words[0]), let result = WipeResult(name: words[1]),
            let count = UInt32(words[2])
        else { return nil }
        return WipeItem(target, result, count: count)
    }
}

/// Lines of a text, each a word and what follows it.
private struct Lines {
    private var lines: ArraySlice<Substring>

    init(_ text: String) { lines = text.split(separator: "\n", omittingEmptySubsequences: false)[...] }

    /// Behind the last newline is nothing.
    var isAtEnd: Bool { lines.count == 1 && lines.first == "" }

    mutating func next() -> Substring? { lines.popFirst() }

    /// What follows `word` in the next line; nil, and the line stays, when it begins with another.
    mutating func value(_ word: String) -> Substring? {
        guard let line = lines.first, line.hasPrefix(word + " ") else { return nil }
        lines.removeFirst()
        return line.dropFirst(word.count + 1)
    }

    mutating func value(_ word: String, _ field: StaticField) throws(FormatError) -> Substring {
        guard let value = value(word) else { throw .invalid(field: field) }
        return value
    }

    mutating func time(_ word: String, _ field: StaticField) throws(FormatError) -> UInt64 {
        guard let time = UInt64(try value(word, field)), time < 1 << 53 else { throw .invalid(field: field) }
        return time
    }
}
