internal import SecretMemory
internal import VaultFormat
internal import VaultStorage

/// The one form of a passcode, whatever keyboard wrote it: Unicode's normalization form C (Unicode Standard Annex 15),
/// as the profile OpaqueString asks (RFC 8265, section 4.2). `é` is one character or an `e` with an accent behind it,
/// and nobody sees which.
///
/// The text stays in locked memory. It maps no other characters: not those with other widths, and no spaces.
enum ComposedForm {
    /// - Parameter text: UTF-8.
    /// - Returns: Nil where the text is in this form already, or is no UTF-8.
    /// - Throws: `outOfMemory`.
    static func of(_ text: borrowing SecretBytes) throws(VaultError) -> SecretBytes? {
        guard text.withBytes(mayChange), var scalars = try Scalars(decomposing: text) else { return nil }
        scalars.compose()
        let composed = try scalars.encoded()
        if composed.isEqual(to: text) { return nil }
        return composed
    }

    /// Whether two texts have the same composed form.
    /// - Throws: `outOfMemory`.
    static func isSame(
        _ one: borrowing SecretBytes, _ other: borrowing SecretBytes
    ) throws(VaultError) -> Bool {
        try with(one) { one throws(VaultError) in
            try with(other) { other throws(VaultError) in one.isEqual(to: other) }
        }
    }

    /// Lends the composed form of a text, or the text itself where that is it.
    static func with<R: ~Copyable>(
        _ text: borrowing SecretBytes, _ body: (borrowing SecretBytes) throws(VaultError) -> R
    ) throws(VaultError) -> R {
        switch try of(text) {
        case .some(let composed): try body(composed)
        case .none: try body(text)
        }
    }

    /// Whether there is a byte of a character from U+0300 on: no earlier one is made of others, or goes with the one
    /// before.
    private static func mayChange(_ text: RawSpan) -> Bool {
        var may = false
        for index in 0..<text.byteCount { may = text.present(at: index, as: UInt8.self) >= 0xCC || may }
        return may
    }
}

/// Characters of a secret text, as their numbers.
private struct Scalars: ~Copyable {
    private var memory: SecretBytes
    private(set) var count = 0

    private init(capacity: Int) throws(VaultError) {
        memory = try secretMemory(SecretBytes(zeroed: 4 * capacity))
    }

    private subscript(index: Int) -> UInt32 {
        get { memory.withBytes { $0.present(at: 4 * index, as: UInt32.self) } }
        set { memory.withMutableBytes { $0.storeBytes(of: newValue, toByteOffset: 4 * index, as: UInt32.self) } }
    }

    // MARK: taking apart

    /// The decomposed form of a text; nil where it is no UTF-8.
    init?(decomposing text: borrowing SecretBytes) throws(VaultError) {
        // No character becomes more than four, and each has a byte.
        try self.init(capacity: 4 * text.count)
        var offset = 0
        while offset < text.count {
            guard let next = text.withBytes({ Scalars.character(in: $0, at: offset) }) else { return nil }
            decompose(next.character)
            offset += next.size
        }
    }

    /// The shortest form of a character that is one (RFC 3629).
    private static func character(in text: RawSpan, at offset: Int) -> (character: UInt32, size: Int)? {
        func byte(_ index: Int) -> UInt32 { UInt32(text.present(at: offset + index, as: UInt8.self)) }
        let first = byte(0)
        let (size, least, bits): (Int, UInt32, UInt32)
        switch first {
        case 0..<0x80: return (first, 1)
        case 0xC2..<0xE0: (size, least, bits) = (2, 0x80, first & 0x1F)
        case 0xE0..<0xF0: (size, least, bits) = (3, 0x800, first & 0x0F)
        case 0xF0..<0xF5: (size, least, bits) = (4, 0x10000, first & 0x07)
        default: return nil
        }
        guard offset + size <= text.byteCount else { return nil }
        var character = bits
        for index in 1..<size {
            guard byte(index) & 0xC0 == 0x80 else { return nil }
            character = character << 6 | byte(index) & 0x3F
        }
        guard character >= least, Unicode.Scalar(character) != nil else { return nil }
        return (character, size)
    }

    private mutating func decompose(_ character: UInt32) {
        if let syllable = Hangul.parts(of: character) {
            append(syllable.leading)
            append(syllable.vowel)
            if let trailing = syllable.trailing { append(trailing) }
        } else if let parts = CanonicalTable.shared.parts[character] {
            decompose(parts.first)
            if let second = parts.second { decompose(second) }
        } else {
            append(character)
        }
    }

