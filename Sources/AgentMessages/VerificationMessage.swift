/// What a check of everything that is stored found; the records whose files are damaged were sent before.
package struct VerificationReport: Sendable, Hashable {
    /// Records read and found right.
    package var records: UInt64 = 0
    /// How many there must be.
    package var expectedRecords: UInt64 = 0
    /// Files read to the end and found right.
    package var files: UInt64 = 0
    /// Records that cannot be decrypted, or not be found by their name.
    package var damagedRecords: UInt64 = 0
    /// Whether records are missing or older than they must be.
    package var isRolledBack = false
    /// Whether the pages of the database fit together.
    package var arePagesWhole = true
    /// Files that no record names.
    package var orphanedFiles: UInt64 = 0
    /// Of the open compartment: items that are right.
    package var openItems: UInt64 = 0
    /// Of it: pages and items that cannot be read.
    package var openUnreadable: UInt64 = 0
    /// Of it: items are missing, added, or older than they were left.
    package var isOpenAltered = false
    /// Of it: whether files that could not be read were set aside.
    package var hasSetAside = false
    /// Of it: the word for the state of its public key.
    package var publicKey = ""

    static let wordSizes = 0...32

    package init() {}

    init(_ cursor: inout Cursor, _ bytes: RawSpan) throws(MessageError) {
        records = try cursor.integer(bytes, UInt64.self)
        expectedRecords = try cursor.integer(bytes, UInt64.self)
        files = try cursor.integer(bytes, UInt64.self)
        damagedRecords = try cursor.integer(bytes, UInt64.self)
        isRolledBack = try cursor.flag(bytes, "flags")
        arePagesWhole = try cursor.flag(bytes, "flags")
        orphanedFiles = try cursor.integer(bytes, UInt64.self)
        openItems = try cursor.integer(bytes, UInt64.self)
        openUnreadable = try cursor.integer(bytes, UInt64.self)
        isOpenAltered = try cursor.flag(bytes, "flags")
        hasSetAside = try cursor.flag(bytes, "flags")
        publicKey = try cursor.text(bytes, VerificationReport.wordSizes, "key")
    }

    func write(_ writer: inout Writer) {
        for count in [records, expectedRecords, files, damagedRecords] { writer.integer(count) }
        writer.flag(isRolledBack)
        writer.flag(arePagesWhole)
        for count in [orphanedFiles, openItems, openUnreadable] { writer.integer(count) }
        writer.flag(isOpenAltered)
        writer.flag(hasSetAside)
        writer.text(publicKey, atMost: VerificationReport.wordSizes.upperBound)
    }
}
