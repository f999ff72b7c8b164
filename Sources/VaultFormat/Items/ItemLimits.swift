/// What an item may hold. Checked before anything is read further, and before anything is written.
package enum ItemLimits {
    /// Bytes of a whole item: what a record can hold.
    package static let size = 1 << 20
    /// Fields of an item.
    package static let fields = 256
    /// Tags of an item.
    package static let tags = 64
    /// Earlier values of an item's fields, all together; the oldest go first.
    package static let history = 256
    /// Bytes of a label, in UTF-8.
    package static let label = 255
    /// Bytes of a tag, in UTF-8.
    package static let tag = 64
    /// Bytes of a file's name, in UTF-8.
    package static let fileName = 255

    /// Fields, tags, earlier values, and what newer programs add.
    package static let entries = 1024
}
