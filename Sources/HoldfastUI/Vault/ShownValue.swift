internal import Holdfast
internal import SystemCalls

/// What of an item is read by itself.
enum ItemPart: Sendable {
    case field(ItemFieldsModel.Field)
    case content(ItemFieldsModel.Field)
    case earlier(Item.Earlier)
    case notes
}

/// A value while the screen shows it, or until it is copied: in locked memory, wiped with the last reference.
final class ShownValue: Sendable {
    private let bytes: SecretBytes
    /// The one-time code that the value describes; nil for anything else.
    private let code: OneTimeCode?
    /// Whether the value is the digits of a code themselves.
    private let isDigits: Bool

    init(_ value: RawSpan, isCode: Bool = false) throws(VaultError) {
        do throws(SecretMemoryError) {
            bytes = try SecretBytes(copying: value)
            code = isCode ? try? OneTimeCode(parsing: SecretBytes(copying: value)) : nil
        } catch { throw VaultError(any: error) }
        isDigits = false
    }

    /// The digits of a code that was used up when they were computed.
    init(digits: RawSpan) throws(VaultError) {
        do throws(SecretMemoryError) { bytes = try SecretBytes(copying: digits) } catch { throw VaultError(any: error) }
        code = nil
        isDigits = true
    }

    /// Lends all of it, for the item that it becomes a part of.
    func withBytes<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R { try bytes.withBytes(body) }

    func copy() throws(VaultError) -> SecretBytes {
        do throws(SecretMemoryError) { return try bytes.copy() } catch { throw VaultError(any: error) }
    }

    /// Lends what is shown of it: of a one-time code by time the digits of now, of one by a counter nothing.
    func lend<R>(_ kind: FieldKind, _ body: (RawSpan) -> R) -> R? {
        guard kind == .oneTimeCode, !isDigits else { return bytes.withBytes { body($0) } }
        switch code {
        case .none: return nil
        case .some(let code):
            guard case .time = code.moment, let digits = try? code.code(at: ShownValue.now) else { return nil }
            return digits.withBytes { body($0) }
        }
    }

    /// Lends the digits that follow those of now; nil without a one-time code by time.
    func lendNext<R>(_ body: (RawSpan) -> R) -> R? {
        switch code {
        case .none: return nil
        case .some(let code):
            guard case .time(let period) = code.moment,
                let digits = try? code.code(at: ShownValue.now + UInt64(period))
            else { return nil }
            return digits.withBytes { body($0) }
        }
    }

    /// Seconds for which its one-time code is good; nil without one, and for one by a counter.
    var secondsLeft: Int? {
        switch code {
        case .none: nil
        case .some(let code): code.remaining(at: ShownValue.now)
        }
    }

    /// How much of its step is left to the one-time code, from 1 to 0; nil as ``secondsLeft``.
    var shareLeft: Double? {
        switch code {
        case .none: return nil
        case .some(let code):
            guard case .time(let period) = code.moment, let left = secondsLeft else { return nil }
            return Double(left) / Double(period)
        }
    }

    private static var now: UInt64 { UInt64(max(0, WallClock.milliseconds / 1000)) }
}

/// An item as its page lists it: everything but secrets, notes and the content of files.
struct ItemOutline: Sendable {
    let isItem: Bool
    let kind: ItemKind
    let isFavourite: Bool
    let earlier: [Item.Earlier]
    let fields: [ItemFieldsModel.Field]
    let tags: [String]
    let hasNotes: Bool
    /// The values of open fields, and of codes that are shown at once, by their place.
    let open: [Int: ShownValue]
    /// The codes among them.
    let live: Set<Int>
    /// The number of the write that it was read from.
    let version: UInt64?

    /// - Parameter withCodes: Whether codes by time are shown at once.
    init(_ item: borrowing Item, withCodes: Bool) throws(VaultError) {
        version = item.sequence
        isItem = !item.isOfValue
        (kind, isFavourite, tags) = (item.kind, item.isFavourite, item.tags)
        earlier = item.history.reversed()
        hasNotes = isItem && item.withNotes { $0.byteCount > 0 } ?? false
        var fields: [ItemFieldsModel.Field] = []
        var open: [Int: ShownValue] = [:]
        var live: Set<Int> = []
        if isItem {
            for field in item.fields {
                let shown = ItemFieldsModel.Field(field, in: item)
                fields.append(shown)
                let isCode = shown.kind == .oneTimeCode && !shown.countsUp
                guard shown.isOpen || withCodes && isCode else { continue }
                let value = try item.withValue(of: field) { value throws(VaultError) in
                    try ShownValue(value, isCode: isCode)
                }
                // What no program can compute a code from stays hidden, as any other secret.
                guard !isCode || value.secondsLeft != nil else { continue }
                open[field.index] = value
                if isCode { live.insert(field.index) }
            }
        }
        (self.fields, self.open, self.live) = (fields, open, live)
    }
}

extension Item {
    /// The field that the screen shows; nil when another program has changed the item so that it is another one.
    borrowing func found(_ field: ItemFieldsModel.Field) -> Field? {
        for own in fields where ItemFieldsModel.Field(own, in: self) == field { return own }
        return nil
    }
}

extension VaultError {
    static let changedItem = VaultError(.busy, "another program changed this item")
}
