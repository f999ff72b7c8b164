/// A field of an item, from when it was first met: a change of its label or kind keeps it.
package enum SyncField: Sendable {}
package typealias FieldID = SyncID<SyncField>

/// A part of an item whose values are merged by themselves.
package struct ItemPart: Sendable, Hashable, Comparable {
    /// The numbers stand in the format.
    package enum Kind: UInt8, Sendable, Hashable, CaseIterable {
        /// Collection, its minimum, and the name.
        case place = 1
        /// Login, note, card.
        case kind = 2
        /// Flags of the front.
        case flags = 3
        /// When the item was made.
        case created = 4
        /// In the trash since when, or not.
        case trash = 5
        case notes = 6
        /// The fields' ids in the order in which they are shown.
        case order = 7
        /// One field: kind, label and value.
        case field = 8
        /// A tag: what one adds stays, whatever another takes away that it has not seen.
        case tag = 9
        /// A tag that lets more programs in: a set of yes and no, in which any no wins.
        case wideningTag = 10
        /// An earlier value.
        case history = 11
        /// An entry of a later version: its tag number and its bytes.
        case unknown = 12
        /// The bytes of a plain value.
        case value = 13
    }

    package let kind: Kind
    /// Of a field; nil for every other part.
    package let field: FieldID?

    private init(_ kind: Kind, _ field: FieldID?) {
        self.kind = kind
        self.field = field
    }

    /// Nil for a field, which has an id, and the other way round.
    package init?(_ kind: Kind, field: FieldID? = nil) {
        guard (kind == .field) == (field != nil) else { return nil }
        self.init(kind, field)
    }

    package static let place = ItemPart(.place, nil)
    package static let kind = ItemPart(.kind, nil)
    package static let flags = ItemPart(.flags, nil)
    package static let created = ItemPart(.created, nil)
    package static let trash = ItemPart(.trash, nil)
    package static let notes = ItemPart(.notes, nil)
    package static let order = ItemPart(.order, nil)
    package static let tag = ItemPart(.tag, nil)
    package static let wideningTag = ItemPart(.wideningTag, nil)
    package static let history = ItemPart(.history, nil)
    package static let unknown = ItemPart(.unknown, nil)
    package static let value = ItemPart(.value, nil)
    package static func field(_ id: FieldID) -> ItemPart { ItemPart(.field, id) }

    /// Whether it has one value, but for conflicts; the others are sets.
    package var isSingle: Bool {
        switch kind {
        case .tag, .wideningTag, .history, .unknown: false
        default: true
        }
    }

    package static func < (left: ItemPart, right: ItemPart) -> Bool {
        if left.kind != right.kind { return left.kind.rawValue < right.kind.rawValue }
        guard let (left, right) = left.field.flatMap({ id in right.field.map { (id, $0) } }) else { return false }
        return left < right
    }
}