    /// Marks behind a character are put into the order of their classes.
    private mutating func append(_ character: UInt32) {
        var place = count
        count += 1
        let number = CanonicalTable.shared.combiningClass(of: character)
        while number > 0, place > 0, CanonicalTable.shared.combiningClass(of: self[place - 1]) > number {
            self[place] = self[place - 1]
            place -= 1
        }
        self[place] = character
    }

    // MARK: putting together

    /// What was taken apart becomes one where it can: a character and a mark behind it that no other one keeps away
    /// from it.
    mutating func compose() {
        var (length, last) = (0, UInt8(0))
        var starter: Int?
        for index in 0..<count {
            let character = self[index]
            let number = CanonicalTable.shared.combiningClass(of: character)
            if let starter, last < number || last == 0, let one = Scalars.pair(self[starter], character) {
                self[starter] = one
                continue
            }
            if number == 0 { starter = length }
            last = number
            self[length] = character
            length += 1
        }
        count = length
    }

    private static func pair(_ first: UInt32, _ second: UInt32) -> UInt32? {
        Hangul.syllable(first, second) ?? CanonicalTable.shared.composed[UInt64(first) << 32 | UInt64(second)]
    }

    // MARK: writing

    borrowing func encoded() throws(VaultError) -> SecretBytes {
        var size = 0
        for index in 0..<count { size += Scalars.size(self[index]) }
        var text = try secretMemory(SecretBytes(zeroed: size))
        var offset = 0
        for index in 0..<count {
            let (character, size) = (self[index], Scalars.size(self[index]))
            let mark: UInt8 = size == 1 ? 0 : size == 2 ? 0xC0 : size == 3 ? 0xE0 : 0xF0
            for place in 0..<size {
                let bits = UInt8(truncatingIfNeeded: character >> UInt32(6 * (size - 1 - place)))
                let byte = place == 0 ? mark | bits : 0x80 | bits & 0x3F
                text.withMutableBytes { $0.storeBytes(of: byte, toByteOffset: offset + place, as: UInt8.self) }
            }
            offset += size
        }
        return text
    }

    private static func size(_ character: UInt32) -> Int {
        character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4
    }
}

/// Syllables are computed (Unicode Standard, section 3.12).
private enum Hangul {
    private static let (syllables, leads, vowels, trails) = (
        UInt32(0xAC00), UInt32(0x1100), UInt32(0x1161), UInt32(0x11A7)
    )
    private static let (leadCount, vowelCount, trailCount) = (UInt32(19), UInt32(21), UInt32(28))

    static func parts(of character: UInt32) -> (leading: UInt32, vowel: UInt32, trailing: UInt32?)? {
        guard character >= syllables, character - syllables < leadCount * vowelCount * trailCount else { return nil }
        let index = character - syllables
        let trail = index % trailCount
        return (
            leads + index / (vowelCount * trailCount), vowels + index / trailCount % vowelCount,
            trail == 0 ? nil : trails + trail
        )
    }

    static func syllable(_ first: UInt32, _ second: UInt32) -> UInt32? {
        if first >= leads, first - leads < leadCount, second >= vowels, second - vowels < vowelCount {
            return syllables + ((first - leads) * vowelCount + second - vowels) * trailCount
        }
        guard let parts = parts(of: first), parts.trailing == nil, second > trails, second - trails < trailCount else {
            return nil
        }
        return first + second - trails
    }
}

/// The table, read once.
private struct CanonicalTable: Sendable {
    static let shared = CanonicalTable()

    let parts: [UInt32: (first: UInt32, second: UInt32?)]
    let composed: [UInt64: UInt32]
    private let classes: [UInt32: UInt8]

    func combiningClass(of character: UInt32) -> UInt8 { classes[character] ?? 0 }

    private init() {
        var parts: [UInt32: (first: UInt32, second: UInt32?)] = [:]
        var composed: [UInt64: UInt32] = [:]
        for entry in CanonicalForms.decompositions.split(separator: " ") {
            let numbers = entry.split { "=+!".contains($0) }.compactMap { UInt32($0, radix: 16) }
            parts[numbers[0]] = (numbers[1], numbers.count > 2 ? numbers[2] : nil)
            guard numbers.count > 2, entry.last != "!" else { continue }
            composed[UInt64(numbers[1]) << 32 | UInt64(numbers[2])] = numbers[0]
        }
        var classes: [UInt32: UInt8] = [:]
        for entry in CanonicalForms.classes.split(separator: " ") {
            let numbers = entry.split { "-=".contains($0) }.compactMap { UInt32($0, radix: 16) }
            for character in numbers[0]...numbers[1] { classes[character] = UInt8(truncatingIfNeeded: numbers[2]) }
        }
        (self.parts, self.composed, self.classes) = (parts, composed, classes)
    }
}
