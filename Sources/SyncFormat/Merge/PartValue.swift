internal import VaultFormat

/// Which bytes may stand for a value of a part. Looked at before anything else: of what is a state, a record can be
/// made.
enum PartValue {
    /// Behind the time of a history's entry.
    private static let timeSize = 8

    /// - Parameter form: What the record is.
    static func isValid(_ value: RawSpan, of part: ItemPart.Kind, in form: StateLayout.Form) -> Bool {
        switch part {
        case .place: return isPlace(value)
        case .value: return form == .value && value.byteCount <= ItemLimits.size
        default: break
        }
        guard form == .item else { return false }
        switch part {
        case .kind: return value.byteCount == 1 && value.integer(at: 0, as: UInt8.self) != 0
        case .flags: return value.byteCount == 2 && ItemFront.isFlags(value.present(at: 0, as: UInt16.self))
        case .created: return value.byteCount == 8
        case .trash:
            guard value.byteCount > 0 else { return true }
            return value.byteCount == 16
                && value.present(at: 0, as: Int64.self) <= value.present(at: 8, as: Int64.self)
        case .notes: return value.isUTF8
        case .order: return value.byteCount % FieldID.size == 0
        case .field: return ItemLayout.Field.isValid(value)
        case .tag: return ItemValue.isLabel(value, limit: ItemLimits.tag)
        case .wideningTag:
            guard value.byteCount > 1 else { return false }
            let end = value.byteCount - 1
            return value.present(at: end, as: UInt8.self) <= 1
                && ItemValue.isLabel(value.extracting(0..<end), limit: ItemLimits.tag)
        case .history:
            return value.byteCount > timeSize
                && ItemLayout.Field.isValid(value.extracting(timeSize..<value.byteCount))
        case .unknown:
            guard value.byteCount >= ItemLayout.Entry.headSize else { return false }
            return value.present(at: 0, as: UInt8.self) > ItemLayout.Tag.earlier
                && Int(value.present(at: 1, as: UInt32.self)) == value.byteCount - ItemLayout.Entry.headSize
        case .place, .value: return false
        }
    }

    /// The minimum (u8), and collection and name behind their sizes (u16).
    private static func isPlace(_ value: RawSpan) -> Bool {
        guard let collection = value.integer(at: 1, as: UInt16.self).map(Int.init),
            let name = value.integer(at: 3 + collection, as: UInt16.self).map(Int.init),
            value.byteCount == 5 + collection + name, collection <= RecordName.maximumCollectionSize,
            (1...RecordName.maximumNameSize).contains(name)
        else { return false }
        let texts = (value.extracting(3..<3 + collection), value.extracting(5 + collection..<value.byteCount))
        // What begins with a zero byte is reserved.
        return texts.0.isUTF8 && texts.1.isUTF8 && texts.0.integer(at: 0, as: UInt8.self) != 0
            && texts.1.integer(at: 0, as: UInt8.self) != 0
    }
}
