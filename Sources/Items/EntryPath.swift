public import VaultCore
package import VaultFormat
public import VaultStorage

/// Where an entry of a vault is: a collection, and a name in it; and the one text that says so.
///
/// As a text it is a path. What stands before its first slash is the collection, and the rest is the name as it is:
/// further slashes are folders only to look at. A text without a slash is a name in the default collection, so `x` and
/// `default/x` are the same. Stored names are never changed, whatever is in them; what a terminal would act on is
/// written `\u{HEX}`, a backslash as two, a slash that belongs to the collection's name as `\/`, and an empty
/// collection as `\-`.
public struct EntryPath: Sendable, Hashable {
    /// The collection it is in.
    public let collection: String
    /// Its name there.
    public let name: String

    /// A place by its two parts, as they are stored; nothing is read into them.
    public init(collection: String = Vault.defaultCollection, name: String) {
        self.collection = collection
        self.name = name
    }

    /// The place that a path names first. A vault from an earlier version, or another program, may have put an entry
    /// elsewhere that is written the same: `ItemStore.resolve` finds that too.
    /// - Returns: Nil for a text that is no path: without a name, or with a part that is longer than any stored one.
    public init?(parsing text: String) {
        guard let first = PathReading(text).places.first, first.isPossible else { return nil }
        self = first
    }

    /// The place of a new entry, which has to be plain, so that everybody who sees its name can type it.
    /// - Throws: `invalidName` for a path with an empty part, `.` or `..` for one, a space or an invisible character
    ///   where it misleads, and for one that is too long; the reason says which part it is.
    public init(new text: String) throws(VaultError) {
        let reading = PathReading(text)
        guard !reading.hasEmptyCollection, !reading.hasQuotedSlash else {
            throw .invalid("the name of a new entry's collection is not empty and has no slash")
        }
        guard let place = reading.places.first else { throw .invalid("a name is missing") }
        if let problem = PlainName.problem(of: reading.text) { throw .invalid(problem) }
        guard place.collection.utf8.count <= RecordName.maximumCollectionSize else {
            throw .invalid("the first part has more than \(RecordName.maximumCollectionSize) bytes")
        }
        guard place.name.utf8.count <= RecordName.maximumNameSize else {
            throw .invalid("what follows the first part has more than \(RecordName.maximumNameSize) bytes")
        }
        // It would be written without its first part, and then begin with another one.
        guard place.collection != Vault.defaultCollection || !place.name.utf8.contains(UInt8(ascii: "/")) else {
            throw .invalid("behind \(Vault.defaultCollection)/ there are no folders; leave it out")
        }
        self = place
    }

    /// By their bytes: texts that only look alike are different names.
    public static func == (left: EntryPath, right: EntryPath) -> Bool {
        left.name.hasBytes(of: right.name) && left.collection.hasBytes(of: right.collection)
    }

    /// As ``==(_:_:)``.
    public func hash(into hasher: inout Hasher) {
        hasher.combineBytes(of: collection)
        hasher.combineBytes(of: name)
    }

    /// The collection of the app's own settings.
    package static let settingsCollection = ".holdfast"

    /// Whether no entry of another program's or another's file may be there: what lies in it is taken for more than an
    /// entry.
    package var isReserved: Bool {
        [EntryPath.settingsCollection, Vault.inboxCollection].contains { $0.utf8.elementsEqual(collection.utf8) }
    }

    /// Whether a record can be there.
    package var isPossible: Bool {
        collection.utf8.count <= RecordName.maximumCollectionSize
            && (1...RecordName.maximumNameSize).contains(name.utf8.count)
    }
}

extension VaultError {
    fileprivate static func invalid(_ what: String) -> VaultError { VaultError(.invalidName, what) }
}

extension RecordName {
    /// As a place.
    package var entry: EntryPath { EntryPath(collection: collection, name: name) }
}
